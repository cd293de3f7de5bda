"""Elements put elsewhere: ``paddle.put_along_axis``, ``paddle.index_add``, ``paddle.index_put`` and others.

They must never compute: each function appends operators to the default program. Guarantee: places below 0
count from the end, and those beyond an axis are refused when they are met.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._absent import NotInThisRelease
from paddle.tensor import math
from paddle.tensor._append import append, floats_alone, variable_of
from paddle.tensor.creation import full, full_like, ones_like
from paddle.tensor.logic import greater_than
from paddle.tensor.manipulation import cast, concat, transpose, unsqueeze
from paddle.tensor.manipulation import slice as part
from paddle.tensor.placing import diag_embed
from paddle.tensor.search import where

__all__ = [
    *("diagonal_scatter", "index_add", "index_fill", "index_put", "put_along_axis", "renorm"),
    "select_scatter",
]

_END = 2**31 - 1


def put_along_axis(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Any:
    """``arr`` with ``values`` at the places that ``indices`` name along ``axis``.

    ``reduce``: "assign", "add", "mul" (or "multiply"), "mean", "amin" or "amax" of what is there, unless
    ``include_self`` is False, and of all that come to one place. ``broadcast``: of the other axes ``indices``
    may have the size 1, and all are meant.
    """
    axis %= len(arr.shape)
    if broadcast:
        like = part(arr, [axis], [0], [1])
        indices = math.add(indices, cast(math.scale(cast(like, "float32"), 0.0), indices.dtype))
        indices.stop_gradient = True
    told = {"Axis": axis, "Reduce": reduce, "Include_self": include_self}
    inputs = {"Input": arr, "Index": indices, "Value": variable_of(values, arr)}
    return append("put_along_axis", inputs, told, outputs=("Result",), dtype=arr.dtype)


def index_add(x: Any, index: Any, axis: int, value: Any, name: str | None = None) -> Any:
    """x with the slices of ``value`` added to those that ``index`` names along ``axis``."""
    inputs = {"X": x, "Index": index, "AddValue": value}
    return append("index_add", inputs, {"axis": axis % len(x.shape)}, name=name)


def index_fill(x: Any, index: Any, axis: int, value: Any, name: str | None = None) -> Any:
    """x with ``value``, a number or a tensor of one, in the slices that ``index`` names along ``axis``."""
    axis %= len(x.shape)
    order = [axis, *(at for at in range(len(x.shape)) if at != axis)]
    turned = transpose(x, order) if axis else x
    filled = index_put(turned, (index,), variable_of(value, x))
    return transpose(filled, [order.index(at) for at in range(len(order))], name) if axis else filled


def index_put(
    x: Any, indices: Sequence[Any], value: Any, accumulate: bool = False, name: str | None = None
) -> Any:
    """x with ``value`` at the points of which ``indices`` names one place each for the first axes, or where
    they are true; ``accumulate``: added to what is there."""
    inputs = {"x": x, "indices": list(indices), "value": value}
    return append("index_put", inputs, {"accumulate": accumulate}, outputs=("out",), dtype=x.dtype, name=name)


def select_scatter(x: Any, values: Any, axis: int, index: int, name: str | None = None) -> Any:
    """x with ``values`` as the slice ``index`` along ``axis``."""
    axis %= len(x.shape)
    size = x.shape[axis]
    if index < 0 <= size:
        index += size
    if index < 0 or 0 <= size <= index:
        raise ValueError(f"{index} is not a slice of an axis of {size}")
    parts = [part(x, [axis], [0], [index])] if index else []
    parts.append(unsqueeze(values, axis))
    if size != index + 1:
        parts.append(part(x, [axis], [index + 1], [_END]))

    return concat(parts, axis, name)


def diagonal_scatter(
    x: Any, y: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Any:
    """x with ``y`` on a diagonal of the axes ``axis1`` and ``axis2``, of which x declares the sizes."""
    rank = len(x.shape)
    one, other = axis1 % rank, axis2 % rank
    rows, columns = x.shape[one], x.shape[other]
    if rows < 0 or columns < 0:
        raise NotInThisRelease("diagonal_scatter of axes of no declared size is not in this release")
    whole = diag_embed(_at_ones(y), offset, one, other)
    put = diag_embed(y, offset, one, other)
    for axis, size in ((one, rows), (other, columns)):
        whole, put = _in_size(whole, axis, size), _in_size(put, axis, size)
    return where(cast(whole, "bool"), put, x, name)


def _at_ones(y: Any) -> Any:
    found = ones_like(y)
    found.stop_gradient = True
    return found


def _in_size(x: Any, axis: int, size: int) -> Any:
    """x with its axis cut to ``size``, or zeros behind it."""
    lacks = size - x.shape[axis]
    if lacks <= 0:
        return part(x, [axis], [0], [size]) if lacks else x

    first = part(x, [axis], [0], [1])
    return concat([x, *[math.scale(first, 0.0)] * lacks], axis)


def renorm(x: Any, p: float, axis: int, max_norm: float) -> Any:
    """x with each slice along ``axis`` whose ``p``-norm is above ``max_norm`` made that long."""
    floats_alone("renorm", x=x)
    rank = len(x.shape)
    axis %= rank
    others = [at for at in range(rank) if at != axis]
    lengths = math.pow(math.sum(math.pow(math.abs(x), p), others, keepdim=True), 1.0 / p)
    scale = math.divide(full_like(lengths, max_norm), math.scale(lengths, 1.0, 1e-7))
    limit = full([1], float(max_norm), x.dtype)

    kept = where(greater_than(lengths, limit), scale, ones_like(lengths))
    return math.multiply(x, kept)
