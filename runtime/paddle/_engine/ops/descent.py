"""Descent: a product of matrices that is a gradient, subtracted from its parameter instead of being kept.

No face writes this operator. A pass makes it (passes/descent.py) where the exchange lends the parameter.
"""

from __future__ import annotations

from collections.abc import Mapping

from paddle._engine.blas import add_product
from paddle._engine.errors import ExchangeError, ShapeError
from paddle._engine.exchange import Lending
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Kernel, Row, Steps


def _shape(forms: Forms) -> Mapping[str, Form]:
    x, slope, parameter = (shapes.matrix(forms, slot) for slot in ("X", "Slope", "Param"))
    if parameter.shape != (x.shape[1], slope.shape[1]) or not shapes.agree(x.shape[0], slope.shape[0]):
        raise ShapeError(
            f"X.T @ Slope of {list(x.shape)} and {list(slope.shape)} is no gradient of "
            f"{list(parameter.shape)}"
        )
    return {}


def _descend(call: Call) -> Steps:
    run, multiplier = call.run, call.attrs["multiplier"]
    add, exchange = add_product(call["X"], call["Slope"], call["Param"]), run.exchange
    if not isinstance(exchange, Lending):
        raise ExchangeError("a parameter can be moved by its trainer only where the exchange lends it")

    def step() -> None:
        rate = exchange.rate(run.samples) if run.rate is None else run.rate
        add(-rate * multiplier)

    yield step


ROWS = (
    Row(
        type="descend",
        inputs=("X", "Slope", "Param"),
        outputs=(),
        attrs={"multiplier": 1.0},
        shape=_shape,
        forward=Kernel(_descend),
    ),
)
