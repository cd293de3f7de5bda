"""What a step costs besides its arithmetic: of a small model that is most of it, so it is counted, in calls
of functions of this package. What is the same at every step is made once, and not asked for again.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import paddle
import paddle.fluid
import paddle.v2
from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.exchange import RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Constant
from paddle._engine.scope import Scope
from paddle._program.description.written import fresh
from paddle._pserver.trainer.local import LocalExchange

RUNTIME = str(Path(paddle.__file__).parent)


def calls_of(step: Callable[[], object]) -> list[str]:
    """The functions of the package that a step calls, in order; what it does for the first time is over."""
    for _ in range(3):
        step()
    called: list[str] = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(RUNTIME):
            called.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}")

    before = sys.getprofile()
    gc.collect()
    gc.disable()  # what it calls of objects that others have left is no part of a step
    sys.setprofile(note)
    try:
        step()
    finally:
        sys.setprofile(before)
        gc.enable()
    return called


def regression() -> Callable[[], object]:
    b = Builder()
    w, bias = b.parameter("w", (13, 1), Constant()), b.parameter("b", (1,), Constant())
    predicted = b.op("elementwise_add", X=b.op("mul", X=b.data("x", (-1, 13)), Y=w), Y=bias)
    cost = b.op("square_error_cost", X=predicted, Label=b.data("y", (-1, 1)))
    program, scope, exchange = b.program, Scope(), LocalExchange()
    append_exchange(program, append_backward(program, cost))
    initialize(program, scope, seed=0)
    update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=1e-3))
    parameters = program.parameters()
    values = {each.name: scope.get(each.name) for each in parameters}
    scope.bind(exchange.start([each.spec for each in parameters], update, values))
    executor = Executor(scope, exchange, exchange.room())
    feed = {"x": np.ones((20, 13), np.float32), "y": np.ones((20, 1), np.float32)}
    return lambda: executor.run(program, feed, [cost], samples=20)


def test_a_step_of_linear_regression_is_at_most_26_calls() -> None:
    called = calls_of(regression())
    assert len(called) <= 26, called


def test_nothing_is_remembered_anew_of_a_program_that_is_known() -> None:
    """To make what is remembered of one seeds a generator, which took a fifth of such a step."""
    assert "room.py:__init__" not in calls_of(regression())


def public(executor: Any) -> Callable[[], object]:
    """A step as programs take it: they feed arrays by name, and fetch the loss."""
    static = paddle.static
    with fresh(is_static=True), static.program_guard(main := static.Program(), begin := static.Program()):
        predicted = static.nn.fc(static.data("x", [None, 13]), 1)
        cost = paddle.nn.functional.square_error_cost(predicted, static.data("y", [None, 1]))
        loss = paddle.mean(cost)
        paddle.optimizer.SGD(1e-3).minimize(loss)
    exe, scope = executor(), paddle.static.Scope()
    exe.run(begin, scope=scope)
    feed = {"x": np.ones((20, 13), np.float32), "y": np.ones((20, 1), np.float32)}
    return lambda: exe.run(main, feed=feed, fetch_list=[loss], scope=scope)


@pytest.mark.parametrize("face", ["static", "fluid"])
def test_a_step_that_an_executor_of_programs_was_asked_before_is_at_most_40_calls(face: str) -> None:
    """They were 62, when all was looked at anew."""
    called = calls_of(public(getattr(paddle, face).Executor))
    assert len(called) <= 40, called


def test_a_batch_of_linear_regression_in_v2_is_at_most_54_calls() -> None:
    paddle.v2.init(use_gpu=False, trainer_count=1)
    layer, types = paddle.v2.layer, paddle.v2.data_type
    x = layer.data(name="x", type=types.dense_vector(13))
    y = layer.data(name="y", type=types.dense_vector(1))
    cost = layer.square_error_cost(
        input=layer.fc(input=x, size=1, act=paddle.v2.activation.Linear()), label=y
    )
    trainer = paddle.v2.trainer.SGD(
        cost=cost,
        parameters=paddle.v2.parameters.create(cost),
        update_equation=paddle.v2.optimizer.Momentum(momentum=0, learning_rate=1e-3),
    )
    rows = [(np.ones(13, np.float32), np.ones(1, np.float32))] * 20

    def batches(count: int) -> Callable[[], object]:
        return lambda: trainer.train(lambda: iter([rows] * count), 1)

    several, one = (len(calls_of(batches(count))) for count in (11, 1))
    assert several - one <= 10 * 54
