"""Rank tables of fluid: sequences by moments and back, the longest first."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.fluid as fluid

layers = fluid.layers
X = np.arange(12, dtype=np.float32).reshape(6, 2)


def test_sequences_become_moments_and_sequences_again() -> None:
    x = layers.data("x", [2], lod_level=1)
    table = layers.lod_rank_table(x)
    longest = layers.max_sequence_len(table)
    moments = layers.lod_tensor_to_array(x, table)
    second = layers.array_read(moments, layers.fill_constant([1], "int64", 1))
    again = layers.array_to_lod_tensor(moments, table)
    sorted_ones = layers.reorder_lod_tensor_by_rank(x, table)
    left = layers.shrink_memory(layers.data("rows", [1]), layers.fill_constant([1], "int64", 2), table)
    feed = {"x": fluid.create_lod_tensor(X, [[2, 1, 3]], None), "rows": np.ones((3, 1), np.float32)}
    fetch = [longest, second, again, sorted_ones, left]
    found = fluid.Executor().run(feed=feed, fetch_list=fetch, return_numpy=False)
    assert np.array(found[0]).tolist() == [3]
    np.testing.assert_array_equal(np.array(found[1]), X[[4, 1]])
    assert found[2].lod() == [[0, 2, 3, 6]]
    np.testing.assert_array_equal(np.array(found[2]), X)
    assert found[3].lod() == [[0, 3, 5, 6]]
    np.testing.assert_array_equal(np.array(found[3]), X[[3, 4, 5, 0, 1, 2]])
    assert np.array(found[4]).shape == (1, 1)


def test_sequences_of_sequences_are_refused() -> None:
    """Their rows had been taken for those of the lowest level."""
    x = layers.data("x", [2], lod_level=2)
    moments = layers.lod_tensor_to_array(x, layers.lod_rank_table(x))
    first = layers.array_read(moments, layers.fill_constant([1], "int64", 0))
    feed = {"x": fluid.create_lod_tensor(X, [[2, 1], [2, 1, 3]], None)}
    with pytest.raises(ValueError, match="2 levels"):
        fluid.Executor().run(feed=feed, fetch_list=[first], return_numpy=False)
