"""Tensors of chance: ``paddle.uniform`` and its family.

It must never draw: each function appends an operator to the default program, which draws at every run.
Guarantee: with a ``seed`` the draws of a program are the same in every process.
"""

from __future__ import annotations

from typing import Any

from paddle.tensor._append import append, floats_alone, sizes_of
from paddle.tensor.math import scale

__all__ = [
    *("bernoulli", "gaussian", "multinomial", "normal", "poisson", "rand", "randint", "randint_like"),
    *("randn", "randperm", "standard_normal", "uniform"),
]


def _drawn(type: str, shape: Any, attrs: dict[str, Any], dtype: Any, name: str | None) -> Any:
    from paddle._program.description.dtypes import dtype_of as of
    from paddle.framework import get_default_dtype

    kind = of(dtype or get_default_dtype())
    inputs: dict[str, Any] = {}
    if not isinstance(shape, (list, tuple)):
        inputs, sizes = {"ShapeTensor": shape}, []
    else:
        sizes, variables = sizes_of(shape)
        if variables:
            from paddle.tensor.manipulation import _all_variables

            inputs = {"ShapeTensorList": _all_variables(shape)}
    drawing = {**attrs, "shape": sizes, "dtype": kind}
    return append(type, inputs, drawing, dtype=kind, stop_gradient=True, name=name)


def uniform(
    shape: Any, dtype: Any = None, min: float = -1.0, max: float = 1.0, seed: int = 0, name: str | None = None
) -> Any:
    """Uniform in [``min``, ``max``)."""
    attrs = {"min": float(min), "max": float(max), "seed": seed}
    return _drawn("uniform_random", shape, attrs, dtype, name)


def rand(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Uniform in [0, 1)."""
    return uniform(shape, dtype, 0.0, 1.0, name=name)


def gaussian(
    shape: Any, mean: float = 0.0, std: float = 1.0, dtype: Any = None, name: str | None = None
) -> Any:
    """Normal with ``mean`` and ``std``."""
    attrs = {"mean": float(mean), "std": float(std), "seed": 0}
    return _drawn("gaussian_random", shape, attrs, dtype, name)


def standard_normal(shape: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Normal with mean 0 and standard deviation 1."""
    return gaussian(shape, dtype=dtype, name=name)


randn = standard_normal


def normal(mean: Any = 0.0, std: Any = 1.0, shape: Any = None, name: str | None = None) -> Any:
    """Normal; where ``mean`` or ``std`` is a tensor, of its shape and dtype."""
    floats_alone("normal", mean=mean, std=std)
    if isinstance(mean, (int, float)) and isinstance(std, (int, float)):
        return gaussian([1] if shape is None else shape, mean, std, name=name)
    tensor = std if isinstance(mean, (int, float)) else mean
    from paddle.tensor.math import add, multiply

    return add(
        multiply(gaussian(tensor.shape, dtype=tensor.dtype), std),
        scale(mean) if mean is tensor else mean,
        name,
    )


def randint(
    low: int = 0, high: int | None = None, shape: Any = (1,), dtype: Any = None, name: str | None = None
) -> Any:
    """Whole numbers in [``low``, ``high``); in [0, ``low``) without ``high``."""
    first, last = (0, low) if high is None else (low, high)
    return _drawn("randint", shape, {"low": first, "high": last, "seed": 0}, dtype or "int64", name)


def randperm(n: int, dtype: Any = "int64", name: str | None = None) -> Any:
    """The whole numbers below ``n`` in an order of chance."""
    from paddle._program.description.dtypes import dtype_of as of

    attrs = {"n": n, "seed": 0, "dtype": of(dtype)}
    return append("randperm", {}, attrs, dtype=dtype, stop_gradient=True, name=name)


def bernoulli(x: Any, name: str | None = None) -> Any:
    """1 with the chance that ``x`` is, else 0."""
    return append("bernoulli", {"X": x}, stop_gradient=True, name=name)


def multinomial(x: Any, num_samples: int = 1, replacement: bool = False, name: str | None = None) -> Any:
    """Places drawn with the chances that ``x`` is."""
    attrs = {"num_samples": num_samples, "replacement": replacement}
    return append("multinomial", {"X": x}, attrs, dtype="int64", stop_gradient=True, name=name)


def poisson(x: Any, name: str | None = None) -> Any:
    """Numbers of what happens ``x`` times on the average."""
    return append("poisson", {"X": x}, stop_gradient=True, name=name)


def randint_like(
    x: Any, low: int = 0, high: int | None = None, dtype: Any = None, name: str | None = None
) -> Any:
    """Whole numbers from ``low`` up to ``high`` in the shape of x, and of its dtype if ``dtype`` is None."""
    from paddle.tensor.manipulation import cast
    from paddle.tensor.placing import sizes_of_each

    first, last = (0, low) if high is None else (low, high)
    if last <= first:
        raise ValueError(f"randint_like needs low < high, and they are {first} and {last}")
    drawn = uniform(sizes_of_each(x), "float32", float(first), float(last))
    from paddle.tensor.math import floor, minimum

    whole = minimum(floor(drawn), float(last - 1))
    return cast(whole, x.dtype if dtype is None else dtype)
