"""Brackets on variables: what Variables, lists and masks pick, as each generation has it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.description.written import fresh
from paddle._program.errors import BadArgument

layers = fluid.layers
X = np.arange(60, dtype=np.float32).reshape(4, 3, 5)


@pytest.fixture(autouse=True, params=[False, True], ids=["1.x", "2.x"])
def is_later(request: pytest.FixtureRequest) -> Iterator[bool]:
    with fresh(is_static=request.param):
        yield request.param


def data() -> tuple[Any, Any, Any]:
    x = fluid.data("x", [4, 3, 5])
    x.stop_gradient = False
    one, three = (layers.fill_constant([1], "int32", number) for number in (1, 3))
    return x, one, three


def ran(*fetch: Any) -> list[Any]:
    return [np.asarray(each) for each in fluid.Executor().run(feed={"x": X}, fetch_list=list(fetch))]


def test_a_variable_of_one_number_picks_one_and_in_2x_keeps_its_axis(is_later: bool) -> None:
    x, one, three = data()
    found = ran(x[one], x[:, one], x[one, 0:2], x[0, one, three])
    wanted = [X[1:2], X[:, 1:2], X[1:2, 0:2]] if is_later else [X[1], X[:, 1], X[1, 0:2]]
    for each, other in zip(found[:3], wanted, strict=True):
        np.testing.assert_array_equal(each, other)
    assert (found[3].shape, float(found[3][0])) == ((1,), X[0, 1, 3])


def test_slices_end_where_variables_say() -> None:
    x, one, three = data()
    found = ran(x[one:three], x[one:], x[one:3, 1], x[:three:2])
    for each, wanted in zip(found, (X[1:3], X[1:], X[1:3, 1], X[:3:2]), strict=True):
        np.testing.assert_array_equal(each, wanted)


def test_lists_and_masks_pick_many() -> None:
    x, _, _ = data()
    many = layers.assign(np.array([2, 0, 2]))
    found = ran(x[[0, 2]], x[:, np.array([True, False, True])], x[..., many], x[x > 50.0])
    for each, wanted in zip(found, (X[[0, 2]], X[:, [0, 2]], X[..., [2, 0, 2]], X[X > 50]), strict=True):
        np.testing.assert_array_equal(each, wanted)


def test_gradients_go_to_what_was_picked() -> None:
    x, one, three = data()
    (slope,) = fluid.gradients(layers.reduce_sum(x[one:three]) + layers.reduce_sum(x[:, one] * 2.0), x)
    wanted = np.zeros_like(X)
    wanted[1:3] += 1
    wanted[:, 1] += 2
    np.testing.assert_array_equal(ran(slope)[0], wanted)


def test_a_loop_walks_along_rows() -> None:
    x, _, three = data()
    count, total = layers.fill_constant([1], "int32", 0), layers.fill_constant([3, 5], "float32", 0.0)

    def body(count: Any, total: Any) -> list[Any]:
        return [count + 1, total + layers.reshape(x[count], [3, 5])]

    _, total = layers.while_loop(lambda count, total: count < three, body, [count, total])
    np.testing.assert_array_equal(ran(total)[0], X[:3].sum(axis=0))


def test_what_picks_nothing_is_refused(is_later: bool) -> None:
    if is_later:  # 2.x has rules of its own for them
        return
    x, one, _ = data()
    for wrong in ("name", x, [0.5], (layers.assign(np.arange(2)), layers.assign(np.arange(2))), x[0] > 1.0):
        with pytest.raises(BadArgument, match=r"indexed|masked"):
            x[wrong]
    with pytest.raises(BadArgument, match="3 axes"):
        x[one, one, one, one]
