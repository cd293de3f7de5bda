"""Measures along axes that others make up: ``paddle.amax``, ``paddle.median`` and their family.

They must never compute: each function appends operators to the default program. Guarantee: an axis along
which something is sorted may be of any size, a feed's too.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description.dtypes import is_float
from paddle.tensor import math
from paddle.tensor._append import append_all, axes_of, axis_of, floats_alone
from paddle.tensor.creation import full_like, zeros_like
from paddle.tensor.linalg import matmul
from paddle.tensor.logic import equal, not_equal
from paddle.tensor.manipulation import cast, concat, flatten, reshape, squeeze, transpose, unsqueeze
from paddle.tensor.manipulation import slice as part
from paddle.tensor.placing import take_along_axis
from paddle.tensor.search import _sorted, where

__all__ = [
    *("addmm", "amax", "amin", "count_nonzero", "diff", "inner", "kthvalue", "median", "nanmean", "nansum"),
    *("outer", "quantile", "tensordot"),
]


def amax(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The largest along ``axis``; of several that are equal each has an equal share of the gradient."""
    return _shared(math.max, x, axis, keepdim, name)


def amin(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The smallest along ``axis``; of several that are equal each has an equal share of the gradient."""
    return _shared(math.min, x, axis, keepdim, name)


def _shared(extreme: Any, x: Any, axis: Any, keepdim: bool, name: str | None) -> Any:
    """The value is the extreme's own; the gradient is that of the mean of those that are it."""
    if not is_float(x.dtype):
        return extreme(x, axis, keepdim, name)
    found = extreme(x, axis, True)
    found.stop_gradient = True
    is_it = cast(equal(x, found), x.dtype)
    share = math.divide(is_it, math.sum(is_it, axis, keepdim=True))
    share.stop_gradient = True
    apart = math.multiply(math.subtract(x, found), share)
    total = math.add(math.sum(where(equal(x, found), apart, zeros_like(x)), axis, keepdim=True), found)
    return total if keepdim else math.sum(total, axis, name=name)  # each sum is of one element


def count_nonzero(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """How many elements along ``axis`` are not 0, int64."""
    return math.sum(cast(not_equal(x, 0), "int64"), axis, keepdim=keepdim, name=name)


def nansum(
    x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None
) -> Any:
    """The sum of those that are not nan."""
    return math.sum(where(math.isnan(x), zeros_like(x), x), axis, dtype, keepdim, name)


def nanmean(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The mean of those that are not nan."""
    floats_alone("nanmean", x=x)
    count = math.sum(cast(equal(x, x), x.dtype), axis, keepdim=keepdim)
    count.stop_gradient = True
    return math.divide(nansum(x, axis, keepdim=keepdim), count, name)


def _line(x: Any, axis: int | None, function: str) -> tuple[Any, int, int]:
    """x, or all of its elements in a line, the axis counted from 0 on, and its size, -1 if a feed decides."""
    if axis is None:
        x, axis = flatten(x), 0
    size = x.shape[axis]
    if size == 0:
        raise ValueError(
            f"paddle.{function} sorts axis {axis} of {x.name!r}, which is empty: {list(x.shape)}"
        )
    return x, axis % len(x.shape), size


def _at(line: Any, axis: int, place: int) -> Any:
    return part(line, [axis], [place], [place + 1])


def _between(ordered: Any, axis: int, share: float) -> Any:
    """What lies at so much of an axis whose size a feed decides: at a place of it, or between two."""
    size = math.sum(full_like(ordered, 1.0), axis, keepdim=True)
    place = math.scale(size, float(share), -float(share))
    below = math.floor(place)
    rest = math.subtract(place, below)
    rest.stop_gradient = True
    low, high = (take_along_axis(ordered, cast(at, "int64"), axis) for at in (below, math.ceil(place)))
    return math.add(low, math.multiply(rest, math.subtract(high, low)))


def kthvalue(
    x: Any, k: int, axis: int | None = None, keepdim: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """The ``k``-th smallest along ``axis``, the last if None, counted from 1, and where it is."""
    at = axis_of(x, -1 if axis is None else int(axis), "kthvalue")
    attrs = {"k": int(k), "axis": at, "keepdim": bool(keepdim)}
    kinds, slots = {"Indices": "int64"}, ("Out", "Indices")
    values, places = append_all("kthvalue", {"X": x}, attrs, outputs=slots, dtypes=kinds, name=name)
    return values, places


def median(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The middle one along ``axis``, of an even number of them the mean of the two in the middle."""
    return quantile(x, 0.5, axis, keepdim)


def quantile(x: Any, q: Any, axis: Any = None, keepdim: bool = False) -> Any:
    """What a share of ``q`` is not above, along ``axis``: between two it is interpolated. Of several ``q``
    the results lie along a new first axis."""
    if isinstance(q, (list, tuple)):
        return concat([unsqueeze(quantile(x, each, axis, keepdim), 0) for each in q], 0)
    if not 0 <= q <= 1:
        raise ValueError(f"q of paddle.quantile is from 0 to 1, not {q!r}")
    if isinstance(axis, (list, tuple)):
        return over_several(quantile, x, q, axis, keepdim)
    rank = len(x.shape)
    line, at, size = _line(x if is_float(x.dtype) else cast(x, "float32"), axis, "quantile")
    ordered = _sorted(line, at, False, None)[0]
    found = _between(ordered, at, q) if size < 0 else _between_told(ordered, at, q * (size - 1))
    if not keepdim:
        return squeeze(found, at)
    return reshape(found, [1] * rank) if axis is None else found


def _between_told(ordered: Any, axis: int, place: float) -> Any:
    """The same where the size is known, and so the place."""
    below, share = int(place), place - int(place)
    found = _at(ordered, axis, below)
    if not share:
        return found
    return math.add(math.scale(found, 1 - share), math.scale(_at(ordered, axis, below + 1), share))


def over_several(function: Any, x: Any, q: float, axes: Any, keepdim: bool) -> Any:
    """A quantile along several axes: along one that they make up together."""
    named = sorted(each % len(x.shape) for each in axes)
    rest = [at for at in range(len(x.shape)) if at not in named]
    found = function(flatten(transpose(x, [*rest, *named]), len(rest), -1), q, -1)
    if not rest:
        return reshape(found, [1] * len(named)) if keepdim else found
    return unsqueeze(found, named) if keepdim else found


def diff(
    x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None, name: str | None = None
) -> Any:
    """Each element less the one before it along ``axis``, ``n`` times over; what is given is put before and
    behind x first."""
    parts = [each for each in (prepend, x, append) if each is not None]
    found, axis = (x if len(parts) == 1 else concat(parts, axis)), axis % len(x.shape)
    for _ in range(n):
        ahead = part(found, [axis], [1], [2**31 - 1])
        found = math.subtract(ahead, part(found, [axis], [0], [-1]))
    return found


def inner(x: Any, y: Any, name: str | None = None) -> Any:
    """The sums of products along the last axes of both."""
    if not x.shape or not y.shape:
        return math.multiply(x, y, name)
    return tensordot(x, y, [[len(x.shape) - 1], [len(y.shape) - 1]], name)


def outer(x: Any, y: Any, name: str | None = None) -> Any:
    """Each element of x times each of y, (all of x, all of y)."""
    return matmul(reshape(x, [-1, 1]), reshape(y, [1, -1]), name=name)


def addmm(input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0, name: str | None = None) -> Any:
    """beta * input + alpha * x @ y."""
    floats_alone("addmm", input=input, x=x, y=y)
    return math.add(math.scale(input, beta), math.scale(matmul(x, y), alpha), name)


def tensordot(x: Any, y: Any, axes: Any = 2, name: str | None = None) -> Any:
    """The sums of products along axes of both: so many, the last of x and the first of y, or two lists."""
    from paddle.tensor.einsum import einsum

    first, second = _summed(axes, len(x.shape), len(y.shape))
    names = [chr(ord("a") + at) for at in range(len(x.shape) + len(y.shape))]
    of_x, of_y = names[: len(x.shape)], names[len(x.shape) :]
    for one, other in zip(first, second, strict=True):
        of_y[other] = of_x[one]
    both = {of_x[one] for one in first}
    left = [each for each in (*of_x, *of_y) if each not in both]
    return einsum(f"{''.join(of_x)},{''.join(of_y)}->{''.join(left)}", x, y)


def _summed(axes: Any, of_x: int, of_y: int) -> tuple[list[int], list[int]]:
    if isinstance(axes, int):
        return list(range(of_x - axes, of_x)), list(range(axes))
    both = list(axes)
    if not both or isinstance(both[0], int):
        both = [both, both]
    first, second = both if len(both) == 2 else (both[0], both[0])
    named = [[each % rank for each in axes_of(axes)] for axes, rank in ((first, of_x), (second, of_y))]
    longer = max(named, key=len)  # of the other the rest are those that this one names
    return named[0] + longer[len(named[0]) :], named[1] + longer[len(named[1]) :]
