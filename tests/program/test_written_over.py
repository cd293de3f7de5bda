"""Data that a loop or a branch writes over: what was computed of them before, and its gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program.description.written import fresh

layers = fluid.layers


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with fresh():
        yield


def _loss_and_slope(loss: Any, feed: dict[str, Any]) -> tuple[float, list[float]]:
    """The loss of a step of descent, and the gradient of ``w``, a parameter that began at 2, by its move."""
    fluid.optimizer.SGD(1.0).minimize(loss)
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    (found,) = exe.run(feed=feed, fetch_list=[loss])
    return found.item(), (2.0 - np.array(fluid.global_scope().find_var("w").get_tensor())).tolist()


def _thrice_tenfold(x: Any) -> Any:
    i, n = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 3)
    rounds = layers.while_loop(lambda i, a: layers.less_than(i, n), lambda i, a: [i + 1, a * 10.0], [i, x])
    return rounds[1]


def _parameter() -> Any:
    initial = fluid.initializer.Constant(2.0)
    return layers.create_parameter([2], "float32", name="w", default_initializer=initial)


@pytest.mark.parametrize("made", [False, True], ids=["fed", "of_the_host"])
def test_what_was_computed_of_data_is_not_computed_of_what_a_loop_makes_of_them(made: bool) -> None:
    x, w = fluid.data("x", [2]), _parameter()
    if made:
        same = fluid.default_main_program().current_block().create_var("same", dtype="float32", shape=[2])
        x = layers.py_func(np.array, x, same)
    before = x * w
    after = _thrice_tenfold(x)
    loss, slope = _loss_and_slope(layers.reduce_sum(before + after), {"x": np.array([1.0, -2.0], np.float32)})
    assert loss == pytest.approx(-2.0 - 1000.0)
    assert slope == pytest.approx([1.0, -2.0])


def test_sequences_that_a_loop_writes_over_are_as_fed_with_where_they_begin() -> None:
    x, w = fluid.data("x", [None, 2], lod_level=1), _parameter()
    firsts = layers.sequence_pool(x * w, "first")
    after = _thrice_tenfold(x)
    given = fluid.create_lod_tensor(
        np.array([[1, -2], [3, 4], [5, 6]], np.float32), [[2, 1]], fluid.CPUPlace()
    )
    loss, slope = _loss_and_slope(layers.reduce_sum(firsts) + layers.reduce_sum(after), {"x": given})
    assert loss == pytest.approx(2.0 * (-1.0 + 11.0) + 17_000.0)
    assert slope == pytest.approx([6.0, 4.0])


@pytest.mark.parametrize(
    ("at", "loss", "slope"), [(1.0, -4.0, [2.0, -4.0]), (-1.0, -2.0, [0.0, 0.0])], ids=["taken", "left"]
)
def test_data_that_a_branch_may_write_over_are_as_fed_where_it_is_not_taken(
    at: float, loss: float, slope: list[float]
) -> None:
    x, y, s, w = fluid.data("x", [2]), fluid.data("y", [2]), fluid.data("s", [1]), _parameter()
    x.stop_gradient = False
    with (
        layers.Switch() as switch,
        switch.case(layers.greater_than(s, layers.fill_constant([1], "float32", 0.0))),
    ):
        layers.assign(y * w, x)
    doubled = fluid.default_main_program().current_block().create_var("doubled", dtype="float32", shape=[2])
    layers.py_func(lambda each: np.array(each) * 2, x, doubled, lambda _, __, back: np.array(back) * 2)
    data = np.array([1.0, -2.0], np.float32)
    found = _loss_and_slope(
        layers.reduce_sum(doubled), {"x": data, "y": data, "s": np.array([at], np.float32)}
    )
    assert found == (loss, slope)
