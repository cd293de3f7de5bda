"""Rates: the learning rates of past steps, for rows of a table that steps passed by.

Steps whose rates lie within a thousandth of each other are one run, which remembers their mean: a constant
rate is one run for ever, one that falls to a thousandth of itself about 7,000. One that goes up and down for
ever (a cycle, warm restarts) would be a run for every step; so of ``MOST`` runs the older half are joined,
two by two, and what is older becomes coarser. It must never know a row.

Guarantee: the mean of a run is that of its steps, and there are never more than ``MOST``. What a row makes of
a run differs from what it would make of each rate alone by about a millionth of one run's penalties; for one
that half of ``MOST`` runs have passed by, by what their rates lie apart.
"""

from __future__ import annotations

import numpy as np

_TOLERANCE = 1e-3
MOST = 1 << 16  # a mebibyte in each snapshot


class Rates:
    """The rates of all steps after ``step``, in order."""

    def __init__(self, step: int = 0) -> None:
        self._step = step
        self._first = 0.0  # rate of the last run's first step
        self._sum, self._count = 0.0, 0  # over the last run
        self._runs = 0
        self._ends = np.zeros(16, np.int64)
        self._means = np.zeros(16)

    def add(self, rate: float) -> None:
        """One step more, taken at ``rate``."""
        self._step += 1
        if not self._runs or abs(rate - self._first) > _TOLERANCE * abs(self._first):
            self._begin(rate)
        self._sum += rate
        self._count += 1
        self._ends[self._runs - 1] = self._step
        self._means[self._runs - 1] = self._sum / self._count

    def _begin(self, rate: float) -> None:
        if self._runs >= MOST:
            self._coarsen()
        if self._runs == len(self._ends):
            self._ends, self._means = (np.concatenate([a, np.zeros_like(a)]) for a in self.runs)
        self._first, self._sum, self._count = rate, 0.0, 0
        self._runs += 1

    def _coarsen(self) -> None:
        """Join the runs of the older half two by two, but for the first, whose beginning is forgotten."""
        ends, means = self.runs
        old = slice(1, len(ends) // 4 * 2 + 1)
        steps = np.diff(ends[: old.stop]).reshape(-1, 2)
        joined = (means[old].reshape(-1, 2) * steps).sum(axis=1) / steps.sum(axis=1)
        self._ends, self._means = (
            np.concatenate([all_of_them[:1], some, all_of_them[old.stop :]])
            for all_of_them, some in ((ends, ends[old][1::2]), (means, joined))
        )
        self._runs = len(self._ends)

    @property
    def runs(self) -> tuple[np.ndarray, np.ndarray]:
        """Per run its last step, int64, and its mean rate, float64. Views: use them before the next step."""
        return self._ends[: self._runs], self._means[: self._runs]

    def state(self) -> np.ndarray:
        """Everything, as float64 numbers."""
        head = np.array([self._step, self._first, self._sum, self._count], np.float64)
        return np.concatenate([head, *self.runs])

    @classmethod
    def restored(cls, state: np.ndarray) -> Rates:
        """What gave ``state``."""
        step, first, total, count = state[:4].tolist()
        rates = cls(int(step))
        rates._first, rates._sum, rates._count = first, total, int(count)
        rates._runs = (len(state) - 4) // 2
        ends, means = state[4:].reshape(2, -1)
        if rates._runs:
            rates._ends, rates._means = ends.astype(np.int64), means.copy()
        return rates

    def forget(self) -> None:
        """No row needs the steps so far any more."""
        self._runs = 0


def moved(state: np.ndarray, steps: int) -> np.ndarray:
    """A state as it would be had it all been ``steps`` later."""
    rates = Rates.restored(state)
    rates._step += steps
    rates._ends += steps
    return rates.state()
