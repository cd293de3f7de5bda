"""DataFeeder: rows of a batch become arrays, or an error that names the row."""

import numpy as np
import pytest

from paddle._engine.errors import FeedError
from paddle.v2 import data_type
from paddle.v2.data_feeder import DataFeeder

IDS = [("a", data_type.integer_value(10)), ("b", data_type.integer_value(10))]
MIXED = [("x", data_type.dense_vector(3)), ("y", data_type.integer_value(4))]


def test_rows_of_ids_become_columns():
    feed = DataFeeder(IDS)([(1, 2), (3, 4), (5, 6)])
    assert feed["a"].tolist() == [[1], [3], [5]] and feed["b"].tolist() == [[2], [4], [6]]
    assert feed["a"].dtype == np.int64 and feed["b"].flags.c_contiguous


@pytest.mark.parametrize(
    "rows", [[[1, 2], [3, 4]], np.array([[1, 2], [3, 4]], np.int32), [np.array([1, 2]), (3, 4)]]
)
def test_rows_may_be_lists_or_arrays(rows):
    assert DataFeeder(IDS)(rows)["b"].tolist() == [[2], [4]]


def test_dense_rows_become_float32():
    feed = DataFeeder(MIXED)([([1, 2, 3], 0), (np.array([4.0, 5.0, 6.0]), np.int64(3)), ((7, 8, 9), 1)])
    assert feed["x"].dtype == np.float32 and feed["x"].tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
    assert feed["y"].tolist() == [[0], [3], [1]]


def test_dense_arrays_of_more_dimensions_are_flattened():
    feed = DataFeeder([("x", data_type.dense_array(6))])([(np.arange(6).reshape(2, 3),)])
    assert feed["x"].tolist() == [[0, 1, 2, 3, 4, 5]]


def test_sparse_rows_are_spread_out():
    types = [("b", data_type.sparse_binary_vector(4)), ("f", data_type.sparse_float_vector(4))]
    feed = DataFeeder(types)([([0, 3], [(1, 0.5)]), ([], [])])
    assert feed["b"].tolist() == [[1, 0, 0, 1], [0, 0, 0, 0]]
    assert feed["f"].tolist() == [[0, 0.5, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize("feeding", [{"x": 1, "y": 0}, ["y", "x"], ("y", "x")])
def test_feeding_says_where_a_slot_stands(feeding):
    feed = DataFeeder(MIXED, feeding)([(2, [1, 2, 3])])
    assert feed["y"].tolist() == [[2]] and feed["x"].tolist() == [[1, 2, 3]]


def test_feeding_may_skip_what_the_network_does_not_read():
    assert DataFeeder(IDS[:1], {"a": 2})([(7, 8, 9)])["a"].tolist() == [[9]]
    assert len(DataFeeder(IDS)) == 2


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        (
            [([1, 2, 3], 0), ([1, 2], 0)],
            r"row 1 of the batch, slot 'x' \(dense_vector\(3\)\): \[1, 2\] \(2 values\)",
        ),
        ([([1, 2, 3], 0), ("abc", 0)], r"row 1 of the batch, slot 'x'.*'abc'"),
        ([([1, 2, 3], 0), ([1, 2, 3],)], "row 1 of the batch has nothing at place 1, where slot 'y'"),
        ([([1, 2, 3], 0), 5], "row 1 of the batch has nothing at place 0"),
        (
            [([1, 2, 3], 0), ([1, 2, 3], 1.5)],
            r"row 1 of the batch, slot 'y' \(integer_value\(4\)\): 1.5 does not",
        ),
        ([([1, 2, 3], 4)], "row 0 of the batch, slot 'y'.*: 4 does not fit"),
        ([([1, 2, 3], -1)], "row 0 of the batch, slot 'y'.*: -1 does not fit"),
        ([([1, 2, 3], [1, 2])], "row 0 of the batch, slot 'y'.*2 values"),
        ([([1, 2, 3], None)], "row 0 of the batch, slot 'y'.*None"),
        ([], "batch without rows"),
    ],
)
def test_a_row_that_does_not_fit_is_named(rows, hint):
    with pytest.raises(FeedError, match=hint):
        DataFeeder(MIXED)(rows)


def test_an_id_out_of_range_among_ids_is_named():
    with pytest.raises(
        FeedError, match=r"row 2 of the batch, slot 'b' \(integer_value\(10\)\): 10 does not fit"
    ):
        DataFeeder(IDS)([(1, 2), (3, 4), (5, 10)])


def test_ragged_rows_of_ids_are_named():
    with pytest.raises(FeedError, match="row 1 of the batch has nothing at place 1"):
        DataFeeder(IDS)([(1, 2), (3,)])
    assert DataFeeder(IDS)([(1, 2), (3, 4, 5)])["b"].tolist() == [[2], [4]]


def test_a_sparse_column_out_of_range_is_named():
    with pytest.raises(FeedError, match=r"row 0 of the batch, slot 's'.*no column 4"):
        DataFeeder([("s", data_type.sparse_binary_vector(4))])([([4],)])


def test_feeding_that_forgets_a_slot_is_refused():
    with pytest.raises(FeedError, match=r"says nothing of the data layers \['y'\]"):
        DataFeeder(MIXED, {"x": 0})
    with pytest.raises(TypeError, match="feeding is a mapping"):
        DataFeeder(MIXED, "xy")
