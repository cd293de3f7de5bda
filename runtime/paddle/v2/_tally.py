"""Tallies: cost and metrics of some batches, which add up to those of a pass or a test.

They must never know how a metric is computed. Guarantee: what a tally reports is per sample over all that was
added, so batches of unequal size count by their size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from paddle._engine.program import Variable
from paddle.v2._measures.measure import Measure, Meter
from paddle.v2._measures.meters import meters

__all__ = ["Meter", "Tally", "meters", "tally", "variables"]


@dataclass
class Tally:
    """Sums over samples: of the cost, and what each evaluator has seen, by its name."""

    samples: int = 0
    cost_sum: float = 0.0
    measures: dict[str, Measure] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        """Take another tally in."""
        self.samples += other.samples
        self.cost_sum += other.cost_sum
        for name, measure in other.measures.items():
            known = self.measures.get(name)
            self.measures[name] = measure if known is None else known + measure

    @property
    def cost(self) -> float:
        """The cost per sample."""
        return self.cost_sum / self.samples if self.samples else 0.0

    @property
    def metrics(self) -> dict[str, float]:
        """Each metric by name."""
        if not self.measures:
            return {}
        said = {name: measure.said() for name, measure in self.measures.items()}
        return {name + ending: value for name, each in said.items() for ending, value in each.items()}


def tally(found: Sequence[Meter], samples: int, values: Sequence[np.ndarray]) -> Tally:
    """The tally of one run that fetched the cost and then :func:`variables`."""
    cost, *read = values
    if not found:
        return Tally(samples, float(cost[0]))
    left = iter(read)
    measures = {meter.name: meter.measure([next(left) for _ in meter.reads], samples) for meter in found}
    return Tally(samples, float(cost[0]), measures)


def variables(found: Sequence[Meter]) -> list[Variable]:
    """What a run must fetch for these meters, in order."""
    return [variable for meter in found for variable in meter.reads]
