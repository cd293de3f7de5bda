"""Measure: what one evaluator has seen of some batches.

It must never know a network. Guarantee: measures of one meter add up, in whatever pieces batches come, and
what they say then is of all that was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from paddle._engine.program import Variable


class Measure(Protocol):
    """What one evaluator has seen. ``said``: its numbers, by what is appended to the evaluator's name."""

    def __add__(self, other: Self) -> Self: ...

    def said(self) -> Mapping[str, float]: ...


@dataclass(frozen=True)
class Meter:
    """One evaluator: the variables that a run must fetch for it, and the measure that follows from them.

    ``measure`` gets their values and the number of samples. ``endings``: of the names of its numbers.
    """

    name: str
    reads: tuple[Variable, ...]
    measure: Callable[[Sequence[np.ndarray], int], Any]
    endings: tuple[str, ...] = ("",)

    @property
    def names(self) -> list[str]:
        """Of all its numbers."""
        return [self.name + ending for ending in self.endings]


@dataclass(frozen=True)
class Ratio:
    """A sum and what it is divided by."""

    total: float
    count: float

    def __add__(self, other: Ratio) -> Ratio:
        return Ratio(self.total + other.total, self.count + other.count)

    def said(self) -> Mapping[str, float]:
        """The one over the other, 0 where there is nothing."""
        return {"": self.total / self.count if self.count else 0.0}


@dataclass(frozen=True)
class Silence:
    """What a printer says of a pass."""

    def __add__(self, other: Silence) -> Silence:
        return self

    def said(self) -> Mapping[str, float]:
        """Nothing."""
        return {}
