"""Counters that a training step changes before a host operator, against numbers of paddlepaddle 1.8.5.

It takes gradients of a product with what its factor has become since; here they are those of what was run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid

X = np.arange(6, dtype=np.float32).reshape(2, 3)
COSTS = {
    "increment": [7.5, 10.85, 3.825],
    "of integers": [7.5, 10.85, 3.825],
    "assign": [15.0, 13.4, -29.7],
    "sums": [22.5, 7.65, -100.575],
}
MOVING_MEANS = [3.75, 5.625, 6.5625]


def _counter(kind: str) -> Any:
    dtype = "int64" if kind == "of integers" else "float32"
    count = fluid.layers.create_global_var([1], 0, dtype, persistable=True, name="count")
    if kind == "assign":
        fluid.layers.assign(fluid.layers.scale(count, 1.0, 2.0), count)
    elif kind == "sums":
        fluid.layers.sums([count, fluid.layers.fill_constant([1], "float32", 3.0)], out=count)
    else:
        fluid.layers.increment(count, 1)
    return fluid.layers.cast(count, "float32") if dtype == "int64" else count


def _line(x: Any) -> Any:
    return fluid.layers.fc(x, 1, bias_attr=False, param_attr=fluid.initializer.Constant(1.0))


def _through_the_host(x: Any) -> Any:
    first = fluid.layers.fill_constant([1], "int64", 0)
    return fluid.layers.array_read(fluid.layers.array_write(x, first), first)


def _ran(loss: Any, steps: int, fetched: Any = None, rate: float = 0.1) -> list[float]:
    fluid.optimizer.SGD(rate).minimize(loss)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    wanted = [loss if fetched is None else fetched]
    return [exe.run(feed={"x": X}, fetch_list=wanted)[0].item() for _ in range(steps)]


@pytest.mark.parametrize("kind", COSTS)
def test_a_counter_is_read_as_it_was_left(kind: str) -> None:
    x = fluid.layers.data("x", [3])
    count = _counter(kind)
    line = _line(x)
    _through_the_host(fluid.layers.mean(line))
    loss = fluid.layers.mean(fluid.layers.elementwise_mul(line, count, axis=-1))
    np.testing.assert_allclose(_ran(loss, 3), COSTS[kind], rtol=1e-5)


@pytest.mark.parametrize("is_gone_back_through", [False, True])
def test_what_is_computed_again_is_not_blended_again(is_gone_back_through: bool) -> None:
    x = fluid.layers.data("x", [3])
    line = fluid.layers.batch_norm(_line(x), momentum=0.5, moving_mean_name="moving")
    found = _through_the_host(fluid.layers.mean(line))
    loss = fluid.layers.mean(line)
    if is_gone_back_through:
        loss = loss + found * 0.0
    np.testing.assert_allclose(_ran(loss, 3, "moving"), MOVING_MEANS, rtol=1e-5)


@pytest.mark.parametrize("is_gone_back_through", [False, True])
def test_an_area_under_a_curve_counts_each_sample_once(is_gone_back_through: bool) -> None:
    x = fluid.layers.data("x", [3])
    line = _line(x)
    both = fluid.layers.softmax(fluid.layers.concat([line, line], axis=1))
    label = fluid.layers.fill_constant_batch_size_like(x, [-1, 1], "int64", 1)
    _, _, (_, _, positive, _) = fluid.layers.auc(both, label)
    found = _through_the_host(fluid.layers.mean(line))
    loss = fluid.layers.mean(line) + (found if is_gone_back_through else 0.0)
    total = fluid.layers.reduce_sum(positive)
    assert _ran(loss, 3, total) == [2, 4, 6]


@pytest.mark.parametrize("host", ["none", "beside", "between", "through"])
def test_gradients_are_those_of_what_was_run(host: str) -> None:
    x = fluid.layers.data("x", [3])
    count = fluid.layers.create_global_var([1], 0.0, "float32", persistable=True, name="count")
    line = _line(x)
    before = fluid.layers.elementwise_mul(line, count, axis=-1)
    fluid.layers.increment(count, 1.0)
    after = fluid.layers.elementwise_mul(line, count, axis=-1)
    found = _through_the_host(fluid.layers.mean(line)) if host != "none" else fluid.layers.mean(line)
    if host == "between":
        _doubled_in_a_loop(count)
    later = fluid.layers.elementwise_mul(line, count, axis=-1)
    loss = fluid.layers.mean(before) + 2 * fluid.layers.mean(after) + 3 * fluid.layers.mean(later)
    loss = loss + 0.5 * (found if host in ("none", "through") else fluid.layers.mean(line))
    costs = _ran(loss, 3, rate=0.01)
    times = 2.0 if host == "between" else 1.0
    np.testing.assert_allclose(costs, _costs_of_a_formula(times), rtol=1e-5)


def _doubled_in_a_loop(count: Any) -> None:
    turn, last = (fluid.layers.fill_constant([1], "int64", number) for number in (0, 1))
    goes_on = fluid.layers.less_than(turn, last)
    loop = fluid.layers.While(goes_on)
    with loop.block():
        fluid.layers.assign(fluid.layers.scale(count, 2.0), count)
        fluid.layers.increment(turn)
        fluid.layers.less_than(turn, last, cond=goes_on)


def _costs_of_a_formula(times: float) -> list[float]:
    found, w, count, mean = [], np.ones(3), 0.0, X.mean(axis=0)
    for _ in range(3):
        factor = count + 2 * (count + 1) + 3 * (count + 1) * times + 0.5
        count = (count + 1) * times
        found.append(factor * float(mean @ w))
        w = w - 0.01 * factor * mean
    return found
