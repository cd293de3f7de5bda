"""Python's operators on variables, against numpy, as each generation has them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.description.written import fresh
from paddle._program.errors import BadArgument

layers = fluid.layers
X = np.arange(1, 10, dtype=np.float32).reshape(3, 3) ** 2
IDS = np.array([[0], [1], [2]])


@pytest.fixture(autouse=True, params=[False, True], ids=["1.x", "2.x"])
def is_later(request: pytest.FixtureRequest) -> Iterator[bool]:
    with fresh(is_static=request.param):
        yield request.param


def ran(*fetch):
    declared = fluid.default_main_program().global_block().vars
    feed = {name: value for name, value in (("x", X), ("ids", IDS)) if name in declared}
    return [np.asarray(each) for each in fluid.Executor().run(feed=feed, fetch_list=list(fetch))]


def test_variables_are_compared_by_what_they_hold() -> None:
    x, ids = layers.data("x", [3]), layers.data("ids", [1], dtype="int64")
    mask = layers.cast(ids == 1, "float32")
    found = ran(mask, ids != 1, x == x * 1.0, x != layers.sqrt(x))
    np.testing.assert_array_equal(found[0], [[0], [1], [0]])
    np.testing.assert_array_equal(found[1], IDS != 1)
    assert found[2].all()
    np.testing.assert_array_equal(found[3], np.sqrt(X) != X)


def test_a_branch_may_hang_on_whether_two_are_equal() -> None:
    x = layers.data("x", [3])
    one, two = layers.fill_constant([1], "int64", 1), layers.fill_constant([1], "int64", 2)
    yes = layers.cond(one == 1, lambda: x * 2.0, lambda: x * 3.0)
    no = layers.cond(one == two, lambda: x * 2.0, lambda: x * 3.0)
    found = ran(yes, no)
    np.testing.assert_array_equal(found[0], X * 2)
    np.testing.assert_array_equal(found[1], X * 3)


def test_a_variable_stays_what_it_was_to_dictionaries_and_to_none() -> None:
    x, y = layers.data("x", [3]), layers.data("y", [3])
    before = len(fluid.default_main_program().global_block().ops)
    assert {x: 1, y: 2}[y] == 2
    assert len({x, y, x}) == 2
    assert x != None  # noqa: E711  the question is what != says
    assert x != "x"
    assert len(fluid.default_main_program().global_block().ops) == before


def test_what_is_no_variable_is_refused_in_a_slot() -> None:
    block = fluid.default_main_program().global_block()
    with pytest.raises(BadArgument, match="slot 'X' of an operator takes variables or names, not False"):
        block.append_op("scale", {"X": [False]}, {"Out": [block.create_var("out")]})


def test_of_fewer_axes_1x_begins_with_the_batch_and_2x_with_the_last(is_later: bool) -> None:
    x = layers.data("x", [3])
    found = ran(x / layers.reduce_sum(x, 1))[0]
    sums = X.sum(axis=1)
    np.testing.assert_allclose(found, X / (sums if is_later else sums[:, None]), rtol=1e-6)


def test_what_is_on_the_right_is_cast_to_what_is_on_the_left() -> None:
    x, ids = layers.data("x", [3]), layers.data("ids", [1], dtype="int64")
    half = layers.sqrt(x) * 0.5
    found = ran(ids + half, half + ids)
    assert found[0].dtype == np.int64
    np.testing.assert_array_equal(found[0], IDS + (np.sqrt(X) * 0.5).astype(np.int64))
    np.testing.assert_allclose(found[1], np.sqrt(X) * 0.5 + IDS)


def test_a_fraction_beside_whole_numbers_makes_fractions() -> None:
    ids = layers.data("ids", [1], dtype="int64")
    found = ran(ids * 0.5, 1.5 - ids, ids > 0.5, ids + 2)
    np.testing.assert_allclose(found[0], IDS * 0.5)
    np.testing.assert_allclose(found[1], 1.5 - IDS)
    np.testing.assert_array_equal(found[2], IDS > 0.5)
    assert found[3].dtype == np.int64


def test_whole_numbers_divide_as_in_c_and_later_as_in_python(is_later: bool) -> None:
    ids = layers.data("ids", [1], dtype="int64")
    (found,) = ran(ids / 2)
    np.testing.assert_allclose(found, IDS / 2 if is_later else IDS // 2)


def test_data_are_declared_once_or_alike() -> None:
    first = layers.data("x", [3])
    assert layers.data("x", [3]) is first
    with pytest.raises(ValueError, match=r"'x' has been created before. The previous shape is \(-1, 3\)"):
        layers.data("x", [4])
    with pytest.raises(ValueError, match="The previous dtype is"):
        layers.data("x", [3], dtype="int64")


def test_a_dropout_with_a_seed_repeats_its_mask_and_one_without_does_not() -> None:
    x = layers.fill_constant([64, 4], "float32", 1.0)
    fixed, free = layers.dropout(x, 0.5, seed=7), layers.dropout(x, 0.5)
    exe = fluid.Executor()
    runs = [exe.run(feed={}, fetch_list=[fixed, free]) for _ in range(2)]
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    assert (np.asarray(runs[0][1]) != np.asarray(runs[1][1])).any()
    assert 0.3 < np.asarray(runs[0][0]).mean() < 0.7
