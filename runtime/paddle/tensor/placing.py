"""Elements elsewhere: ``paddle.take_along_axis``, ``paddle.masked_fill`` and their family.

They must never compute: each function appends operators to the default program. Guarantee: axes may be of any
size (-1 in a declaration) wherever a docstring does not say otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._program.description.variable import Variable
from paddle.tensor import math
from paddle.tensor._append import append, axes_of, variable_of
from paddle.tensor.attribute import shape as sizes_at_run
from paddle.tensor.creation import zeros_like
from paddle.tensor.manipulation import cast, flatten, reshape, stack, transpose, unbind, unsqueeze
from paddle.tensor.manipulation import slice as part
from paddle.tensor.search import index_sample, where

__all__ = [
    *("atleast_1d", "atleast_2d", "atleast_3d", "broadcast_shape", "broadcast_tensors", "clone"),
    *("diag_embed", "is_complex", "is_floating_point", "is_integer", "masked_fill", "moveaxis"),
    *("repeat_interleave", "take_along_axis", "unflatten", "view", "view_as"),
]


def sizes_of_each(x: Any) -> list[Any]:
    """The size of each axis: a number, or, where a feed decides, a variable that holds it."""
    if all(size >= 0 for size in x.shape):
        return list(x.shape)
    told = sizes_at_run(x)
    return [part(told, [0], [at], [at + 1]) if size < 0 else size for at, size in enumerate(x.shape)]


def _in_sizes(x: Any, sizes: Sequence[Any]) -> Any:
    """x in these sizes, of which one that is not known is taken from the others."""
    opened = [at for at, size in enumerate(sizes) if not isinstance(size, int)]
    chosen = list(sizes)
    if opened:
        chosen[opened[0]] = -1
    return reshape(x, chosen)


def clone(x: Any, name: str | None = None) -> Any:
    """A copy, through which gradients go."""
    return append("assign", {"X": x}, name=name)


def take_along_axis(arr: Any, indices: Any, axis: int, broadcast: bool = True) -> Any:
    """The elements of ``arr`` that ``indices`` name along ``axis``; along the others both have the same
    sizes, or, of ``indices``, 1 where ``broadcast``."""
    rank = len(arr.shape)
    axis %= rank
    if broadcast:
        first = part(arr, [axis], [0], [1])
        indices = math.add(indices, cast(zeros_like(first), indices.dtype))
    order = [*(at for at in range(rank) if at != axis), axis]
    turned, places = (each if axis == rank - 1 else transpose(each, order) for each in (arr, indices))
    rows = [each if rank == 2 else _rows(each) for each in (turned, places)]
    found = index_sample(*rows)
    found = found if rank == 2 else _in_sizes(found, sizes_of_each(places))
    return found if axis == rank - 1 else transpose(found, [order.index(at) for at in range(rank)])


def _rows(x: Any) -> Any:
    return flatten(x, 0, -2) if len(x.shape) > 1 else unsqueeze(x, 0)


def masked_fill(x: Any, mask: Any, value: Any, name: str | None = None) -> Any:
    """x with ``value``, a number or a tensor of one, where ``mask`` holds."""
    everywhere = math.add(cast(mask, "int32"), cast(zeros_like(x), "int32"))
    like = cast(zeros_like(everywhere), x.dtype)
    filling = math.add(like, variable_of(value, x))
    return where(cast(everywhere, "bool"), filling, math.add(x, like), name)


def moveaxis(x: Any, source: Any, destination: Any, name: str | None = None) -> Any:
    """x with its axes ``source`` at ``destination``, the others in the order that they had."""
    rank = len(x.shape)
    sources, places = ([each % rank for each in axes_of(given)] for given in (source, destination))
    if len(sources) != len(places) or len({*sources}) < len(sources) or len({*places}) < len(places):
        raise ValueError(f"moveaxis: {source!r} cannot go to {destination!r}")
    left = iter(at for at in range(rank) if at not in sources)
    order = [sources[places.index(at)] if at in places else next(left) for at in range(rank)]
    return transpose(x, order, name)


def repeat_interleave(x: Any, repeats: Any, axis: int | None = None, name: str | None = None) -> Any:
    """Each element ``repeats`` times, one number or one for each, one after another, along ``axis``; of the
    flat tensor if None."""
    if axis is None:
        x, axis = flatten(x), 0
    axis %= len(x.shape)
    if not isinstance(repeats, int):
        inputs = {"X": x, "RepeatsTensor": repeats}
        return append("repeat_interleave", inputs, {"dim": axis, "Repeats": 0}, name=name)
    sizes = sizes_of_each(x)
    several = stack([x] * repeats, axis + 1)
    merged = (
        sizes[axis] * repeats if isinstance(sizes[axis], int) else math.scale(sizes[axis], float(repeats))
    )
    return _in_sizes(several, [*sizes[:axis], merged, *sizes[axis + 1 :]])


def broadcast_shape(x_shape: Sequence[int], y_shape: Sequence[int]) -> list[int]:
    """The shape of what two of these shapes give; an open size stays open beside 1."""
    rank = max(len(x_shape), len(y_shape))
    pairs = zip(*([1] * (rank - len(each)) + list(each) for each in (x_shape, y_shape)), strict=True)
    return [_wider(one, other, x_shape, y_shape) for one, other in pairs]


def _wider(one: int, other: int, x_shape: Sequence[int], y_shape: Sequence[int]) -> int:
    if one != other and 1 not in (one, other) and -1 not in (one, other):
        raise ValueError(f"{list(x_shape)} and {list(y_shape)} cannot be broadcast to each other")
    return max(one, other) if -1 not in (one, other) or max(one, other) > 1 else -1


def broadcast_tensors(input: Sequence[Any], name: str | None = None) -> list[Any]:
    """Each of several tensors in the shape that all of them give."""
    like = cast(zeros_like(input[0]), "float32")
    for each in input[1:]:
        like = math.add(like, cast(zeros_like(each), "float32"))
    like.stop_gradient = True
    return [math.add(each, cast(like, each.dtype)) for each in input]


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices, in the axes ``dim1`` and ``dim2``, with the last axis of ``input`` on a diagonal."""
    return append("diag_embed", {"Input": input}, {"offset": offset, "dim1": dim1, "dim2": dim2})


def unflatten(x: Any, axis: int, shape: Any, name: str | None = None) -> Any:
    """x with its ``axis`` as several, of the sizes ``shape``, of which one may be -1."""
    axis %= len(x.shape)
    if isinstance(shape, Variable):
        shape = unbind(shape)
    given = list(shape)
    if all(size >= 0 for size in x.shape[axis + 1 :]):
        return reshape(x, [*([0] * axis), *given, *x.shape[axis + 1 :]], name)
    return _in_sizes(x, [*sizes_of_each(x)[:axis], *given, *sizes_of_each(x)[axis + 1 :]])


def view(x: Any, shape_or_dtype: Any, name: str | None = None) -> Any:
    """x in another shape."""
    if not isinstance(shape_or_dtype, (list, tuple)):
        raise NotInThisRelease("view of the same bytes in another dtype is not in this release: see cast")
    return reshape(x, shape_or_dtype, name)


def view_as(x: Any, other: Any, name: str | None = None) -> Any:
    """x in the shape of ``other``."""
    return _in_sizes(x, sizes_of_each(other))


def _at_least(rank: int, inputs: Sequence[Any]) -> Any:
    found = []
    for x in inputs:
        missing = rank - len(x.shape)
        behind = 1 if rank == 3 and missing in (1, 2) else 0
        if missing > 0:
            x = unsqueeze(x, [*range(missing - behind), *range(rank - behind, rank)])
        found.append(x)
    return found[0] if len(found) == 1 else found


def atleast_1d(*inputs: Any, name: str | None = None) -> Any:
    """With one axis at least."""
    return _at_least(1, inputs)


def atleast_2d(*inputs: Any, name: str | None = None) -> Any:
    """With two axes at least, new ones before those there are."""
    return _at_least(2, inputs)


def atleast_3d(*inputs: Any, name: str | None = None) -> Any:
    """With three axes at least: of a matrix a new one behind, of a line one on each side."""
    return _at_least(3, inputs)


def is_floating_point(x: Any) -> bool:
    """Whether x has fractions."""
    from paddle._program.description.dtypes import is_float

    return is_float(x.dtype)


def is_integer(x: Any) -> bool:
    """Whether x holds whole numbers."""
    from paddle._program.description.dtypes import VarType

    return not is_floating_point(x) and x.dtype != VarType.BOOL


def is_complex(x: Any) -> bool:
    """Whether x is complex: nothing is, in this release."""
    return False
