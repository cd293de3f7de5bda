"""Several exchanges of one scope, as one: each is given the gradients of its own parameters.

A program with two optimizers has two, and one that reads what another program trains. It must never know a
rule. Guarantee: every gradient reaches the one exchange that keeps its parameter, every exchange that moves
something here takes one step a run, and none is read while it still brings what another program's step asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from paddle._engine.exchange import SteppingAhead, StepReport
from paddle._engine.rows import SparseRows

if TYPE_CHECKING:
    from paddle._program.moving.keeping import Keeper


class Several:
    """``movers``: those keepers that step, at ``rates``; ``others`` only bring rows."""

    rates: Sequence[float | None] = ()

    def __init__(self, movers: Sequence[Keeper], others: Sequence[Keeper]) -> None:
        self._movers = movers
        self._keepers = {name: each for each in (*others, *movers) for name in each.group.names}
        exchanges = [each.exchange for each in (*others, *movers)]
        self._ahead = [each for each in exchanges if isinstance(each, SteppingAhead)]

    def settle(self) -> None:
        """Before a run: wait for what is still brought by a step of a program of one exchange alone."""
        for each in self._ahead:
            each.settle()

    def room(self) -> dict[str, np.ndarray]:
        """See Exchange."""
        return {name: array for each in self._movers for name, array in each.exchange.room().items()}

    def prefetch(self, rows: Mapping[str, np.ndarray]) -> None:
        """See Stepping."""
        for name, ids in rows.items():
            self._keepers[name].exchange.prefetch({name: ids})

    def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> Mapping[str, np.ndarray]:
        """See Stepping."""
        return {
            name: self._keepers[name].exchange.lookup({name: of}, training=training)[name]
            for name, of in ids.items()
        }

    def step(
        self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> StepReport:
        """See Stepping."""
        report = StepReport(0)
        for each, own_rate in zip(self._movers, self.rates, strict=True):
            own = {name: gradients[name] for name in each.group.names if name in gradients}
            report = each.exchange.step(own, samples, rate=own_rate)
        return report
