"""Compensation: what a gradient lacks because the values that it was computed from have been moved since.

This is DC-ASGD (Zheng et al., 2017) with the factor 1 that PaddlePaddle gives it: with ``w`` the values now,
and ``b`` those that the trainer was given last, a gradient ``g`` counts as::

    g + g * g * (w - b)

Where nobody has pushed in between, that is ``g``. A trainer that has not been given any values by this shard,
as after a restart, is taken to have those of now.

It must never know a connection or a rule. Guarantee: a gradient that is told is left as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle._engine.exchange import UpdateSpec
from paddle._pserver.tables.gradient import Gradient
from paddle._pserver.tables.tables import Tables


class Compensation:
    """See the module's text. ``values``: the dense ones, live; ``sizes``: of the pieces that they consist of,
    one after another."""

    def __init__(self, values: np.ndarray, sizes: Sequence[int], trainers: int) -> None:
        self._values, self._ends = values, np.cumsum([0, *sizes]).tolist()
        self._given: list[np.ndarray | None] = [None] * trainers

    def gave(self, trainer: int, values: np.ndarray) -> None:
        """The trainer is given these values."""
        room = self._given[trainer]
        if room is None:
            self._given[trainer] = values.copy()
        else:
            np.copyto(room, values)

    def of(self, trainer: int, gradient: Gradient) -> Gradient:
        """A trainer's gradient, as it counts."""
        before = self._given[trainer]
        if before is None or not len(gradient.dense):
            return gradient
        whole = np.concatenate(gradient.dense)
        whole += whole * whole * (self._values - before)
        pieces = [whole[begin:end] for begin, end in zip(self._ends, self._ends[1:], strict=False)]
        return gradient._replace(dense=pieces, whole=whole)


def copies(trainers: int) -> int:
    """How many arrays as large as the dense values it needs."""
    return trainers + 2


def compensation_of(update: UpdateSpec, tables: Tables, trainers: int) -> Compensation | None:
    """None in a mode that compensates nothing."""
    if not update.mode.compensates:
        return None
    return Compensation(tables.values, [each.size for each in tables.layout.segments], trainers)
