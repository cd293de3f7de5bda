"""What a variable is asked by Python's signs: ``x[ids]``, ``x[mask]``, ``a & b``, ``~a``, ``for row in x``.

It must never compute: each function appends operators to the default program. Guarantee: numbers, slices,
None and ``...`` beside a list, an array or a variable mean what they mean alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from paddle._absent import NotInThisRelease
from paddle._program.description.dtypes import VarType
from paddle._program.description.variable import Variable
from paddle.tensor import bits, logic
from paddle.tensor.creation import assign
from paddle.tensor.manipulation import flatten, gather, gather_nd, reshape, squeeze, stack, unstack
from paddle.tensor.search import masked_select, nonzero

__all__ = ["both", "each", "either", "indexed", "neither", "one_of_two"]


def _is_truth(*given: Any) -> bool:
    return all(getattr(one, "dtype", None) == VarType.BOOL for one in given)


def both(x: Any, y: Any) -> Any:
    """x & y."""
    return logic.logical_and(x, y) if _is_truth(x, y) else bits.bitwise_and(x, y)


def either(x: Any, y: Any) -> Any:
    """x | y."""
    return logic.logical_or(x, y) if _is_truth(x, y) else bits.bitwise_or(x, y)


def one_of_two(x: Any, y: Any) -> Any:
    """x ^ y."""
    return logic.logical_xor(x, y) if _is_truth(x, y) else bits.bitwise_xor(x, y)


def neither(x: Any) -> Any:
    """~x."""
    return logic.logical_not(x) if _is_truth(x) else bits.bitwise_not(x)


def each(x: Any) -> Iterator[Any]:
    """The slices along the first axis, whose size is declared."""
    if not x.shape or x.shape[0] < 0:
        raise TypeError(
            f"variable {x.name!r} of {list(x.shape)} has no declared number of rows to go through"
        )
    return iter(unstack(x, 0))


def indexed(x: Any, items: tuple[Any, ...]) -> Any:
    """``x[items]``, of which one or more are lists, arrays or variables."""
    given = [_variable(item) for item in items]
    places = [at for at, item in enumerate(given) if isinstance(item, Variable)]
    rest = _whole(x, given)
    plain = tuple(slice(None) if isinstance(item, Variable) else item for item in rest)
    axes = _axes(rest)
    found = x[plain] if any(item != slice(None) for item in plain) else x
    if len(places) == 1:
        item, axis = next(
            (item, axis) for item, axis in zip(rest, axes, strict=True) if isinstance(item, Variable)
        )
        return _masked(found, item, axis) if _is_truth(item) else _gathered(found, item, axis)
    several = [(item, axis) for item, axis in zip(rest, axes, strict=True) if isinstance(item, Variable)]
    if [axis for _, axis in several] != list(range(len(several))) or any(
        _is_truth(item) for item, _ in several
    ):
        raise NotInThisRelease(
            f"several tensors as an index of {x.name!r} are of its first axes and whole: see gather_nd"
        )
    return gather_nd(found, stack([item for item, _ in several], -1))


def _variable(item: Any) -> Any:
    if isinstance(item, (list, np.ndarray)):
        return assign(np.asarray(item))
    return item


def _whole(x: Any, items: list[Any]) -> list[Any]:
    """``items`` with slices in the place of ``...``, and one for each axis of a mask."""
    used = sum(_takes(item) for item in items if item is not None and item is not Ellipsis)
    found: list[Any] = []
    for item in items:
        if item is Ellipsis:
            found += [slice(None)] * (len(x.shape) - used)
        else:
            found.append(item)
            found += [slice(None)] * (_takes(item) - 1 if isinstance(item, Variable) else 0)
    return found


def _takes(item: Any) -> int:
    """How many axes an item is of."""
    return len(item.shape) if isinstance(item, Variable) and _is_truth(item) else 1


def _axes(items: list[Any]) -> list[int]:
    """Where each item's axis is behind numbers, which take theirs away, and None, which adds one."""
    found, axis = [], 0
    for item in items:
        found.append(axis)
        axis += 0 if isinstance(item, (int, np.integer)) else 1
    return found


def _masked(x: Any, mask: Any, axis: int) -> Any:
    rank = len(mask.shape)
    if rank == len(x.shape):
        return masked_select(x, mask)
    chosen = nonzero(mask)
    if rank == 1:
        return gather(x, squeeze(chosen, 1), axis)
    if axis:
        raise NotInThisRelease(f"a mask of {rank} axes of {x.name!r} is of its first ones: see masked_select")
    return gather_nd(x, chosen)


def _gathered(x: Any, places: Any, axis: int) -> Any:
    if len(places.shape) == 1:
        return gather(x, places, axis)
    found = gather(x, flatten(places), axis)
    shape = [*([0] * axis), *places.shape, *x.shape[axis + 1 :]]
    if sum(each < 0 for each in shape) > 1:
        raise NotInThisRelease(
            f"an index of several open sizes of {x.name!r} is not in this release: see gather"
        )
    return reshape(found, shape)
