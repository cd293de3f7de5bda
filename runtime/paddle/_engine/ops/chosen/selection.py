"""Products of which each row has columns of its own: all that are not asked for are not computed.

Source of the semantics: v2's ``selective_fc``. Guarantee: columns stand in the order in which they are asked
for, and rows of W that nobody asks for have no slope.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.ops import shapes
from paddle._engine.program import Form
from paddle._engine.registry import Call, Forms, Gradient, Index, Kernel, Row, Runs, Steps


def _shape(forms: Forms) -> Mapping[str, Form]:
    x, weights = shapes.matrix(forms, "X"), shapes.matrix(forms, "W")
    asked, starts = shapes.integers(forms, "Ids"), shapes.integers(forms, "Starts")
    if len(asked.shape) != 1:
        raise ShapeError(f"Ids must have the shape [n], got {list(asked.shape)}")
    if not shapes.agree(x.shape[1], weights.shape[1]):
        raise ShapeError(f"W has rows of {weights.shape[1]} columns, and X {x.shape[1]}")
    rows, count = x.shape[0], asked.shape[0]
    if starts.shape[0] > 0 and not shapes.agree(rows, starts.shape[0] - 1):
        raise ShapeError(f"of {rows} rows columns are asked for by {starts.shape[0] - 1}")
    return {"Out": Form((rows, count // rows if rows > 0 and count >= 0 else -1), x.dtype)}


class _Asked:
    """The columns of each row, as many of every one."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._starts, self._ids = call["Starts"], call["Ids"]

    def _columns(self) -> np.ndarray:
        counts = np.diff(self._starts)
        if not len(counts) or counts.min() != counts.max() or not counts[0]:
            raise FeedError(
                "each sample selects as many columns as every other one, and one or more: they select from "
                f"{counts.min(initial=0)} to {counts.max(initial=0)}"
            )
        return self._ids.reshape(len(counts), -1)

    def find(self) -> None:
        rows = self._call["W"][self._columns()]
        np.matmul(rows, self._call["X"][:, :, None], self._call["Out"][:, :, None])

    def back(self) -> None:
        columns, given = self._columns(), self._call["Out@GRAD"]
        if (dx := self._call.wanted("X@GRAD")) is not None:
            np.matmul(given[:, None, :], self._call["W"][columns], dx[:, None, :])
        if (dw := self._call.wanted("W@GRAD")) is not None:
            dw.fill(0)
            np.add.at(dw, columns, given[:, :, None] * self._call["X"][:, None, :])


def _find(call: Call) -> Steps:
    yield _Asked(call).find


def _back(call: Call) -> Steps:
    yield _Asked(call).back


ROWS = (
    Row(
        type="selected_mul",
        inputs=("X", "W", "Ids", "Starts"),
        shape=_shape,
        forward=Kernel(_find),
        gradient=Gradient(_back, of=("X", "W"), needs=("X", "W", "Ids", "Starts")),
        indexes=(Index("Ids", into="W", axis=0),),
        runs=(Runs("Starts", of="Ids"),),
    ),
)
