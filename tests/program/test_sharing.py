"""Several programs, and several optimizers, over the parameters of one scope."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from paddle._program.description.guards import default_main_program, default_startup_program, program_guard
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.description.written import fresh
from paddle._program.running.executor import Executor
from paddle._program.running.scope import global_scope
from paddle._program.writing import optimizers
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.param_attr import ParamAttr

X = np.array([[1.0, -2.0], [0.5, 3.0]], np.float32)


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with fresh():
        yield


def _data() -> Variable:
    block = default_main_program().global_block()
    return block.create_var("x", shape=[-1, 2], dtype="float32", is_data=True, stop_gradient=True)


def _fc(x: Variable, name: str, size: int = 2) -> Variable:
    helper = LayerHelper("fc")
    w = helper.create_parameter(ParamAttr(name=name), [2, size], "float32")
    out = helper.create_variable_for_type_inference("float32")
    helper.append_op("mul", {"X": [x], "Y": [w]}, {"Out": [out]})
    return out


def _mean(x: Variable) -> Variable:
    helper = LayerHelper("mean")
    out = helper.create_variable_for_type_inference("float32")
    helper.append_op("mean", {"X": [x]}, {"Out": [out]})
    return out


def _value(name: str) -> np.ndarray:
    found = global_scope().find_var(name)
    assert found is not None
    return np.array(found.get_tensor())


def _set(name: str, value: Any) -> None:
    found = global_scope().find_var(name)
    assert found is not None
    found.get_tensor().set(np.asarray(value, np.float32), None)


def _slope(width: int = 2) -> np.ndarray:
    """Of the mean of x times w, by w."""
    return np.repeat(X.mean(axis=0)[:, None] / width, width, axis=1)


def test_two_optimizers_of_one_program_move_their_own_parameters() -> None:
    x = _data()
    first, second = _mean(_fc(x, "a")), _mean(_fc(x, "b"))
    optimizers.SGDOptimizer(0.1).minimize(first, parameter_list=["a"])
    optimizers.MomentumOptimizer(0.2, 0.9).minimize(second, parameter_list=["b"])
    exe = Executor()
    exe.run(default_startup_program())
    before = {name: _value(name) for name in "ab"}
    for _ in range(2):
        losses = exe.run(default_main_program(), feed={"x": X}, fetch_list=[first, second])
    assert all(np.isfinite(each) for each in losses)
    np.testing.assert_allclose(before["a"] - _value("a"), 0.1 * 2 * _slope(), rtol=1e-4)
    np.testing.assert_allclose(before["b"] - _value("b"), 0.2 * (1 + 1.9) * _slope(), rtol=1e-4)


def test_programs_that_take_turns_go_on_from_each_others_values() -> None:
    """As two players of one game do: one moves a, the other moves a and b."""
    startup, main, other = default_startup_program(), default_main_program(), Program()
    optimizers.AdamOptimizer(0.1).minimize(_mean(_fc(_data(), "a")))
    with program_guard(other, startup):
        loss = _mean(_fc(_fc(_data(), "a"), "b"))
        optimizers.SGDOptimizer(0.5).minimize(loss)
    exe = Executor()
    exe.run(startup)
    for _ in range(3):
        exe.run(main, feed={"x": X})
        a, b = _value("a"), _value("b")
        (seen,) = exe.run(other, feed={"x": X}, fetch_list=[loss])
        np.testing.assert_allclose(seen, [(X @ a @ b).mean()], rtol=1e-4)
        g = np.full((2, 2), 0.25, np.float32)
        np.testing.assert_allclose(_value("a"), a - 0.5 * X.T @ (g @ b.T), rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(_value("b"), b - 0.5 * (X @ a).T @ g, rtol=1e-4, atol=1e-6)


def test_optimizers_of_two_programs_remember_each_for_itself() -> None:
    """As a GAN tells by one program what is real and by another what is made."""
    startup, main, other = default_startup_program(), default_main_program(), Program()
    optimizers.MomentumOptimizer(0.1, 0.5).minimize(_mean(_fc(_data(), "a")))
    with program_guard(other, startup):
        optimizers.MomentumOptimizer(0.1, 0.5).minimize(_mean(_fc(_data(), "a")))
    exe = Executor()
    exe.run(startup)
    before, slope = _value("a"), _slope()
    for program, feed in ((main, X), (other, -X), (other, -X), (main, X)):
        exe.run(program, feed={"x": feed})
    np.testing.assert_allclose(_value("a_velocity_0"), 1.5 * slope, rtol=1e-5)
    np.testing.assert_allclose(_value("a_velocity_1"), -1.5 * slope, rtol=1e-5)
    np.testing.assert_allclose(_value("a"), before, atol=1e-6)
    exe.run(other.clone(), feed={"x": -X})  # a copy goes on with what the program remembers
    np.testing.assert_allclose(_value("a_velocity_1"), -1.75 * slope, rtol=1e-5)


def test_a_test_program_sees_what_training_did_and_changes_nothing() -> None:
    loss = _mean(_fc(_data(), "a"))
    test = default_main_program().clone(for_test=True)
    optimizers.SGDOptimizer(0.1).minimize(loss)
    late = default_main_program().clone(for_test=True)
    assert [op.type for op in late.global_block().ops] == [op.type for op in test.global_block().ops]
    exe = Executor()
    exe.run(default_startup_program())
    for _ in range(2):
        exe.run(default_main_program(), feed={"x": X})
        expected = (X @ _value("a")).mean()
        for program in (test, late):
            (seen,) = exe.run(program, feed={"x": X}, fetch_list=[loss.name])
            assert seen == pytest.approx([expected], rel=1e-5)


def test_a_program_that_was_copied_goes_on_with_what_is_remembered() -> None:
    optimizers.AdamOptimizer(0.1).minimize(_mean(_fc(_data(), "a")))
    exe, copied = Executor(), default_main_program().clone()
    exe.run(default_startup_program())
    exe.run(default_main_program(), feed={"x": X})
    exe.run(copied, feed={"x": X})
    assert _value("a_beta1_pow_acc_0") == pytest.approx([0.9**3])


def test_running_the_startup_program_again_begins_anew() -> None:
    default_startup_program().random_seed = 7
    optimizers.AdamOptimizer(0.1).minimize(_mean(_fc(_data(), "a")))
    exe, seen = Executor(), []
    for _ in range(2):
        exe.run(default_startup_program())
        for _ in range(3):
            exe.run(default_main_program(), feed={"x": X})
        seen.append(_value("a"))
    np.testing.assert_array_equal(*seen)


def test_a_parameter_that_cannot_be_trained_stays() -> None:
    x = _data()
    hidden = _fc(x, "a")
    default_main_program().global_block().var("a").trainable = False  # type: ignore[attr-defined]
    loss = _mean(_fc(hidden, "b"))
    _, pairs = optimizers.SGDOptimizer(0.1).minimize(loss)
    assert [parameter.name for parameter, _ in pairs] == ["b"]
    loss = _mean(_fc(_fc(_data(), "c"), "d"))
    _, pairs = optimizers.SGDOptimizer(0.1).minimize(loss, no_grad_set={"d"})
    assert [parameter.name for parameter, _ in pairs] == ["c"]


def test_where_nothing_is_to_be_learned_minimize_says_so_and_the_program_runs() -> None:
    loss, hidden = _mean(_data()), _fc(_data(), "a")
    hidden.stop_gradient = True
    for each in (loss, _mean(hidden)):  # as in 1.8.5 and 2.6.2: no update, and no pair
        with pytest.warns(UserWarning, match="depends on no parameter") as told:
            assert optimizers.SGDOptimizer(0.1).minimize(each) == ([], [])
        assert [one.filename for one in told if one.category is UserWarning] == [__file__]
    Executor().run(default_startup_program())
    found, gradient = Executor().run(feed={"x": X}, fetch_list=[loss, loss.name + "@GRAD"])
    assert (found, gradient) == (np.mean(X), 1)


def test_a_parameter_of_another_shape_in_the_scope_is_refused_by_name() -> None:
    loss = _mean(_fc(_data(), "a"))
    exe = Executor()
    exe.run(default_startup_program())
    _set("a", np.zeros((3, 2)))
    with pytest.raises(ValueError, match="'a'"):
        exe.run(default_main_program(), feed={"x": X}, fetch_list=[loss])
