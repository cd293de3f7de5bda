"""Kernels over rows of tables against their numpy twins."""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.rows import merge_rows
from paddle._engine.rows import SparseRows


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


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
