"""DataFeeder: rows of a batch become arrays, or an error that names the row."""

import re

import numpy as np
import pytest

from paddle._engine.errors import FeedError
from paddle.v2 import data_type
from paddle.v2.data_feeder import DataFeeder
from tests.counting import calls_of, instructions_of

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


def test_sparse_rows_become_entries():
    types = [("b", data_type.sparse_binary_vector(4)), ("f", data_type.sparse_float_vector(4))]
    feed = DataFeeder(types)([([0, 3], [(1, 0.5)]), ([], []), (np.array([2]), ((3, 2), (0, 1.5)))])
    assert feed["b"].tolist() == [0, 3, 2] and feed["f"].tolist() == [1, 3, 0]
    assert feed["b@starts"].tolist() == [0, 2, 2, 3] and feed["f@starts"].tolist() == [0, 1, 1, 3]
    assert feed["b@amounts"].tolist() == [1, 1, 1] and feed["f@amounts"].tolist() == [0.5, 2, 1.5]
    assert {feed[name].dtype for name in ("b", "f", "b@starts")} == {np.dtype(np.int64)}
    assert feed["b@amounts"].dtype == feed["f@amounts"].dtype == np.float32


def test_sparse_rows_may_be_whatever_can_be_listed():
    feed = DataFeeder([("b", data_type.sparse_binary_vector(9))])([({4},), (range(2),), (iter([7, 8]),)])
    assert feed["b"].tolist() == [4, 0, 1, 7, 8] and feed["b@starts"].tolist() == [0, 1, 3, 5]


def test_a_batch_of_sparse_rows_without_entries_has_none():
    feed = DataFeeder([("f", data_type.sparse_float_vector(9))])([([],), ((),)])
    assert feed["f"].shape == feed["f@amounts"].shape == (0,) and feed["f@starts"].tolist() == [0, 0, 0]


def test_sparse_rows_of_any_width_take_what_they_name():
    feed = DataFeeder([("s", data_type.sparse_binary_vector(10**12))])([([10**12 - 1],)] * 1000)
    assert feed["s"].nbytes == 8000


SEQUENCES = [
    ("w", data_type.integer_value_sequence(9)),
    ("x", data_type.dense_vector_sequence(2)),
    ("s", data_type.sparse_float_vector_sequence(5)),
]


@pytest.mark.parametrize("array", [list, tuple, np.array])
def test_sequences_become_rows_and_offsets_whatever_they_are_written_as(array):
    rows = [
        (array([1, 2]), array([[1.0, 2.0]]), [[(1, 0.5)], []]),
        (array([3]), array([[3.0, 4.0], [5.0, 6.0]]), [[(4, 2.0), (0, 1.0)]]),
    ]
    feed = DataFeeder(SEQUENCES)(rows)
    assert feed["w"].tolist() == [[1], [2], [3]] and feed["w@offsets"].tolist() == [0, 2, 3]
    assert feed["x"].tolist() == [[1, 2], [3, 4], [5, 6]] and feed["x@offsets"].tolist() == [0, 1, 3]
    assert feed["s"].tolist() == [1, 4, 0] and feed["s@starts"].tolist() == [0, 1, 1, 3]
    assert feed["s@offsets"].tolist() == [0, 2, 3]


def test_an_empty_sequence_of_no_kind_stands_beside_arrays_of_integers():
    feed = DataFeeder(SEQUENCES[:1])([(np.array([1, 2]),), (np.array([]),), (np.array([3]),)])
    assert feed["w"].tolist() == [[1], [2], [3]] and feed["w@offsets"].tolist() == [0, 2, 2, 3]


@pytest.mark.parametrize(
    "column",
    [
        [[0.1, 2], (3, 4.5), [1e-50, 1e50]],
        [np.array([0.1, 2]), np.array([3, 4.5]), np.array([1e-50, 1e50])],
        [np.array([[1], [2]]), np.array([[3], [4]])],
        [np.array([1, 2], np.uint8), np.array([True, False])],
        [[np.float32(0.1), np.int64(2)], [True, 2**60]],
        [np.array([0.1, 2], np.float32), np.array([3, 4], np.float32)],
        [np.array([0.1, 2], np.float32), np.array([3, 4.5])],
        [np.array([0.1, 2], np.float32), np.array([3, 4], ">f4")],
        [np.array([0.1, 2], np.float32), [3, 4]],
        [np.arange(4, dtype=np.float32)[::2], np.arange(4, dtype=np.float32)[::-2]],
        [np.ones((1, 2), np.float32), np.zeros((2, 1), np.float32)],
        np.array([[0.1, 2], [3, 4]]),
        np.arange(6).reshape(3, 2),
    ],
    ids=str,
)
def test_dense_rows_are_the_numbers_that_numpy_reads(column):
    with np.errstate(over="ignore"):
        expected = np.array([np.asarray(row, np.float32).reshape(2) for row in column])
        feed = DataFeeder([("x", data_type.dense_vector(2))])([(row,) for row in column])
    assert feed["x"].dtype == np.float32
    np.testing.assert_array_equal(feed["x"], expected)


def test_a_batch_may_be_an_array_of_rows():
    feed = DataFeeder([("x", data_type.dense_vector(3))])(np.arange(6.0).reshape(2, 1, 3))
    assert feed["x"].tolist() == [[0, 1, 2], [3, 4, 5]]
    rows = np.array([[1.0, 7], [2, 8]])
    assert DataFeeder([("y", data_type.dense_vector(1))], {"y": 1})(rows)["y"].tolist() == [[7], [8]]


def test_rows_of_equal_size_and_unequal_length_do_not_make_up_for_each_other():
    with pytest.raises(FeedError, match=r"row 0 of the batch, slot 'x'.*: 2 values, where 3 are needed"):
        DataFeeder(MIXED)([([1, 2], 0), ([1, 2, 3, 4], 0)])
    with pytest.raises(FeedError, match=r"row 1 of the batch, slot 'x'.*: 4 values, where 3 are needed"):
        DataFeeder(MIXED)([(np.ones(3), 0), (np.ones(4), 0), (np.ones(2), 0)])
    with pytest.raises(FeedError, match=r"row 1 of the batch, slot 'x'.*: 4 values, where 3 are needed"):
        DataFeeder(MIXED)([(np.ones(size, np.float32), 0) for size in (3, 4, 2)])
    with pytest.raises(FeedError, match=r"row 0 of the batch, slot 'x'.*: 3 values, where 6 are needed"):
        DataFeeder([("x", data_type.dense_array(6))])([(np.ones((3, 1)),), (np.ones((3, 3)),)])


def test_rows_may_be_named():
    feed = DataFeeder(MIXED, {"x": "vector", "y": "class"})([{"class": 2, "vector": [1, 2, 3]}])
    assert feed["y"].tolist() == [[2]] and feed["x"].tolist() == [[1, 2, 3]]


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
            r"row 1 of the batch, slot 'x' \(dense_vector\(3\)\): \[1, 2\] does not fit: 2 values, "
            r"where 3 are needed",
        ),
        ([([1, 2, 3], 0), ("abc", 0)], r"row 1 of the batch, slot 'x'.*'abc' does not fit: .* not numbers"),
        ([([1, 2, 3], 0), ([1, 2, 3],)], "row 1 of the batch has nothing at place 1, where slot 'y'"),
        ([([1, 2, 3], 0), 5], "row 1 of the batch has nothing at place 0"),
        (
            [([1, 2, 3], 0), ([1, 2, 3], 1.5)],
            r"row 1 of the batch, slot 'y' \(integer_value\(4\)\): 1.5 does not fit: an integer is needed, "
            "not a float",
        ),
        ([([1, 2, 3], 4)], "row 0 of the batch, slot 'y'.*: 4 does not fit: it is not from 0 to 3"),
        ([([1, 2, 3], -1)], "row 0 of the batch, slot 'y'.*: -1 does not fit: it is not from 0 to 3"),
        ([([1, 2, 3], [1, 2])], "row 0 of the batch, slot 'y'.*2 values"),
        ([([1, 2, 3], None)], "row 0 of the batch, slot 'y'.*not None"),
        ([([1, 2, 3], 2**70)], "row 0 of the batch, slot 'y'.*it is not from 0 to 3"),
        ([([1, 2, 3], "1")], "row 0 of the batch, slot 'y'.*not a str"),
        ([([1, 2, 3], 0), ([1, None, 3], 0)], r"row 1 .*: \[1, None, 3\] does not fit: None is not a number"),
        ([([1, 2, 3], 0), ([[1], [2], [3]], 0)], "the rows of the batch are not of one form"),
        ([([[1, 2], [3]], 0)], "not numbers, or lists of unequal length"),
        ([np.ones(3)], r"1.0 does not fit: one number, .* of 3 is needed: does the reader yield a tuple"),
        ([], "batch without rows"),
        (5, r"a reader yielded 5, not a batch, .*paddle\.batch"),
        (iter([]), r"not a batch, a list of samples"),
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


def test_nan_is_a_number():
    assert np.isnan(DataFeeder(MIXED)([([1, float("nan"), 3], 0)])["x"][0, 1])


@pytest.mark.parametrize(
    ("kind", "value", "reason"),
    [
        ("binary", [4], "there is no column 4"),
        ("binary", [0, -1], "there is no column -1"),
        ("binary", [1.0], "a column is an integer, not a float"),
        ("binary", ["a"], "a column is an integer, not a str"),
        ("binary", [[1, 2]], "a column is an integer, not a list"),
        ("binary", 3, r"a list of columns is needed, not an int: does the reader yield a tuple"),
        ("binary", None, "a list of columns is needed, not None"),
        ("float", [2, 3], r"a list of \(column, value\) pairs is needed, 2 is none"),
        ("float", [(1, 2, 3)], r"pairs is needed, \(1, 2, 3\) is none"),
        ("float", [(1.0, 2)], "a column is an integer, not a float"),
        ("float", [(1, None)], "the value of column 1 is a number, not None"),
        ("float", [(1, "2")], "the value of column 1 is a number, not a str"),
        ("float", [(7, 1.0)], "there is no column 7"),
        ("float", "12", "pairs is needed, not a str"),
    ],
)
def test_a_sparse_row_that_does_not_fit_is_named(kind, value, reason):
    type = getattr(data_type, f"sparse_{kind}_vector")(4)
    named = re.escape(f"row 1 of the batch, slot 's' ({type}): ")
    with pytest.raises(FeedError, match=f"{named}.* does not fit: .*{reason}"):
        DataFeeder([("s", type)])([([],), (value,)])


@pytest.mark.parametrize(
    ("make", "dim", "error"),
    [
        ("dense_vector", 0, r"dense_vector\(0\): the width of a slot is 1 or more"),
        ("integer_value", -5, r"integer_value\(-5\): the width"),
        ("sparse_float_vector", 2.5, r"sparse_float_vector\(2.5\): the width of a slot is an integer"),
        ("dense_vector", "4", r"the width of a slot is an integer, not '4'"),
    ],
)
def test_a_width_that_cannot_be_is_refused_when_it_is_written(make, dim, error):
    with pytest.raises((ValueError, TypeError), match=error):
        getattr(data_type, make)(dim)
    assert data_type.dense_vector(np.int64(3)) == data_type.dense_vector(3)


ARRAY = np.ones(784, np.float32)
IMAGE = data_type.dense_vector(ARRAY.size)
OF_EACH_KIND = [
    (
        data_type.dense_vector(3),
        [np.ones(3), np.ones(3, int), np.ones((3, 1)), [1.5, 2, 3], (1, 2, 3), [[1], [2], [3]], [1e50] * 3],
    ),
    (
        data_type.dense_vector(2),
        [[[np.nan], [1]], np.array([1, np.nan], object), list(np.ones(2, np.float32))],
    ),
    (data_type.dense_vector(1), [1.5, 2, np.float32(3), np.array(4.0), [5], np.ones(1)]),
    (IMAGE, [ARRAY, ARRAY.tolist(), tuple(ARRAY), list(ARRAY)]),
    (data_type.integer_value(9), [1, np.int64(1), np.int32(1), np.array(1), np.array([1]), [1]]),
    (data_type.sparse_binary_vector(9), [[1, 2], (1, 2), np.arange(2), {3, 4}, range(5), []]),
    (data_type.sparse_float_vector(9), [[(1, 0.5), (2, 1)], ([1, 0.5],), []]),
    (data_type.integer_value_sequence(9), [[1, 2], (1, 2), np.arange(2), np.arange(2, dtype=np.int32)]),
    (data_type.dense_vector_sequence(2), [np.ones((3, 2)), [np.ones(2)] * 3, [[1, 2], (3, 4)], [[1, 2]]]),
    (data_type.dense_vector_sequence(784), [[ARRAY.tolist()] * 2]),
    (data_type.sparse_binary_vector_sequence(9), [[[1, 2], [3]], [np.arange(2), np.arange(3)]]),
    (data_type.sparse_float_vector_sequence(9), [[[(1, 0.5)], []]]),
    (
        data_type.integer_value_sub_sequence(9),
        [[[1, 2], [3]], [np.arange(2), np.arange(1)], np.ones((2, 3), int)],
    ),
    (
        data_type.dense_vector_sub_sequence(2),
        [[np.ones((3, 2)), np.ones((1, 2))], [[[1, 2], [3, 4]], [[5, 6]]], np.ones((2, 3, 2))],
    ),
    (data_type.sparse_binary_vector_sub_sequence(9), [[[[1, 2], [3]], [[]]]]),
    (data_type.sparse_float_vector_sub_sequence(9), [[[[(1, 0.5)], []]]]),
]


def calls_of_few_and_many(feeder, rows):
    """Calls, and instructions of Python: a loop over rows may call nothing."""

    def cost(times):
        return calls_of(lambda: feeder(rows * times)), instructions_of(lambda: feeder(rows * times))

    return cost(16), cost(512)


@pytest.mark.parametrize(
    ("type", "value"),
    [(type, value) for type, values in OF_EACH_KIND for value in values],
    ids=lambda each: " ".join(str(each).split())[:40],
)
def test_a_row_more_costs_no_call_more(type, value):
    """What must be done of each row, numpy, struct and itertools do, whom that costs no call of Python's."""
    feeder = DataFeeder([("x", type), ("y", data_type.integer_value(2))])
    with np.errstate(over="ignore"):
        few, many = calls_of_few_and_many(feeder, [(value, 1)])
    assert few == many


@pytest.mark.parametrize(
    ("type", "values"),
    [
        (data_type.dense_vector(2), [[1, 2], np.ones(2), (1.5, 2), [np.float32(1), 2]]),
        (data_type.integer_value(9), [1, np.int64(2), np.array(4)]),
        (data_type.sparse_binary_vector(9), [[], [1], (1, 2), np.arange(5), {3}]),
        (data_type.integer_value_sequence(9), [[], [1], (1, 2), np.arange(5)]),
        (data_type.dense_vector_sequence(2), [[], [[1, 2]], np.ones((3, 2)), [np.ones(2), (1, 2)]]),
        (data_type.integer_value_sub_sequence(9), [[], [[], [1]], [np.arange(2), (1, 2, 3)]]),
    ],
    ids=lambda each: str(each) if isinstance(each, data_type.InputType) else None,
)
def test_a_row_more_costs_no_call_more_where_rows_are_of_several_kinds_and_lengths(type, values):
    few, many = calls_of_few_and_many(DataFeeder([("x", type)]), [(value,) for value in values])
    assert few == many


@pytest.mark.parametrize(
    "kinds",
    [
        [ARRAY],
        [ARRAY.reshape(28, 28)],
        [ARRAY.reshape(1, 28, 28)],
        [np.ones((1, 30, 28))],
        [ARRAY.tolist()],
        [ARRAY.reshape(28, 28).tolist()],
        [np.ones((30, 28)).tolist()],
        [list(ARRAY.reshape(28, 28))],
        [np.ones((2, 30)), np.ones((2, 30), int), np.ones((2, 30)).tolist(), list(np.ones((2, 30)))],
    ],
    ids=lambda kinds: " ".join(str(np.shape(each)) for each in kinds),
)
def test_an_image_more_costs_no_call_more(kinds):
    feeder = DataFeeder([("x", IMAGE)], images={"x": (1, 28, 28)})
    few, many = calls_of_few_and_many(feeder, [(each,) for each in kinds])
    assert few == many


def test_a_batch_of_rows_that_are_named_or_ids_costs_no_call_more():
    for feeder, row in (
        (DataFeeder(MIXED, {"x": "x", "y": "y"}), {"x": np.ones(3), "y": 1}),
        (DataFeeder(IDS), (1, 2)),
        (DataFeeder(IDS), np.array([1, 2])),
        (DataFeeder(MIXED, {"y": 2, "x": 0}), (np.ones(3), "beside", 1)),
    ):
        few, many = calls_of_few_and_many(feeder, [row])
        assert few == many


@pytest.mark.parametrize(
    ("images", "sides"),
    [
        ([np.ones((5, 4))], "5 x 4"),
        ([np.ones((5, 4)), np.ones((5, 4)).tolist(), list(np.ones((5, 4), int))], "5 x 4"),
        ([np.ones((5, 4)), np.ones(9)], "row 1 .* 9 values, where 20 are needed"),
        ([np.ones((5, 4)), [[1, 2, 3, 4]] * 4 + [[1, 2, 3]]], "row 1 .* lists of unequal length"),
        ([np.ones((3, 5, 4)), np.ones((5, 4))], "row 0 .* 60 values, where 20 are needed"),
        ([np.ones((5, 4)), np.ones((4, 5)).tolist()], "4 x 5 and 5 x 4"),
        ([np.ones((3, 3)).tolist(), [np.ones(2)] * 3], "3 x 2 and 3 x 3"),
        ([[[1, 2], [3, 4]], [[1, 2, 3], [4, 5, 6]]], "2 x 2 and 2 x 3"),
        ([[], [[1, 2], [3, 4]]], "row 0 .* 0 values, where 9 are needed"),
    ],
    ids=lambda each: each if isinstance(each, str) else None,
)
def test_sides_of_images_are_seen_however_they_are_written(images, sides):
    feeder = DataFeeder([("x", data_type.dense_vector(9))], images={"x": (1, 3, 3)})
    if re.fullmatch(r"\d+ x \d+", sides):
        made = feeder([(image,) for image in images])["x"]
        assert f"{made.shape[2]} x {made.shape[3]}" == sides
        np.testing.assert_array_equal(made, 1)
        return
    with pytest.raises(FeedError, match=sides):
        feeder([(image,) for image in images])


@pytest.mark.parametrize("image", [[[1, None], [2, 3]], np.array([[1, 2], [3, None]], object)], ids=str)
def test_what_is_missing_in_an_image_is_no_number(image):
    feeder = DataFeeder([("x", data_type.dense_vector(9))], images={"x": (1, 3, 3)})
    with pytest.raises(FeedError, match=r"row 1 of the batch, slot 'x'.*None is not a number"):
        feeder([(np.ones((2, 2)),), (image,)])
    nan = feeder([([[1, float("nan")], [2, 3]],)])["x"]
    assert np.isnan(nan[0, 0, 0, 1]) and np.isnan(nan).sum() == 1


def test_feeding_that_forgets_a_slot_is_refused():
    with pytest.raises(FeedError, match=r"says nothing of the data layers \['y'\]"):
        DataFeeder(MIXED, {"x": 0})
    with pytest.raises(TypeError, match="feeding is a mapping"):
        DataFeeder(MIXED, "xy")
