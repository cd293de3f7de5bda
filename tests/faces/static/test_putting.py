"""``x[...] = value`` in static programs of 2.x, beside numpy's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid

pytestmark = pytest.mark.usefixtures("alone")
ROWS = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
PLACES: list[Any] = [
    0,
    -1,
    (1, 2, 3),
    slice(0, 1),
    (slice(None), slice(1, None), slice(None, None, 2)),
    (slice(None, None, -1), slice(2, 0, -1)),
    (..., -1),
    (0, ..., slice(1, 3)),
    ...,
    slice(5, 2),
]


def ran(*wanted: Any, **feed: Any) -> list[np.ndarray]:
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    return [np.array(each) for each in exe.run(feed=feed, fetch_list=list(wanted))]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool"])
def test_a_number_is_spread_over_what_is_named(place: Any, dtype: str) -> None:
    x = paddle.cast(paddle.assign(ROWS), dtype)
    before = paddle.scale(paddle.cast(x, "float32"), 1.0)
    x[place] = 7
    expected = ROWS.astype(dtype)
    expected[place] = 7
    found, kept, behind = ran(x, before, paddle.cast(x, "float32"))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(kept, ROWS.astype(dtype).astype("float32"))
    np.testing.assert_array_equal(behind, expected.astype("float32"))


@pytest.mark.parametrize("place", [0, (slice(None), 1), (..., slice(0, 2))])
def test_arrays_and_variables_are_spread_as_numpy_spreads_them(place: Any) -> None:
    values = ROWS[place][..., :1] * 10
    x, y = paddle.assign(ROWS), paddle.assign(ROWS)
    x[place] = values
    y[place] = paddle.assign(values)
    expected = ROWS.copy()
    expected[place] = values
    for found in ran(x, y):
        np.testing.assert_array_equal(found, expected)


def test_places_may_be_computed_and_rows_any_number() -> None:
    x = paddle.static.data("x", [-1, 3])
    x.stop_gradient = True
    begin = paddle.static.data("begin", [1], "int32")
    x[begin:, 1] = 5.0
    for rows, place in ((2, 1), (4, 0)):
        given = np.zeros((rows, 3), np.float32)
        expected = given.copy()
        expected[place:, 1] = 5
        found = ran(x, x=given, begin=np.array([place], np.int32))[0]
        np.testing.assert_array_equal(found, expected)


def test_gradients_go_to_what_was_put_and_to_what_was_left() -> None:
    first = paddle.nn.initializer.Constant(2.0)
    weight = paddle.static.create_parameter([3], "float32", default_initializer=first)
    x = paddle.static.data("x", [-1, 3])
    y = x * weight
    y[:, 1] = paddle.sum(weight)
    (slope,) = paddle.static.gradients([paddle.sum(y * y)], [weight])
    given = np.array([[1.0, 9.0, 2.0], [3.0, 9.0, 4.0]], np.float32)
    put = 2 * 2 * 6.0  # two rows of the sum, 6
    expected = [4.0 * (1 + 9) + put, put, 4.0 * (4 + 16) + put]
    np.testing.assert_allclose(ran(slope, x=given)[0], expected, rtol=1e-6)


def test_setitem_leaves_what_it_is_given() -> None:
    x = paddle.assign(ROWS)
    made = paddle.static.setitem(x, (0, slice(None), 0), 1.0)
    expected = ROWS.copy()
    expected[0, :, 0] = 1
    found, kept = ran(made, x)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(kept, ROWS)


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ((0, 0, 0, 0), 1.0, "has 3 axes"),
        ((..., ...), 1.0, "has 3 axes"),
        (slice(0, 2, 0), 1.0, "not of 0"),
        ([0, 1], 1.0, "masks and lists"),
        (0, "one", "a number, an array or a Variable"),
    ],
)
def test_what_is_no_place_or_value_is_refused_by_name(place: Any, value: Any, said: str) -> None:
    x = paddle.assign(ROWS)
    with pytest.raises(ValueError, match=said):
        x[place] = value


def test_what_does_not_fit_is_refused_where_it_is_written() -> None:
    x = paddle.assign(ROWS)
    with pytest.raises(ValueError, match=r"is not spread to \[3, 4\]"):
        x[0] = np.ones((2, 4), np.float32)
    with pytest.raises(ValueError, match="cast it"):
        x[0] = paddle.full([1], 1, "int64")


def test_programs_of_fluid_hold_nothing_to_put_to() -> None:
    paddle.disable_static()
    with pytest.raises(ValueError, match="holds nothing while a program is written"):
        fluid.layers.fill_constant([2], "float32", 0.0)[0] = 1.0
