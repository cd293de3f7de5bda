"""The order of the original's library, equal values included: against what that library gave for the same
values."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paddle._engine.kernels import introsort

ALIKE = [10, 19, 18, 17, 16, 15, 14, 13, 12, 11, 0, 9, 8, 7, 6, 5, 4, 3, 2, 1]
BY_TURNS = [0, 2, 22, 4, 6, 20, 8, 10, 18, 12, 14, 16, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1]

OF_FIVE = [
    *(17, 2, 37, 22, 7, 32, 27, 12, 9, 24, 14, 29, 19, 34, 4, 39, 21, 1, 26, 31),
    *(36, 16, 11, 6, 18, 23, 38, 13, 28, 3, 8, 33, 0, 20, 5, 35, 10, 30, 15, 25),
]
BY_HEAP = [0, 10, 19, 5, 12, 7, 2, 14, 3, 17, 18, 1, 11, 6, 13, 15, 16, 8, 4, 9]


def sorted_places(values: list[float]) -> list[int]:
    found: list[int] = introsort.sort_falling(np.array(values, np.float32)).tolist()
    return found


def test_equal_values_come_in_the_order_of_the_original() -> None:
    assert sorted_places([0.0] * 20) == ALIKE
    assert sorted_places([1.0, 0.0] * 12) == BY_TURNS
    assert sorted_places([number * 7 % 5 for number in range(40)]) == OF_FIVE


def test_a_heap_sorts_what_goes_too_deep_as_in_the_original() -> None:
    values = np.array([5, 3, 5, 3, 1, 5, 3, 5, 1, 1, 5, 3, 5, 3, 5, 1, 1, 3, 3, 5], np.float32)
    order = np.arange(20)
    introsort._by_heap(values, order, 0, 20)
    assert order.tolist() == BY_HEAP


@given(st.lists(st.integers(0, 40), max_size=200))
def test_values_fall_and_few_that_are_equal_stay_in_order(values: list[int]) -> None:
    order = sorted_places([float(each) for each in values])
    assert sorted(order) == list(range(len(values)))
    assert [values[place] for place in order] == sorted(values, reverse=True)
    if len(values) <= introsort.SMALL:
        assert order == sorted(range(len(values)), key=lambda place: -values[place])
