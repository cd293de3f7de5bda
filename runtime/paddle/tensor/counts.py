"""How often, and where in an order: ``paddle.bincount``, ``paddle.searchsorted``, ``paddle.mode`` and others.

They must never compute: each function appends operators to the default program. Guarantee: counts and places
are int64 unless another dtype is asked for.
"""

from __future__ import annotations

from typing import Any

from paddle._program.description.dtypes import is_float
from paddle.tensor import math
from paddle.tensor._append import append, append_all
from paddle.tensor.creation import full_like, zeros_like
from paddle.tensor.logic import equal, logical_not
from paddle.tensor.manipulation import cast, concat, flatten, reshape, squeeze, unsqueeze
from paddle.tensor.placing import take_along_axis
from paddle.tensor.search import _sorted, where
from paddle.tensor.tallies import over_several

__all__ = [
    *("bincount", "bucketize", "histogram", "mode", "nanmedian", "nanquantile", "searchsorted"),
    "unique_consecutive",
]


def searchsorted(
    sorted_sequence: Any,
    values: Any,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
) -> Any:
    """Where in the last axis of ``sorted_sequence`` each of ``values`` would stand: before those that are
    equal to it, behind them if ``right``."""
    told = {"out_int32": out_int32, "right": right}
    inputs = {"SortedSequence": sorted_sequence, "Values": values}
    dtype = "int32" if out_int32 else "int64"
    return append("searchsorted", inputs, told, dtype=dtype, stop_gradient=True, name=name)


def bucketize(
    x: Any, sorted_sequence: Any, out_int32: bool = False, right: bool = False, name: str | None = None
) -> Any:
    """``searchsorted`` in one line of bounds."""
    if len(sorted_sequence.shape) != 1:
        raise ValueError(f"the bounds of bucketize are one line, not {list(sorted_sequence.shape)}")
    return searchsorted(sorted_sequence, x, out_int32, right, name)


def bincount(x: Any, weights: Any = None, minlength: int = 0, name: str | None = None) -> Any:
    """How often each whole number from 0 on is in the line ``x``, or the sum of its ``weights``; of
    ``minlength`` numbers at least."""
    if minlength < 0:
        raise ValueError(f"minlength of paddle.bincount is 0 or more, not {minlength}")
    inputs = {"X": x, "Weights": weights}
    return append("bincount", inputs, {"minlength": minlength}, stop_gradient=True, name=name)


def histogram(input: Any, bins: int = 100, min: float = 0, max: float = 0, name: str | None = None) -> Any:
    """How many elements are in each of ``bins`` equal ranges from ``min`` to ``max``: from the smallest to
    the largest element where both are 0."""
    told = {"bins": bins, "min": min, "max": max}
    return append("histogram", {"X": input}, told, dtype="int64", stop_gradient=True, name=name)


def mode(x: Any, axis: int = -1, keepdim: bool = False, name: str | None = None) -> tuple[Any, Any]:
    """What is most often along ``axis``, the smallest of several, and where it is last."""
    told = {"axis": axis, "keepdim": keepdim}
    values, places = append_all(
        "mode", {"X": x}, told, outputs=("Out", "Indices"), dtypes={"Indices": "int64"}, name=name
    )
    places.stop_gradient = True
    return values, places


def unique_consecutive(
    x: Any,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: Any = "int64",
    name: str | None = None,
) -> Any:
    """One for each run of equal elements, or slices along ``axis``; if asked for, the run that each is of,
    and how long runs are."""
    from paddle._program.description.dtypes import dtype_of

    told = {
        "axis": [] if axis is None else [axis],
        "return_inverse": return_inverse,
        "return_counts": return_counts,
        "dtype": int(dtype_of(dtype)),
    }
    values, inverse, counts = append_all(
        "unique_consecutive",
        {"X": x},
        told,
        outputs=("Out", "Index", "Counts"),
        dtypes={"Index": dtype, "Counts": dtype},
        stop_gradient=True,
        name=name,
    )
    found = [values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    return found[0] if len(found) == 1 else tuple(found)


def nanmedian(x: Any, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The middle one of those that are not nan along ``axis``, of an even number the mean of two."""
    return nanquantile(x, 0.5, axis, keepdim)


def nanquantile(x: Any, q: Any, axis: Any = None, keepdim: bool = False) -> Any:
    """``quantile`` of those that are not nan; nan where all are."""
    if isinstance(q, (list, tuple)):
        return concat([unsqueeze(nanquantile(x, each, axis, keepdim), 0) for each in q], 0)
    if not 0 <= q <= 1:
        raise ValueError(f"q of paddle.nanquantile is from 0 to 1, not {q!r}")
    if isinstance(axis, (list, tuple)):
        return over_several(nanquantile, x, q, axis, keepdim)
    x = x if is_float(x.dtype) else cast(x, "float32")
    rank = len(x.shape)
    line, at = (flatten(x), 0) if axis is None else (x, int(axis) % rank)
    missing = math.isnan(line)
    ordered = _sorted(where(missing, full_like(line, 3.4028234663852886e38), line), at, False, None)[0]
    count = math.sum(cast(logical_not(missing), "float32"), at, keepdim=True)
    place = math.scale(count, float(q), -float(q))
    below = math.maximum(math.floor(place), zeros_like(place))
    share = math.subtract(place, below)
    share.stop_gradient = True
    low, high = (
        take_along_axis(ordered, cast(each, "int64"), at)
        for each in (below, math.ceil(math.maximum(place, below)))
    )
    found = math.add(low, math.multiply(share, math.subtract(high, low)))
    found = where(equal(count, zeros_like(count)), full_like(found, float("nan")), found)
    if not keepdim:
        return squeeze(found, at)
    return reshape(found, [1] * rank) if axis is None else found
