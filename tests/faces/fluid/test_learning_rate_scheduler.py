"""Schedules of learning rates against what they mean, and what the parameters were moved by."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers

STEPS = 9


def _cycle(step: int) -> float:
    total = 5 * max(1, math.ceil(step / 5))
    return (0.1 - 0.01) * (1 - step / total) ** 2 + 0.01


def _warm(step: int) -> float:
    return 0.1 * step if step < 4 else 0.3 if step < 6 else 0.1


SCHEDULES: dict[str, tuple[Callable[[], fluid.Variable], Callable[[int], float]]] = {
    "exponential": (lambda: layers.exponential_decay(0.1, 3, 0.5), lambda i: 0.1 * 0.5 ** (i / 3)),
    "stairs": (
        lambda: layers.exponential_decay(0.1, 3, 0.5, staircase=True),
        lambda i: 0.1 * 0.5 ** (i // 3),
    ),
    "natural": (lambda: layers.natural_exp_decay(0.1, 3, 0.5), lambda i: 0.1 * math.exp(-0.5 * i / 3)),
    "inverse": (lambda: layers.inverse_time_decay(0.1, 3, 0.5), lambda i: 0.1 / (1 + 0.5 * i / 3)),
    "polynomial": (
        lambda: layers.polynomial_decay(0.1, 5, 0.01, 2.0),
        lambda i: (0.1 - 0.01) * (1 - min(i, 5) / 5) ** 2 + 0.01,
    ),
    "cycle": (lambda: layers.polynomial_decay(0.1, 5, 0.01, 2.0, cycle=True), _cycle),
    "piecewise": (
        lambda: layers.piecewise_decay([3, 6], [0.3, 0.2, 0.1]),
        lambda i: 0.3 if i < 3 else 0.2 if i < 6 else 0.1,
    ),
    "cosine": (
        lambda: layers.cosine_decay(0.1, 2, 6),
        lambda i: 0.05 * (math.cos((i // 2) * math.pi / 6) + 1),
    ),
    "noam": (
        lambda: layers.noam_decay(64, 4),
        lambda i: 64**-0.5 * min((i + 1) ** -0.5, (i + 1) * 4**-1.5),
    ),
    "warmup": (lambda: layers.linear_lr_warmup(layers.piecewise_decay([6], [0.3, 0.1]), 4, 0.0, 0.4), _warm),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_step_is_made_at_the_rate_of_its_schedule(name: str) -> None:
    make, meant = SCHEDULES[name]
    x = layers.data(name="x", shape=[1], dtype="float32")
    loss = layers.mean(layers.fc(x, 1, bias_attr=False))
    rate = make()
    fluid.optimizer.SGD(learning_rate=rate).minimize(loss)
    exe, weights, told = fluid.Executor(), [], []
    exe.run(fluid.default_startup_program())
    for _ in range(STEPS):
        weights.append(float(np.array(fluid.global_scope().find_var("fc_0.w_0").get_tensor())[0, 0]))
        told.append(exe.run(feed={"x": np.ones((2, 1), np.float32)}, fetch_list=[rate])[0].item())
    expected = [meant(step) for step in range(STEPS)]
    np.testing.assert_allclose(told, expected, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(-np.diff(weights), expected[:-1], rtol=1e-5, atol=1e-6)


def test_a_rate_that_is_written_behind_the_step_is_for_the_next_one() -> None:
    """As a reader of the program expects it, and the original does."""
    x = layers.data(name="x", shape=[1], dtype="float32")
    loss = layers.mean(layers.fc(x, 1, bias_attr=False))
    rate = layers.create_global_var([1], 1.0, "float32", persistable=True, name="rate")
    fluid.optimizer.SGD(rate).minimize(loss)
    layers.assign(rate * 0.5, output=rate)
    exe, weights = fluid.Executor(), []
    exe.run(fluid.default_startup_program())
    for _ in range(4):
        weights.append(float(np.array(fluid.global_scope().find_var("fc_0.w_0").get_tensor())[0, 0]))
        exe.run(feed={"x": np.ones((2, 1), np.float32)})
    np.testing.assert_allclose(-np.diff(weights), [1.0, 0.5, 0.25], rtol=1e-5)


def test_a_schedule_behind_another_optimizers_step_is_of_its_own_step() -> None:
    x = layers.data(name="x", shape=[1], dtype="float32")
    fluid.optimizer.SGD(0.5).minimize(layers.mean(layers.fc(x, 1, bias_attr=False)))
    loss = layers.mean(layers.fc(x, 1, bias_attr=False))
    fluid.optimizer.SGD(layers.exponential_decay(0.4, 1, 0.5)).minimize(loss)
    exe, weights = fluid.Executor(), []
    exe.run(fluid.default_startup_program())
    for _ in range(4):
        held = [fluid.global_scope().find_var(f"fc_{at}.w_0").get_tensor() for at in (0, 1)]
        weights.append([float(np.array(each)[0, 0]) for each in held])
        exe.run(feed={"x": np.ones((2, 1), np.float32)})
    wanted = [[0.5, 0.4], [0.5, 0.2], [0.5, 0.1]]
    np.testing.assert_allclose(-np.diff(weights, axis=0), wanted, rtol=1e-5)


def test_a_program_for_tests_does_not_count_steps() -> None:
    x = layers.data(name="x", shape=[1], dtype="float32")
    loss = layers.mean(layers.fc(x, 1))
    test = fluid.default_main_program().clone(for_test=True)
    fluid.optimizer.SGD(learning_rate=layers.exponential_decay(0.1, 1, 0.5)).minimize(loss)
    after = fluid.default_main_program().clone(for_test=True)
    assert [op.type for op in after.global_block().ops] == [op.type for op in test.global_block().ops]


def test_boundaries_and_values_have_to_fit() -> None:
    with pytest.raises(ValueError, match="2 boundaries divide steps among 3 values, and 2 are given"):
        layers.piecewise_decay([1, 2], [0.1, 0.2])
    with pytest.raises(ValueError, match="in order"):
        layers.piecewise_decay([2, 1], [0.1, 0.2, 0.3])


def test_a_counter_of_ones_own() -> None:
    counter = layers.autoincreased_step_counter(begin=5, step=2)
    assert layers.autoincreased_step_counter() is counter
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    assert [exe.run(fetch_list=[counter])[0].item() for _ in range(3)] == [6, 8, 10]  # as 1.8.5
