"""Random numbers, and what is dropped at random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description.dtypes import dtype_of
from paddle._program.description.variable import Variable
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.appending import appended, several, sizes_of

__all__ = [
    "dropout",
    "gaussian_random",
    "gaussian_random_batch_size_like",
    "sampling_id",
    "uniform_random",
    "uniform_random_batch_size_like",
]


def dropout(
    x: Variable,
    dropout_prob: float,
    is_test: bool = False,
    seed: int | None = None,
    name: str | None = None,
    dropout_implementation: str = "downgrade_in_infer",
) -> Variable:
    """x with elements at that rate set to 0. The rest is scaled in a test, or in training
    (``upscale_in_train``)."""
    attrs = {
        "dropout_prob": float(dropout_prob),
        "is_test": is_test,
        "fix_seed": seed is not None,
        "seed": seed or 0,
        "dropout_implementation": dropout_implementation,
    }
    out, mask = several("dropout", {"X": x}, {"Out": None, "Mask": None}, attrs, name)
    mask.stop_gradient = True
    return out


def _drawn(type: str, shape: Sequence[int], dtype: Any, **attrs: Any) -> Variable:
    helper = LayerHelper(type)
    out = helper.create_variable_for_type_inference(dtype, stop_gradient=True)
    inputs, sizes = sizes_of(shape, whole="ShapeTensor", each="ShapeTensorList")
    if isinstance(shape, Variable):
        sizes = [-1] * shape.shape[0]
    told = {"shape": sizes, "dtype": int(dtype_of(dtype)), **attrs}
    helper.append_op(type, inputs, {"Out": [out]}, told)
    return out


def uniform_random(
    shape: Sequence[int],
    dtype: Any = "float32",
    min: float = -1.0,
    max: float = 1.0,
    seed: int = 0,
    name: str | None = None,
) -> Variable:
    """Numbers from ``min`` to below ``max``, others in every step."""
    return _drawn("uniform_random", shape, dtype, min=float(min), max=float(max), seed=seed)


def gaussian_random(
    shape: Sequence[int], mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = "float32"
) -> Variable:
    """Numbers of a normal distribution, others in every step."""
    return _drawn("gaussian_random", shape, dtype, mean=float(mean), std=float(std), seed=seed)


def uniform_random_batch_size_like(
    input: Variable,
    shape: Sequence[int],
    dtype: Any = "float32",
    input_dim_idx: int = 0,
    output_dim_idx: int = 0,
    min: float = -1.0,
    max: float = 1.0,
    seed: int = 0,
) -> Variable:
    """As ``uniform_random``, in as many rows as another variable has."""
    attrs = {"min": float(min), "max": float(max), "seed": seed}
    return _like("uniform_random_batch_size_like", input, shape, dtype, input_dim_idx, output_dim_idx, attrs)


def gaussian_random_batch_size_like(
    input: Variable,
    shape: Sequence[int],
    input_dim_idx: int = 0,
    output_dim_idx: int = 0,
    mean: float = 0.0,
    std: float = 1.0,
    seed: int = 0,
    dtype: Any = "float32",
) -> Variable:
    """As ``gaussian_random``, in as many rows as another variable has."""
    attrs = {"mean": float(mean), "std": float(std), "seed": seed}
    return _like("gaussian_random_batch_size_like", input, shape, dtype, input_dim_idx, output_dim_idx, attrs)


def _like(
    type: str, input: Variable, shape: Sequence[int], dtype: Any, of: int, to: int, attrs: dict[str, Any]
) -> Variable:
    told = {"shape": list(shape), "dtype": int(dtype_of(dtype)), "input_dim_idx": of, "output_dim_idx": to}
    made = appended(type, {"Input": input}, {**told, **attrs}, dtype=dtype)
    made.stop_gradient = True
    return made


def sampling_id(
    x: Variable, min: float = 0.0, max: float = 1.0, seed: int = 0, dtype: Any = "float32"
) -> Variable:
    """A column of each row, of int64 as upstream's: drawn with the probabilities that stand in it where these
    are ``max`` together and ``min`` is 0."""
    attrs = {"min": float(min), "max": float(max), "seed": seed}
    drawn = appended("sampling_id", {"X": x}, attrs, dtype="int64")
    drawn.stop_gradient = True
    return drawn
