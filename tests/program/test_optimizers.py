"""Optimizers against their formulas in float64, and what programs see of what they remember."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from paddle._program.description.guards import default_main_program, default_startup_program
from paddle._program.description.variable import Variable
from paddle._program.description.written import fresh
from paddle._program.moving.averaging import ExponentialMovingAverage, LookaheadOptimizer, ModelAverage
from paddle._program.running.executor import Executor
from paddle._program.running.scope import Scope, global_scope, scope_guard
from paddle._program.writing import optimizers
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.optimizer import Optimizer
from paddle._program.writing.param_attr import ParamAttr
from paddle._program.writing.regularizer import L2Decay

X = np.array([[1.0, -2.0, 0.5], [0.3, 0.1, -1.0]], np.float32)


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with fresh():
        yield


def _linear_loss(learning_rate: float = 1.0) -> Variable:
    helper = LayerHelper("net")
    block = helper.main_program.global_block()
    x = block.create_var("x", shape=[-1, 3], dtype="float32", is_data=True, stop_gradient=True)
    w = helper.create_parameter(ParamAttr(name="w", learning_rate=learning_rate), [3, 1], "float32")
    out, loss = (helper.create_variable_for_type_inference("float32") for _ in range(2))
    helper.append_op("mul", {"X": [x], "Y": [w]}, {"Out": [out]})
    helper.append_op("mean", {"X": [out]}, {"Out": [loss]})
    return loss


def _value(name: str) -> np.ndarray:
    found = global_scope().find_var(name)
    assert found is not None, name
    return np.array(found.get_tensor())


def _trained(optimizer: Optimizer, steps: int) -> tuple[np.ndarray, np.ndarray]:
    optimizer.minimize(_linear_loss())
    exe = Executor()
    exe.run(default_startup_program())
    before = _value("w")
    for step in range(steps):
        exe.run(default_main_program(), feed={"x": X * (step + 1)})
    return before.astype(np.float64), _value("w")


def _gradients(steps: int) -> list[np.ndarray]:
    return [X.astype(np.float64).mean(axis=0)[:, None] * (step + 1) for step in range(steps)]


def _adam(w: np.ndarray, gs: list[np.ndarray]) -> np.ndarray:
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t, g in enumerate(gs, 1):
        m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g**2
        w = w - 0.1 * np.sqrt(1 - 0.9**t) / (1 - 0.8**t) * m / (np.sqrt(v) + 1e-4)
    return w


def _momentum(w: np.ndarray, gs: list[np.ndarray]) -> np.ndarray:
    v = np.zeros_like(w)
    for g in gs:
        v = 0.9 * v + g
        w = w - 0.1 * (g + 0.9 * v)
    return w


def _adagrad(w: np.ndarray, gs: list[np.ndarray]) -> np.ndarray:
    s = np.full_like(w, 0.5)
    for g in gs:
        s = s + g**2
        w = w - 0.1 * g / (np.sqrt(s) + 1e-4)
    return w


def _adadelta(w: np.ndarray, gs: list[np.ndarray]) -> np.ndarray:
    e, d = np.zeros_like(w), np.zeros_like(w)
    for g in gs:
        e = 0.9 * e + 0.1 * g**2
        move = -np.sqrt((d + 1e-4) / (e + 1e-4)) * g
        d = 0.9 * d + 0.1 * move**2
        w = w - np.sqrt((d + 1e-4) / (e + 1e-4)) * g
    return w


def _adamax(w: np.ndarray, gs: list[np.ndarray]) -> np.ndarray:
    m, most = np.zeros_like(w), np.zeros_like(w)
    for t, g in enumerate(gs, 1):
        m, most = 0.8 * m + 0.2 * g, np.maximum(0.9 * most + 1e-4, np.abs(g))
        w = w - 0.1 / (1 - 0.8**t) * m / most
    return w


def _decayed_adagrad(w: np.ndarray, gs: list[np.ndarray]) -> np.ndarray:
    s = np.zeros_like(w)
    for g in gs:
        s = 0.9 * s + 0.1 * g**2
        w = w - 0.1 * g / (np.sqrt(s) + 1e-4)
    return w


def _rmsprop(w: np.ndarray, gs: list[np.ndarray]) -> np.ndarray:
    s, mean, moved = np.zeros_like(w), np.zeros_like(w), np.zeros_like(w)
    for g in gs:
        s, mean = 0.9 * s + 0.1 * g**2, 0.9 * mean + 0.1 * g
        moved = 0.5 * moved + 0.1 * g / np.sqrt(s - mean**2 + 1e-4)
        w = w - moved
    return w


def _ftrl(w: np.ndarray, gs: list[np.ndarray]) -> np.ndarray:
    s, linear = np.zeros_like(w), np.zeros_like(w)
    for g in gs:
        linear = linear + g - (np.sqrt(s + g**2) - np.sqrt(s)) / 0.1 * w
        s = s + g**2
        reach = np.sign(linear) * 0.05 - linear
        w = np.where(np.abs(linear) > 0.05, reach / (np.sqrt(s) / 0.1 + 2 * 0.02), 0.0)
    return w


def _lamb(w: np.ndarray, gs: list[np.ndarray]) -> np.ndarray:
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t, g in enumerate(gs, 1):
        m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g**2
        way = m / (1 - 0.8**t) / (np.sqrt(v / (1 - 0.9**t)) + 1e-4) + 0.02 * w
        w = w - 0.1 * np.linalg.norm(w) / np.linalg.norm(way) * way
    return w


def _lars(w: np.ndarray, gs: list[np.ndarray]) -> np.ndarray:
    v = np.zeros_like(w)
    for g in gs:
        size = np.linalg.norm(w)
        rate = 0.1 * 0.1 * size / (np.linalg.norm(g) + 0.02 * size)
        v = 0.9 * v + rate * (g + 0.02 * w)
        w = w - v
    return w


def _private(w: np.ndarray, gs: list[np.ndarray]) -> np.ndarray:
    for g in gs:
        w = w - 0.1 * g / max(np.linalg.norm(g) / 0.5, 1)
    return w


CASES: list[tuple[Callable[[], Optimizer], Callable[..., np.ndarray]]] = [
    (lambda: optimizers.AdamOptimizer(0.1, beta1=0.8, beta2=0.9, epsilon=1e-4), _adam),
    (lambda: optimizers.MomentumOptimizer(0.1, 0.9, use_nesterov=True), _momentum),
    (lambda: optimizers.AdagradOptimizer(0.1, 1e-4, initial_accumulator_value=0.5), _adagrad),
    (lambda: optimizers.AdadeltaOptimizer(0.1, epsilon=1e-4, rho=0.9), _adadelta),
    (lambda: optimizers.AdamaxOptimizer(0.1, beta1=0.8, beta2=0.9, epsilon=1e-4), _adamax),
    (lambda: optimizers.DecayedAdagradOptimizer(0.1, decay=0.9, epsilon=1e-4), _decayed_adagrad),
    (lambda: optimizers.RMSPropOptimizer(0.1, 0.9, epsilon=1e-4, momentum=0.5, centered=True), _rmsprop),
    (lambda: optimizers.FtrlOptimizer(0.1, l1=0.05, l2=0.02), _ftrl),
    (lambda: optimizers.LambOptimizer(0.1, 0.02, beta1=0.8, beta2=0.9, epsilon=1e-4), _lamb),
    (lambda: optimizers.LarsMomentumOptimizer(0.1, 0.9, 0.1, 0.02), _lars),
    (lambda: optimizers.DpsgdOptimizer(0.1, clip=0.5, sigma=0.0), _private),
]


@pytest.mark.parametrize(("make", "formula"), CASES)
def test_an_optimizer_follows_its_formula(make: Any, formula: Any) -> None:
    before, after = _trained(make(), 4)
    np.testing.assert_allclose(after, formula(before, _gradients(4)), rtol=2e-5, atol=2e-6)


def test_what_is_remembered_is_seen_under_the_originals_names() -> None:
    _trained(optimizers.AdamOptimizer(0.1, beta1=0.8, beta2=0.9), 2)
    (one, two) = _gradients(2)
    np.testing.assert_allclose(_value("w_moment1_0"), 0.8 * 0.2 * one + 0.2 * two, rtol=1e-5)
    assert _value("w_beta1_pow_acc_0") == pytest.approx([0.8**3])
    assert _value("w_beta2_pow_acc_0") == pytest.approx([0.9**3])


def test_training_goes_on_from_what_was_remembered() -> None:
    optimizers.AdamOptimizer(0.1, beta1=0.8, beta2=0.9).minimize(_linear_loss())
    exe, main = Executor(), default_main_program()
    exe.run(default_startup_program())
    for _ in range(3):
        exe.run(main, feed={"x": X})
    names = [each.name for each in main.list_vars() if each.persistable]
    kept = {name: _value(name) for name in names}
    exe.run(main, feed={"x": X})
    expected = _value("w")
    for scope in (Scope(), global_scope()):  # a new process, and one that loads while it trains
        with scope_guard(scope):
            exe.run(default_startup_program())
            for name, value in kept.items():
                scope.var(name).get_tensor().set(value, None)
            exe.run(main, feed={"x": X})
            np.testing.assert_array_equal(_value("w"), expected)


def test_a_parameter_has_a_share_of_the_rate() -> None:
    optimizers.SGDOptimizer(0.1).minimize(_linear_loss(learning_rate=0.5))
    exe = Executor()
    exe.run(default_startup_program())
    before = _value("w")
    exe.run(default_main_program(), feed={"x": X})
    np.testing.assert_allclose(before - _value("w"), 0.05 * _gradients(1)[0], rtol=1e-4)


def test_gradients_may_be_changed_before_they_are_applied() -> None:
    optimizer = optimizers.SGDOptimizer(0.1)
    ((parameter, gradient),) = optimizer.backward(_linear_loss())
    block = default_main_program().global_block()
    doubled = block.create_var("doubled", dtype="float32")
    block.append_op("scale", {"X": [gradient]}, {"Out": [doubled]}, {"scale": 2.0})
    (op,) = optimizer.apply_gradients([(parameter, doubled)])
    assert (op.type, op.input("Grad")) == ("sgd", ["doubled"])
    exe = Executor()
    exe.run(default_startup_program())
    before = _value("w")
    exe.run(default_main_program(), feed={"x": X})
    np.testing.assert_allclose(before - _value("w"), 0.2 * _gradients(1)[0], rtol=1e-4)


def test_what_a_program_writes_to_a_parameter_ahead_of_its_update_is_what_moves() -> None:
    """A decay that is none of the gradient's is written so, behind the gradients and before they count."""
    optimizer = optimizers.SGDOptimizer(0.1)
    ((parameter, gradient),) = optimizer.backward(_linear_loss())
    block = default_main_program().global_block()
    block.append_op("scale", {"X": [parameter]}, {"Out": [parameter]}, {"scale": 0.5})
    optimizer.apply_gradients([(parameter, gradient)])
    exe = Executor()
    exe.run(default_startup_program())
    before = _value("w")
    for step in range(2):
        exe.run(default_main_program(), feed={"x": X})
        before = 0.5 * before - 0.1 * _gradients(1)[0]
        np.testing.assert_allclose(_value("w"), before, rtol=1e-5, err_msg=f"step {step}")


def test_an_optimizer_names_what_it_remembers() -> None:
    """Programs keep it by these names, beside the parameters, and set it again."""
    optimizer = optimizers.AdamOptimizer(0.1)
    assert optimizer.get_opti_var_name_list() == []
    optimizer.minimize(_linear_loss())
    kept = ["w_moment1_0", "w_moment2_0", "w_beta1_pow_acc_0", "w_beta2_pow_acc_0"]
    assert sorted(optimizer.get_opti_var_name_list()) == sorted(kept)
    block = default_main_program().global_block()
    assert all(block.var(name).persistable for name in kept)


@pytest.mark.parametrize("share", [1.0, 2.0])
@pytest.mark.parametrize("source", ["loss", "gradient"])
def test_a_rate_may_follow_from_the_loss_or_its_gradient(source: str, share: float) -> None:
    """What a gradient goes back through does not go ahead of all else; the update is told what it gives."""
    loss = _linear_loss(share)
    helper = LayerHelper("rate")
    mean, rate = (helper.create_variable_for_type_inference("float32") for _ in range(2))
    mean.stop_gradient = rate.stop_gradient = True
    optimizer = optimizers.SGDOptimizer(rate)
    pairs = optimizer.backward(loss)
    helper.append_op("mean", {"X": [loss if source == "loss" else pairs[0][1]]}, {"Out": [mean]})
    helper.append_op("scale", {"X": [mean]}, {"Out": [rate]}, {"scale": 0.1})
    optimizer.apply_gradients(pairs)
    exe = Executor()
    exe.run(default_startup_program())
    expected = _value("w").astype(np.float64)
    slope = _gradients(1)[0]
    for step in range(3):
        lost = (X @ expected).mean()
        told = 0.1 * (lost if source == "loss" else slope.mean())
        expected = expected - share * told * slope
        found = exe.run(default_main_program(), feed={"x": X}, fetch_list=[loss, rate])
        np.testing.assert_allclose([each.item() for each in found], [lost, told], rtol=1e-4)
        np.testing.assert_allclose(_value("w"), expected, rtol=1e-4, err_msg=f"step {step}")


def test_a_gradient_that_is_fetched_by_its_name_has_the_decay_in_it() -> None:
    pairs = optimizers.SGDOptimizer(0.1, regularization=L2Decay(0.5)).minimize(_linear_loss())[1]
    assert [gradient.name for _, gradient in pairs] == ["w@GRAD"]
    exe = Executor()
    exe.run(default_startup_program())
    before = _value("w")
    (found,) = exe.run(default_main_program(), feed={"x": X}, fetch_list=["w@GRAD"])
    np.testing.assert_allclose(found, _gradients(1)[0] + 0.5 * before, rtol=1e-5)


def test_parameters_are_their_averages_within_a_block() -> None:
    optimizers.SGDOptimizer(0.1).minimize(_linear_loss())
    averages = ModelAverage(1.0, min_average_window=100, max_average_window=100)
    exe, seen = Executor(), []
    exe.run(default_startup_program())
    with pytest.raises(ValueError, match="nothing averaged yet"), averages.apply(exe):
        pass
    for _ in range(4):
        exe.run(default_main_program(), feed={"x": X})
        seen.append(_value("w"))
    with averages.apply(exe):
        np.testing.assert_allclose(_value("w"), np.mean(seen, axis=0), rtol=1e-5)
    np.testing.assert_array_equal(_value("w"), seen[-1])
    exe.run(default_main_program(), feed={"x": X})
    np.testing.assert_allclose(_value("w"), seen[-1] - 0.1 * _gradients(1)[0], rtol=1e-4)


def test_a_moving_average_forgets_what_is_long_ago() -> None:
    optimizers.SGDOptimizer(0.1).minimize(_linear_loss())
    ema = ExponentialMovingAverage(0.5)
    ema.update()
    exe, seen = Executor(), []
    exe.run(default_startup_program())
    for _ in range(3):
        exe.run(default_main_program(), feed={"x": X})
        seen.append(_value("w"))
    with ema.apply(exe):
        expected = (0.125 * seen[0] + 0.25 * seen[1] + 0.5 * seen[2]) / 0.875
        np.testing.assert_allclose(_value("w"), expected, rtol=1e-5)
    np.testing.assert_array_equal(_value("w"), seen[-1])


def test_looking_ahead_goes_back_half_of_the_way() -> None:
    LookaheadOptimizer(optimizers.SGDOptimizer(0.1), alpha=0.5, k=2).minimize(_linear_loss())
    exe = Executor()
    exe.run(default_startup_program())
    before = _value("w")
    for expected in (1, 1, 2, 2):  # steps that are left of those that were taken
        exe.run(default_main_program(), feed={"x": X})
        moved = before - expected * 0.1 * _gradients(1)[0]
        np.testing.assert_allclose(_value("w"), moved, rtol=1e-4, atol=1e-6)
