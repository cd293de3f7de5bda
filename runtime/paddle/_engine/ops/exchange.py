"""The exchange: where a training step hands over its gradients and gets its parameters back."""

from __future__ import annotations

from collections.abc import Mapping

from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import SteppingAhead, StepReport
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Kernel, Row, Steps

PENDING = StepReport(version=0)
"""Stands for what an exchange will say of a step that is under way."""


def _shape(forms: Forms) -> Mapping[str, Form]:
    return {}


def _exchange(call: Call) -> Steps:
    """The arrays handed over are the plan's own, the same ones on every run."""
    names, run = call.operator.inputs["Param"], call.run
    gradients = {
        name: value for name, value in zip(names, call.slots["Grad"], strict=True) if value is not None
    }

    exchange = run.exchange
    ahead = exchange if isinstance(exchange, SteppingAhead) else None  # to ask takes long: not at every step

    def step() -> None:
        if exchange is None:
            raise ExchangeError("the program trains, but its executor was made without an exchange")
        run.report = exchange.step(gradients, run.samples, rate=run.rate)

    def commit() -> None:
        if ahead is not None:
            ahead.commit(gradients, run.samples, rate=run.rate)
            run.report = PENDING

    yield step if ahead is None else commit


ROWS = (
    Row(type="exchange", inputs=("Param*", "Grad*"), outputs=(), shape=_shape, forward=Kernel(_exchange)),
)
