"""Sorting in the order of the original's library against the steps of that, written plainly; also of values
that are made so that it parts badly, and goes on with a heap."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.kernels import introsort
from tests.engine.kernels.case import Case, Draw, generator, held, integer

Pairs = list[tuple[Any, int]]
"""Values, each with its place. One that is greater comes first."""


def sort_falling(values: np.ndarray) -> np.ndarray:
    pairs = list(zip(values.tolist(), range(len(values)), strict=True))
    part(pairs, 0, len(pairs), 2 * (len(pairs).bit_length() - 1))
    return np.array([place for _, place in sorted(pairs, key=lambda pair: -pair[0])], np.int64)


def part(pairs: Pairs, first: int, last: int, depth: int) -> None:
    """Until sixteen are left, which are put in one by one at the end: a sort that keeps equals in order."""
    while last - first > 16:
        if not depth:
            pairs[first:last] = by_heap(pairs[first:last])
            return
        depth -= 1
        cut = cut_of(pairs, first, last)
        part(pairs, cut, last, depth)
        last = cut


def cut_of(pairs: Pairs, first: int, last: int) -> int:
    middle = median(pairs, first + 1, first + (last - first) // 2, last - 1)
    pairs[first], pairs[middle] = pairs[middle], pairs[first]
    pivot, low, high = pairs[first][0], first + 1, last
    while True:
        while pairs[low][0] > pivot:
            low += 1
        high -= 1
        while pivot > pairs[high][0]:
            high -= 1
        if low >= high:
            return low
        pairs[low], pairs[high] = pairs[high], pairs[low]
        low += 1


def median(pairs: Pairs, *places: int) -> int:
    a, b, c = (pairs[place][0] for place in places)
    if a > b:
        return places[1] if b > c else places[2] if a > c else places[0]
    return places[0] if a > c else places[2] if b > c else places[1]


def by_heap(pairs: Pairs) -> Pairs:
    """The last in order is at the top, and goes to the end of what is left."""
    for top in reversed(range(len(pairs) // 2)):
        pairs = [*sunk(pairs, top, pairs[top])]
    done: Pairs = []
    while len(pairs) > 1:
        *rest, last = pairs
        done.insert(0, pairs[0])
        pairs = sunk(rest, 0, last)
    return pairs + done


def sunk(pairs: Pairs, hole: int, put: tuple[Any, int]) -> Pairs:
    """Down to a leaf by the child that is to come later, the second of equals; and up again as is right."""
    found, top = [*pairs], hole
    while 2 * hole + 1 < len(found):
        child = 2 * hole + 2
        if child == len(found) or found[child][0] > found[child - 1][0]:
            child -= 1
        found[hole], hole = found[child], child
    while hole > top and found[(hole - 1) // 2][0] > put[0]:
        found[hole], hole = found[(hole - 1) // 2], (hole - 1) // 2
    found[hole] = put
    return found


class Undecided:
    """What is greater is decided when two are compared, so that parts become as unequal as can be: McIlroy, A
    killer adversary for quicksort, 1999."""

    decided, candidate = 0, None

    def __init__(self) -> None:
        self.rank: int | None = None

    def __gt__(self, other: Undecided) -> bool:
        if self.rank is None and other.rank is None:
            (self if self is Undecided.candidate else other).decide()
        if self.rank is None or other.rank is None:
            Undecided.candidate = self if self.rank is None else other
            return other.rank is None
        return self.rank < other.rank

    def decide(self) -> None:
        self.rank, Undecided.decided = Undecided.decided, Undecided.decided + 1


def killer(count: int) -> np.ndarray:
    values = [Undecided() for _ in range(count)]
    part([(value, place) for place, value in enumerate(values)], 0, count, count)
    for value in values:
        if value.rank is None:
            value.decide()
    ranks = np.array([value.rank for value in values], np.float32)
    return -(ranks - ranks.min(initial=0))


def to_sort(draw: Draw) -> tuple[Any, ...]:
    """Many are equal. Of pairs that are, the order tells most of a heap whose size is even."""
    count, alike = 4 * integer(draw, 0, 30) + max(0, integer(draw, -3, 3)), integer(draw, 0, 3)
    values = generator(draw).integers(0, integer(draw, 1, 60), count).astype(np.float32)
    return (np.floor(killer(count) / np.float32(alike)) if alike else values,)


test_an_order_is_its_twin = held([Case(introsort.sort_falling, sort_falling, to_sort)])


def test_there_are_values_that_are_sorted_by_a_heap() -> None:
    values = killer(100)
    pairs = list(zip(values.tolist(), range(100), strict=True))
    part(pairs, 0, 100, 12)
    with_heap = list(pairs)
    pairs = list(zip(values.tolist(), range(100), strict=True))
    part(pairs, 0, 100, 100)
    assert with_heap != pairs
