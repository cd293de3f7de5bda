"""Ids of rows in ascending order, by their digits: several times as fast as a sort that compares.

It must never know what an id names. Guarantee: the order is stable, and that of numbers, negative ones too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray

_BITS = 11  # of a digit: as many counts as a core's nearest cache holds
_DIGITS = 1 << _BITS


@kernel
def ascending(ids: Array) -> tuple[Array, Array]:
    """``order`` and ``keys``, both (n,), of n > 0 ids: where those stand one after another, and by how much
    each is above the lowest."""
    count = ids.shape[0]
    order, keys = np.empty(count, np.int64), np.empty(count, np.uint64)
    lowest = highest = ids[0]
    for i in range(count):
        lowest, highest = min(lowest, ids[i]), max(highest, ids[i])
    for i in range(count):
        order[i], keys[i] = i, np.uint64(ids[i]) - np.uint64(lowest)
    left, shift = np.uint64(highest) - np.uint64(lowest), np.uint64(0)
    next_order, next_keys = np.empty_like(order), np.empty_like(keys)
    while left > np.uint64(0):
        _by_digit(order, keys, shift, next_order, next_keys)
        order, next_order = next_order, order
        keys, next_keys = next_keys, keys
        left >>= np.uint64(_BITS)
        shift += np.uint64(_BITS)
    return order, keys


@kernel
def _by_digit(order: Array, keys: Array, shift: Any, next_order: Array, next_keys: Array) -> None:
    """The same by one digit, those that have the same one as they stood."""
    ends, mask = np.zeros(_DIGITS + 1, np.int64), np.uint64(_DIGITS - 1)
    for i in range(keys.shape[0]):
        ends[np.int64((keys[i] >> shift) & mask) + 1] += 1
    for digit in range(_DIGITS):
        ends[digit + 1] += ends[digit]
    for i in range(keys.shape[0]):
        own = np.int64((keys[i] >> shift) & mask)
        place = ends[own]
        ends[own] = place + 1
        next_order[place], next_keys[place] = order[i], keys[i]


@kernel
def ascends(ids: Array) -> bool:
    """Whether each id is greater than the one before it."""
    place = 1
    while place < ids.shape[0] and ids[place] > ids[place - 1]:
        place += 1
    is_over: bool = place >= ids.shape[0]
    return is_over


@kernel
def placed(ids: Array, place: Array, found: Array) -> int:
    """``found``: each of n > 0 ids once, ascending; ``ids[i]`` is ``found[place[i]]``. Returns how many there
    are."""
    order, keys = ascending(ids)
    count = 0
    for k in range(order.shape[0]):
        if k == 0 or keys[k] != keys[k - 1]:
            found[count] = ids[order[k]]
            count += 1
        place[order[k]] = count - 1
    return count


@kernel
def each_once(ids: Array) -> Array:
    """Each of n > 0 ids once, ascending."""
    order, keys = ascending(ids)
    found, count = np.empty_like(ids), 0
    for i in range(ids.shape[0]):
        if i == 0 or keys[i] != keys[i - 1]:
            found[count] = ids[order[i]]
            count += 1
    return found[:count]
