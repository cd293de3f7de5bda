"""Introsort: the order in which the original's library sorts, equal values included.

It takes the median of three and parts by it until sixteen are left, by a heap where that goes too deep, and
puts the rest in by insertion. Where values are equal the order that comes out is neither theirs nor any other
sort's, so what is chosen by it is chosen alike only by the same steps. Guarantee: values fall.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray
SMALL = 16
"""So many are put in by insertion."""


@kernel
def sort_falling(values: Array) -> Array:
    """The places of values, (n,) in single precision, in the order of them."""
    count = values.shape[0]
    order = np.arange(count)
    kept, left, right = values.copy(), np.zeros(128, np.int64), np.zeros(128, np.int64)
    depths = np.zeros(128, np.int64)
    depth = 0
    while count >> (depth + 1):
        depth += 1
    top, left[0], right[0], depths[0] = 1, 0, count, 2 * depth
    while top:
        top -= 1
        first, last, depth = left[top], right[top], depths[top]
        while last - first > SMALL:
            if depth == 0:
                _by_heap(kept, order, first, last)
                break
            depth -= 1
            cut = _parted(kept, order, first, last)
            left[top], right[top], depths[top] = cut, last, depth
            top, last = top + 1, cut
    _by_insertion(kept, order, count)
    return order


@kernel
def _swap(values: Array, order: Array, i: int, j: int) -> None:
    values[i], values[j] = values[j], values[i]
    order[i], order[j] = order[j], order[i]


@kernel
def _parted(values: Array, order: Array, first: int, last: int) -> int:
    """Greater ones in front of lesser ones: where those begin."""
    a, b, c = first + 1, first + (last - first) // 2, last - 1
    if values[a] > values[b]:
        middle = b if values[b] > values[c] else (c if values[a] > values[c] else a)
    else:
        middle = a if values[a] > values[c] else (c if values[b] > values[c] else b)
    _swap(values, order, first, middle)
    pivot, low, high = values[first], first + 1, last
    while True:
        while values[low] > pivot:
            low += 1
        high -= 1
        while pivot > values[high]:
            high -= 1
        if low >= high:
            return low
        _swap(values, order, low, high)
        low += 1


@kernel
def _by_insertion(values: Array, order: Array, count: int) -> None:
    for i in range(1, count):
        value, place, j = values[i], order[i], i
        while j > 0 and value > values[j - 1]:
            values[j], order[j] = values[j - 1], order[j - 1]
            j -= 1
        values[j], order[j] = value, place


@kernel
def _by_heap(values: Array, order: Array, first: int, last: int) -> None:
    size = last - first
    for parent in range((size - 2) // 2, -1, -1):
        _sink(values, order, first, parent, size, values[first + parent], order[first + parent])
    for end in range(size - 1, 0, -1):
        value, place = values[first + end], order[first + end]
        values[first + end], order[first + end] = values[first], order[first]
        _sink(values, order, first, 0, end, value, place)


@kernel
def _sink(values: Array, order: Array, first: int, hole: int, size: int, value: float, place: int) -> None:
    """Down to a leaf, by the child that is to come later, and up again to where it belongs."""
    top, child = hole, hole
    while child < (size - 1) // 2:
        child = 2 * (child + 1)
        if values[first + child] > values[first + child - 1]:
            child -= 1
        values[first + hole], order[first + hole] = values[first + child], order[first + child]
        hole = child
    if size % 2 == 0 and child == (size - 2) // 2:
        child = 2 * (child + 1)
        values[first + hole] = values[first + child - 1]
        order[first + hole] = order[first + child - 1]
        hole = child - 1
    parent = (hole - 1) // 2
    while hole > top and values[first + parent] > value:
        values[first + hole], order[first + hole] = values[first + parent], order[first + parent]
        hole = parent
        parent = (hole - 1) // 2
    values[first + hole], order[first + hole] = value, place
