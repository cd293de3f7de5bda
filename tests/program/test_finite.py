"""FLAGS_check_nan_inf: a run ends with the operator that first gave NaN or Inf, and the variable.

Operators are those that paddlepaddle 1.8.5 names of the same programs; names of variables are those of ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle._program import upstream_flags
from paddle.fluid import layers

FLAG = "FLAGS_check_nan_inf"


@pytest.fixture(autouse=True)
def checked() -> Iterator[None]:
    fluid.set_flags({FLAG: True})
    yield
    upstream_flags._set.pop(FLAG)
    upstream_flags.checks_finite.cache_clear()


def _start(value: float) -> Any:
    return fluid.ParamAttr(name="w", initializer=fluid.initializer.Constant(value))


def _weight(value: float) -> Any:
    return layers.create_parameter([2], "float32", attr=_start(value))


def _table(x: Any, is_sparse: bool = True) -> Any:
    ids = layers.reshape(layers.cast(x, "int64"), [-1, 1])
    return layers.embedding(ids, [4, 2], is_sparse=is_sparse, param_attr=_start(0.0))


def _loop(x: Any) -> Any:
    turn, last = layers.fill_constant([1], "int64", 0), layers.fill_constant([1], "int64", 2)
    total, goes_on = layers.fill_constant([1], "float32", 1e20), layers.less_than(turn, last)
    loop = layers.While(goes_on)
    with loop.block():
        layers.assign(total * total, total)
        layers.increment(turn)
        layers.less_than(turn, last, cond=goes_on)
    return x * _weight(1.0) + total


PROGRAMS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "where a sum is fused": (
        lambda x: layers.fc(x, 3, param_attr=_start(1e38)),
        "'mul' .*tmp_0' Inf: 6 of 6",
    ),
    "forwards": (lambda x: layers.log(x * _weight(-1.0)), "'log' .*'log_0.tmp_0' NaN: 4 of 4"),
    "backwards": (
        lambda x: layers.sqrt(x * _weight(0.0)),
        "'sqrt_grad' .*'tmp_0@GRAD' Inf: 4 of 4",
    ),
    "of an update": (lambda x: x * _weight(1.0) * 1e37, "'sgd' .*'w' Inf: 2 of 2"),
    "of rows": (lambda x: layers.sqrt(_table(x)), "'sqrt_grad' .*'embedding.*@GRAD' Inf: 8 of 8"),
    "in a loop": (_loop, "'elementwise_mul' .*Inf: 1 of 1"),
}


def _run(program: Callable[[Any], Any]) -> None:
    main, startup = fluid.Program(), fluid.Program()
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        cost = layers.reduce_sum(program(layers.data("x", [2])))
        fluid.optimizer.SGD(10.0).minimize(cost)
        exe = fluid.Executor(fluid.CPUPlace())
        exe.run(startup)
        exe.run(main, feed={"x": np.full((2, 2), 3.0, "float32")}, fetch_list=[cost])


@pytest.mark.parametrize("which", PROGRAMS)
def test_the_operator_and_the_variable_are_named(which: str) -> None:
    program, said = PROGRAMS[which]
    with pytest.raises(FloatingPointError, match=rf"operator {said}"):
        _run(program)


@pytest.mark.parametrize("which", PROGRAMS)
def test_nothing_is_looked_for_where_it_is_off(which: str) -> None:
    fluid.set_flags({FLAG: 0})
    _run(PROGRAMS[which][0])


def test_a_step_that_is_refused_has_moved_nothing() -> None:
    with pytest.raises(FloatingPointError):
        _run(PROGRAMS["backwards"][0])
    assert np.array(fluid.global_scope().find_var("w").get_tensor()).tolist() == [0.0, 0.0]


def test_first_values_are_looked_at() -> None:
    startup = fluid.Program()
    with fluid.program_guard(fluid.Program(), startup):
        layers.create_parameter([2], "float32", attr=_start(float("inf")))
    with pytest.raises(FloatingPointError, match=r"'fill_constant' .*'w' Inf: 2 of 2"):
        fluid.Executor().run(startup)


def test_what_needs_a_feed_that_is_not_given_is_passed_over() -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()):
        x, label = layers.data("x", [2]), layers.data("label", [2])
        wanted = layers.exp(x)
        layers.elementwise_mul(wanted, label)
        (found,) = fluid.Executor().run(feed={"x": np.zeros((1, 2), "float32")}, fetch_list=[wanted])
    assert found.tolist() == [[1.0, 1.0]]


def test_the_environment_switches_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    upstream_flags._set.clear()
    monkeypatch.setenv(FLAG, "1")
    upstream_flags.checks_finite.cache_clear()
    with pytest.raises(FloatingPointError, match="'log'"):
        _run(PROGRAMS["forwards"][0])
    upstream_flags._set[FLAG] = False


def test_other_values_of_it_are_refused() -> None:
    with pytest.raises(ValueError, match="FLAGS_check_nan_inf is 'maybe': it is 1 or 0"):
        fluid.set_flags({FLAG: "maybe"})
