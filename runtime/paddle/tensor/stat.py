"""What a tensor is like as a whole: ``paddle.mean`` and its family.

It must never compute: each function appends operators to the default program. Guarantee: a variance is over
n - 1 unless ``unbiased`` is false.
"""

from __future__ import annotations

from math import prod
from typing import Any

from paddle.tensor._append import append, axes_of
from paddle.tensor.manipulation import cast
from paddle.tensor.math import clip, divide, scale, sqrt, square, subtract, sum

__all__ = ["mean", "numel", "std", "var"]


def mean(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The mean along ``axis``, of all elements if None."""
    every = axis is None or (isinstance(axis, (list, tuple)) and not len(axis))
    attrs = {"dim": [0] if every else axes_of(axis), "keep_dim": bool(keepdim), "reduce_all": every}
    return append("reduce_mean", {"X": x}, attrs, name=name)


def var(
    x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None
) -> Any:
    """The variance along ``axis``, of all elements if None."""
    middle = mean(x, axis, keepdim=True)
    moved = square(subtract(x, middle))
    if not unbiased:
        return mean(moved, axis, keepdim, name)
    every_axis = axis is None or (isinstance(axis, (list, tuple)) and not len(axis))
    sizes = [x.shape[one] for one in (range(len(x.shape)) if every_axis else axes_of(axis))]
    every = sum(moved, axis, keepdim=keepdim)
    if min(sizes, default=0) >= 0:
        return scale(every, 1.0 / max(prod(sizes) - 1, 1), name=name)
    count = divide(*(cast(numel(each), x.dtype) for each in (x, middle)))
    return divide(every, clip(scale(count, bias=-1.0), min=1.0), name)


def std(
    x: Any, axis: Any = None, unbiased: bool = True, keepdim: bool = False, name: str | None = None
) -> Any:
    """The square root of the variance."""
    return sqrt(var(x, axis, unbiased, keepdim), name=name)


def numel(x: Any, name: str | None = None) -> Any:
    """How many elements there are, int64."""
    return append("size", {"Input": x}, dtype="int64", stop_gradient=True, name=name)
