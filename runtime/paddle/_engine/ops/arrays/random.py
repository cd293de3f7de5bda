"""Random arrays: of a shape that is told, or of which one size is that of another array.

All of their numbers follow from the run's seed, its step and a name, or from a seed of their own where that
is not 0: then every run draws the same. Sources of the semantics: fluid's ``uniform_random``,
``gaussian_random``, ``truncated_gaussian_random`` (nothing beyond two standard deviations) and ``randint``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from paddle._engine.errors import ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import REQUIRED, Call, Forms, Kernel, Row, Steps

Draw = Callable[[np.random.Generator, tuple[int, ...], Mapping[str, Any]], Any]


def _shape(forms: Forms) -> Mapping[str, Form]:
    return {"Out": Form(tuple(forms.attrs["shape"]), forms.attrs["dtype"])}


def _shape_like(forms: Forms) -> Mapping[str, Form]:
    shape, attrs = list(forms.attrs["shape"]), forms.attrs
    if not -len(shape) <= attrs["output_dim_idx"] < len(shape):
        raise ShapeError(f"output_dim_idx {attrs['output_dim_idx']} is outside the {len(shape)} axes of Out")
    shape[attrs["output_dim_idx"]] = forms["X"].shape[shapes.axis(attrs["input_dim_idx"], forms["X"])]
    return {"Out": Form(tuple(shape), attrs["dtype"])}


def _uniform(generator: np.random.Generator, shape: tuple[int, ...], attrs: Mapping[str, Any]) -> np.ndarray:
    return generator.uniform(attrs["min"], attrs["max"], shape)


def _gaussian(generator: np.random.Generator, shape: tuple[int, ...], attrs: Mapping[str, Any]) -> np.ndarray:
    return generator.normal(attrs["mean"], attrs["std"], shape)


def _truncated(generator: np.random.Generator, shape: tuple[int, ...], attrs: Mapping[str, Any]) -> Any:
    drawn = generator.standard_normal(shape)
    while (beyond := np.abs(drawn) > 2).any():
        drawn[beyond] = generator.standard_normal(int(beyond.sum()))
    return drawn * attrs["std"] + attrs["mean"]


def _integers(generator: np.random.Generator, shape: tuple[int, ...], attrs: Mapping[str, Any]) -> np.ndarray:
    return generator.integers(attrs["low"], attrs["high"], shape)


def _kernel(draw: Draw) -> Kernel:
    def bind(call: Call) -> Steps:
        out, run, own = call["Out"], call.run, call.attrs["seed"]
        salt = zlib.crc32(call.operator.outputs["Out"][0].encode())

        def fill() -> None:
            key = (own, 0, 0, 0) if own else (run.seed % 2**64, run.step, salt, run.part)
            np.copyto(out, draw(np.random.default_rng(key), out.shape, call.attrs), "same_kind")

        yield fill

    return Kernel(bind)


def _fill(call: Call) -> Steps:
    out, value = call["Out"], call.attrs["value"]
    yield lambda: out.fill(value)


def _rows(type: str, draw: Draw, dtype: str = "float32", **attrs: Any) -> tuple[Row, Row]:
    told = {"shape": REQUIRED, "dtype": dtype, "seed": 0, **attrs}
    like = {"input_dim_idx": 0, "output_dim_idx": 0, **told}
    return (
        Row(type=type, inputs=(), attrs=told, shape=_shape, forward=_kernel(draw)),
        Row(type=f"{type}_batch_size_like", attrs=like, shape=_shape_like, forward=_kernel(draw)),
    )


ROWS = (
    *_rows("uniform_random", _uniform, min=-1.0, max=1.0),
    *_rows("gaussian_random", _gaussian, mean=0.0, std=1.0),
    *_rows("truncated_gaussian_random", _truncated, mean=0.0, std=1.0),
    *_rows("randint", _integers, "int64", low=0, high=REQUIRED),
    Row(
        type="fill_constant_batch_size_like",
        attrs={
            "shape": REQUIRED,
            "value": 0.0,
            "dtype": "float32",
            "input_dim_idx": 0,
            "output_dim_idx": 0,
        },
        shape=_shape_like,
        forward=Kernel(_fill),
    ),
)
