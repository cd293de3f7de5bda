"""Kernels over rows of tables against their numpy twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.kernels.rows import add_rows, merge_rows
from paddle._engine.rows import SparseRows

IDS = st.lists(st.integers(0, 11), max_size=60)


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def merge_rows_twin(ids: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    unique, place = np.unique(ids, return_inverse=True)
    merged = np.zeros((len(unique), values.shape[1]), np.float32)
    np.add.at(merged, place, values)
    return unique, merged


@settings(max_examples=80, deadline=None)
@given(ids=IDS, width=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_merging_equals_its_twin_bit_for_bit(ids, width, seed):
    ids, values = np.array(ids, np.int64), normal(seed, len(ids), width)
    given_ids, given_values = ids.copy(), values.copy()
    unique, merged = merge_rows(ids, values)
    expected_ids, expected = merge_rows_twin(ids, values)
    assert unique.dtype == np.int64 and merged.dtype == np.float32
    assert np.array_equal(unique, expected_ids)
    assert np.array_equal(merged, expected)
    assert np.array_equal(ids, given_ids) and np.array_equal(values, given_values)


def test_repeats_are_summed_in_order_of_occurrence():
    values = np.array([[1e8], [5], [1], [-1e8]], np.float32)
    in_order = (np.float32(1e8) + np.float32(1)) - np.float32(1e8)
    assert merge_rows(np.array([7, 2, 7, 7]), values)[1].ravel().tolist() == [5, in_order]
    assert merge_rows(np.array([7, 2, 7, 7]), values[[0, 1, 3, 2]])[1].ravel().tolist() == [5, 1]


def test_merging_no_rows_gives_no_rows():
    unique, merged = merge_rows(np.zeros(0, np.int64), np.zeros((0, 3), np.float32))
    assert unique.shape == (0,) and merged.shape == (0, 3)


def test_merging_a_gradient_keeps_its_meaning():
    gradient = SparseRows(np.array([3, 0, 3], np.int64), normal(1, 3, 4), height=5)
    merged = gradient.merged()
    assert merged.ids.tolist() == [0, 3]
    assert np.array_equal(merged.to_dense(), gradient.to_dense())


@settings(max_examples=50, deadline=None)
@given(ids=IDS, width=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_adding_rows_equals_its_twin_bit_for_bit(ids, width, seed):
    table, index = normal(seed, 12, width), np.array(ids, np.int64)
    rows, expected = normal(seed ^ 1, len(ids), width), table.copy()
    np.add.at(expected, index, rows)
    add_rows(table, index, rows)
    assert np.array_equal(table, expected)
