"""Descent: a product of matrices that is a gradient, subtracted from its parameter instead of being kept.

``Below`` is the slope of X, where the operator makes that, too. No face writes this operator. A pass makes it
(passes/descent.py) where the exchange lends the parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from paddle._engine import tiled
from paddle._engine.blas import Step, add_product, by_transpose
from paddle._engine.errors import ExchangeError, ShapeError
from paddle._engine.exchange import Lending
from paddle._engine.ops import parts, shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Kernel, Row, Steps
from paddle._engine.teams import shared


def _shape(forms: Forms) -> Mapping[str, Form]:
    x, slope, parameter = (shapes.matrix(forms, slot) for slot in ("X", "Slope", "Param"))
    if parameter.shape != (x.shape[1], slope.shape[1]) or not shapes.agree(x.shape[0], slope.shape[0]):
        raise ShapeError(
            f"X.T @ Slope of {list(x.shape)} and {list(slope.shape)} is not a gradient of "
            f"{list(parameter.shape)}"
        )
    return {"Below": x}


def _room(forms: Forms) -> Mapping[str, Form]:
    return tiled.room_back(forms["X"], forms["Param"])


def _descend(call: Call) -> Steps:
    """The slope of X is that by the parameter as it was."""
    x, slope, parameter = call["X"], call["Slope"], call["Param"]
    below, crew = call.wanted("Below"), call.run.crew
    rows = shared.spans(crew, len(x), parameter, axis=0)
    if len(rows) > 1:
        steps = [
            parts.back(x, slope, parameter, each, target=parameter, below=below, is_added=True)
            for each in rows
        ]
        yield _moving(call, shared.together(crew, steps))
        return
    move = tiled.multiply_back(
        x, slope, parameter, target=parameter, below=below, room=call.scratch, is_added=True
    )
    if move is None and below is not None:
        yield from (tiled.flushed(each, parameter) for each in by_transpose(slope, parameter, below))
    yield _moving(call, tiled.flushed(move or add_product(x, slope, parameter), parameter))


def _moving(call: Call, add: Step) -> Callable[[], None]:
    run, exchange, multiplier = call.run, call.run.exchange, call.attrs["multiplier"]
    if not isinstance(exchange, Lending):
        raise ExchangeError("a parameter can be moved by its trainer only where the exchange lends it")

    def step() -> None:
        rate = exchange.rate(run.samples) if run.rate is None else run.rate
        add(-rate * multiplier)

    return step


ROWS = (
    Row(
        type="descend",
        inputs=("X", "Slope", "Param"),
        outputs=("Below",),
        attrs={"multiplier": 1.0},
        shape=_shape,
        forward=Kernel(_descend, scratch=_room),
    ),
)
