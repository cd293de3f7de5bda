"""The choice of the largest values against its numpy twin, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.kernels.largest import put, take_largest

from ..wire_twins import largest_twin

FLOATS = st.one_of(st.floats(width=32), st.sampled_from([0.0, -0.0, 1.0, -1.0, 2.0]))


def taken(values: np.ndarray, residual: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    left, index, kept = residual.copy(), np.full(count, -7, np.int64), np.full(count, 7, np.float32)
    found = take_largest(values, left, count, index, kept)
    return index[:found], kept[:found], left


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(FLOATS, FLOATS), min_size=1, max_size=50), st.data())
def test_the_choice_equals_its_twin(pairs: list[tuple[float, float]], data: st.DataObject) -> None:
    values, residual = (np.array([pair[side] for pair in pairs], np.float32) for side in range(2))
    residual[np.isnan(values) & np.isnan(residual)] = 0  # of two that are no numbers the sum may be either
    count = data.draw(st.integers(1, len(pairs)))
    given_values = values.tobytes()
    index, kept, left = taken(values, residual, count)
    places, expected, expected_left = largest_twin(values, residual, count)
    assert index.tolist() == places.tolist()
    assert kept.tobytes() == expected.tobytes()
    assert left.tobytes() == expected_left.tobytes()
    assert values.tobytes() == given_values


@pytest.mark.parametrize("count", [1, 100, 4096, 20_000])
def test_the_choice_among_many_equals_its_twin(count: int) -> None:
    random = np.random.default_rng(count)
    values = random.standard_normal(20_000).astype(np.float32)
    values[::3] = np.round(values[::3], 1)  # many are equal
    residual = np.zeros_like(values)
    for _ in range(3):
        index, kept, left = taken(values, residual, count)
        places, expected, residual = largest_twin(values, residual, count)
        assert index.tolist() == places.tolist()
        assert kept.tobytes() == expected.tobytes() and left.tobytes() == residual.tobytes()


def test_of_equal_ones_the_first_are_taken_and_the_others_soon() -> None:
    values, residual = np.ones(6, np.float32), np.zeros(6, np.float32)
    index, _, residual = taken(values, residual, 4)
    assert index.tolist() == [0, 1, 2, 3]
    index, kept, _ = taken(values, residual, 4)
    assert (index.tolist(), kept.tolist()) == ([0, 1, 4, 5], [1, 1, 2, 2])


def test_zeros_are_left_and_what_is_not_a_number_comes_first() -> None:
    values = np.array([0, 3, np.nan, -0.0, -np.inf, 0], np.float32)
    index, _, left = taken(values, np.zeros(6, np.float32), 5)
    assert index.tolist() == [1, 2, 4]
    assert not left.any()
    assert taken(values, np.zeros(6, np.float32), 2)[0].tolist() == [2, 4]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 12), max_size=6), st.integers(0, 12))
def test_places_are_put_where_they_are_ascending_and_inside(places: list[int], size: int) -> None:
    out, values = np.full(size, 9, np.float32), np.arange(1, len(places) + 1, dtype=np.float32)
    is_right = all(place < size for place in places) and places == sorted(set(places))
    assert put(np.array(places, np.uint32), values, out) == is_right
    if is_right:
        expected = np.zeros(size, np.float32)
        expected[places] = values
        assert np.array_equal(out, expected)
