"""Branches: what is not taken is not computed, and each row goes one way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from tests.faces.fluid.numeric import assert_gradients

layers = fluid.layers
X = np.random.default_rng(3).normal(size=(4, 3)).astype(np.float32)


def fc(x: Any, size: int, name: str) -> Any:
    return layers.fc(x, size, param_attr=name, bias_attr=False)


def data() -> Any:
    return layers.data("x", [1], append_batch_size=False, stop_gradient=False)


@pytest.mark.parametrize("value", [0.0, -2.0, 4.0])
def test_the_slope_of_a_branch_that_is_not_taken_does_not_count(value: float) -> None:
    """At 0 it is that of the other one, and not 0 times infinity."""
    x = data()
    found = layers.cond(x > 0.0, lambda: layers.log(x) + layers.sqrt(x), lambda: x * 3.0)
    (slope,) = fluid.gradients(layers.reduce_sum(found), x)
    fetch = fluid.Executor().run(feed={"x": np.array([value], np.float32)}, fetch_list=[found, slope])
    wanted = (np.log(4) + 2, 1 / 4 + 1 / 4) if value > 0 else (3 * value, 3.0)
    np.testing.assert_allclose([float(np.asarray(each)[0]) for each in fetch], wanted, rtol=1e-6)


def test_a_branch_that_is_not_taken_counts_and_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    x = data()

    def taken() -> Any:
        return layers.Print(x * 2.0, message="here")

    found = layers.cond(x > 0.0, taken, lambda: x * 3.0)
    exe = fluid.Executor()
    assert float(exe.run(feed={"x": np.array([-1.0], np.float32)}, fetch_list=[found])[0][0]) == -3.0
    assert "here" not in capfd.readouterr().out
    assert float(exe.run(feed={"x": np.array([1.0], np.float32)}, fetch_list=[found])[0][0]) == 2.0
    assert "here" in capfd.readouterr().out


@pytest.mark.parametrize("shift", [-9.0, 9.0])
def test_weights_of_the_branch_that_is_taken_learn(shift: float) -> None:
    def build() -> Any:
        x = layers.data("x", [3])
        total = layers.reduce_sum(layers.square(fc(x, 2, "w"))) + shift
        yes = layers.cond(
            total > 0.0, lambda: layers.exp(fc(x, 1, "v") * 0.1), lambda: layers.square(fc(x, 1, "u"))
        )
        return layers.mean(yes) + layers.log(layers.mean(layers.square(fc(x, 2, "w"))) + 1.0)

    assert_gradients(build, {"x": X * 0.3}, ["w", "v", "u"])


def test_each_row_goes_one_way_and_a_mean_there_is_over_its_rows() -> None:
    x = layers.data("x", [3])
    limit = layers.fill_constant([1], "float32", 0.0)
    ways = layers.IfElse(layers.reduce_sum(x, 1, keep_dim=True) > limit)
    with ways.true_block():
        rows = ways.input(x)
        ways.output(layers.elementwise_sub(rows, layers.reduce_mean(rows, 0)))
    with ways.false_block():
        ways.output(ways.input(x) * 10.0)
    (out,) = ways()
    (found,) = fluid.Executor().run(feed={"x": X}, fetch_list=[out])
    high = X.sum(axis=1) > 0
    assert 0 < high.sum() < len(X)
    np.testing.assert_allclose(found[high], X[high] - X[high].mean(axis=0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[~high], X[~high] * 10)


@pytest.mark.parametrize("shift", [0.0, 9.0])
def test_weights_of_both_ways_learn_from_their_rows(shift: float) -> None:
    """Also where no row goes one of them."""

    def build() -> Any:
        x = layers.data("x", [3])
        ways = layers.IfElse(layers.reduce_sum(x, 1, keep_dim=True) > -shift)
        h = fc(x, 3, "w")
        with ways.true_block():
            ways.output(layers.square(fc(ways.input(h), 2, "v")))
        with ways.false_block():
            ways.output(layers.tanh(fc(ways.input(h), 2, "u")))
        (out,) = ways()
        return layers.mean(out)

    assert_gradients(build, {"x": X}, ["w", "v", "u"])


def test_sequences_go_whole() -> None:
    x, mask = layers.data("x", [1], lod_level=1), layers.data("mask", [1], dtype="bool")
    ways = layers.IfElse(mask)
    with ways.true_block():
        ways.output(ways.input(x) * 2.0)
    with ways.false_block():
        ways.output(ways.input(x) * -1.0)
    (out,) = ways()
    rows = np.arange(1, 7, dtype=np.float32).reshape(6, 1)
    feed = {"x": fluid.create_lod_tensor(rows, [[2, 1, 3]], None), "mask": np.array([[0], [1], [0]], bool)}
    (found,) = fluid.Executor().run(feed=feed, fetch_list=[out], return_numpy=False)
    assert found.lod() == [[0, 2, 3, 6]]
    assert np.array(found).reshape(-1).tolist() == [-1, -2, 6, -4, -5, -6]


@pytest.mark.parametrize("value", [-1.0, 1.0])
def test_what_a_loop_has_computed_stays_where_no_case_holds(value: float) -> None:
    x, i = data(), layers.fill_constant([1], "int64", 0)
    n, state = layers.fill_constant([1], "int64", 3), layers.fill_constant([1], "float32", 1.0)
    going = layers.less_than(i, n)
    loop = layers.While(going)
    with loop.block():
        layers.assign(state * 2.0, state)
        layers.increment(i, 1, in_place=True)
        layers.less_than(i, n, cond=going)
    with layers.Switch() as switch, switch.case(x > 0.0):
        layers.assign(layers.fill_constant([1], "float32", -5.0), state)
    (found,) = fluid.Executor().run(feed={"x": np.array([value], np.float32)}, fetch_list=[state])
    assert float(np.asarray(found)[0]) == (-5.0 if value > 0 else 8.0)
