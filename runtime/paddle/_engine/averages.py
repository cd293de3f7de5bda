"""Averages: parameters averaged over the last steps, beside the parameters themselves.

What is averaged is the value after each step. A window of steps grows until it is as long as the spec says;
then it becomes the one before, and a new window begins: the average is over both. It must never know who
reads it.

A row of a table counts with its value in every step, also in those that passed it by: as if these had led
it along a straight line.

Semantics: PaddlePaddle's ModelAverage, v2's and fluid's. A window is long enough with ``min_window`` steps
that are also ``max_window``, or ``window`` times the steps of the whole job, rounded down, whichever is less.
Sums are moved to a second array every 16,384 steps, so that adding loses no digits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from paddle._engine.exchange import AverageSpec

ARRAYS = 3
"""How many arrays of a parameter's size its average keeps."""

_STEPS_IN_ONE_SUM = 1 << 14
_ROWS_AT_ONCE = 1 << 14


class Average:
    """The average of one dense parameter's flat values, or of a table's rows."""

    def __init__(self, values: np.ndarray, spec: AverageSpec) -> None:
        self._spec = spec
        self._sums = np.zeros((ARRAYS, *values.shape), np.float32)  # newest, older, the window before
        self._counts = np.zeros(3, np.int64)  # steps in all, in this window, in the one before
        self._seen = np.zeros(len(values) if values.ndim > 1 else 0, np.int64)  # a row's steps in the sums

    def state(self) -> dict[str, np.ndarray]:
        """All that there is to it, by kind; the live arrays."""
        return {"average sums": self._sums, "average counts": self._counts, "average rows": self._seen}

    def add(self, values: np.ndarray) -> None:
        """A step has made a dense parameter's ``values``."""
        self._sums[0] += values

    def add_rows(self, table: np.ndarray, index: np.ndarray, step: int) -> None:
        """A step has made rows ``index`` of a table, each once; idle steps before it were added."""
        self._sums[0][index] += table[index]
        self._seen[index] = step

    def behind(self, index: np.ndarray | None, step: int) -> Iterator[np.ndarray]:
        """The rows among ``index`` (None: all), each once, that lack steps before ``step`` or that step."""
        if index is not None:
            yield np.unique(index[self._seen[index] < step])
            return
        for start in range(0, len(self._seen), _ROWS_AT_ONCE):
            yield start + np.flatnonzero(self._seen[start : start + _ROWS_AT_ONCE] < step)

    def add_idle(self, index: np.ndarray, before: np.ndarray, after: np.ndarray, step: int) -> None:
        """Steps up to ``step`` passed rows ``index`` by, each once, and led from ``before`` to ``after``."""
        steps = (step - self._seen[index]).astype(np.float32)[:, None]
        self._sums[0][index] += (steps - 1) / 2 * before + (steps + 1) / 2 * after
        self._seen[index] = step

    def end_step(self) -> bool:
        """A step is over; whether its window is long enough. Then add all rows, and call ``roll``."""
        self._counts[:2] += 1
        updates, held = int(self._counts[0]), int(self._counts[1])
        if updates % _STEPS_IN_ONE_SUM == 0:
            self._sums[1] += self._sums[0]
            self._sums[0] = 0
        longest = min(self._spec.max_window, int(np.float32(updates) * np.float32(self._spec.window)))
        return held >= self._spec.min_window and held >= longest

    def roll(self) -> None:
        """This window becomes the one before."""
        np.add(self._sums[0], self._sums[1], out=self._sums[2])
        self._sums[:2] = 0
        self._counts[1:] = 0, self._counts[1]

    def mean(self, values: np.ndarray) -> np.ndarray:
        """The average, a new array; ``values``, as they are now, before the first step."""
        steps = int(self._counts[1] + self._counts[2])
        if not steps:
            return values.copy()
        mean: np.ndarray = (self._sums[0] + self._sums[1] + self._sums[2]) / np.float32(steps)
        return mean


def average_of(values: np.ndarray, spec: AverageSpec | None) -> Average | None:
    """The average of ``values``, if there is to be one."""
    return None if spec is None else Average(values, spec)


def state_of(average: Average | None) -> Mapping[str, np.ndarray]:
    """The state of an average, none where there is none."""
    return {} if average is None else average.state()
