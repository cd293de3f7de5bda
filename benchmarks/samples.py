"""Samples taken in rounds, and the few statistics drawn from them.

Other work disturbs a machine for seconds at a time, so contenders take turns (A B C A B C ...) and are
compared within a round, where they met the same disturbance; the median over rounds drops those that were hit
unevenly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Quantity = Literal["wall", "cpu", "speed", "memory"]


@dataclass(frozen=True, slots=True)
class Sample:
    """Seconds per unit of work: elapsed, and of processor time in all processes that took part.

    ``peak``: the most bytes that the contender's process ever had in memory, in all samples alike.
    """

    wall_s: float
    cpu_s: float
    peak: int = 0

    def value(self, quantity: Quantity) -> float:
        """The named figure; ``speed`` is units per elapsed second."""
        if quantity == "speed":
            return 1.0 / self.wall_s
        return {"wall": self.wall_s, "cpu": self.cpu_s, "memory": float(self.peak)}[quantity]


def take_turns(measures: Mapping[str, Callable[[], Sample]], rounds: int) -> dict[str, list[Sample]]:
    """One sample of each contender per round, in the given order."""
    samples: dict[str, list[Sample]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            samples[name].append(measure())
    return samples


def ratios(of: Sequence[Sample], against: Sequence[Sample], quantity: Quantity) -> list[float]:
    """Round by round, how many times the other's figure this one's is."""
    return [a.value(quantity) / b.value(quantity) for a, b in zip(of, against, strict=True)]


def spread(values: Sequence[float]) -> tuple[float, float]:
    """The range that holds the middle half of the values."""
    ordered = sorted(values)
    quarter = len(ordered) // 4
    return ordered[quarter], ordered[-1 - quarter]
