"""A table's own rule, over rows that are counted: how often each was shown, and clicked.

A row is [shows, clicks, w, x1, x2, ...], and so is its gradient: the counts of a push, then slopes. w is
moved by one rule and all x by another, each with a rate of its own, whatever the job's is:

    naive         w = w - rate * g
    adagrad       s = g / shows;   w = w - rate * s * sqrt(first_sum / (first_sum + G));   G = G + mean(s^2)
    std_adagrad   likewise, with a G for every number
    adam          m, v, and rate * sqrt(1 - beta2^n) / (1 - beta1^n), n counting the row's own steps

then the part's bounds. A row is made by the first push that names it. Its x are drawn then, and are zero
until the push with which the row's score, of all shows and clicks so far, reaches the threshold; that push
does not move them. ``fade`` ends a day: counts decay, and a row whose score is too low is to be forgotten.

A push that counts no shows divides by none (the original's numbers are infinite then).
Slots: ``memory``, as kernels/counted_rows.py says, and ``other``, second moments, where there is Adam.

Semantics: PaddlePaddle 2.2 to 2.6, SparseAccessor (CtrCommonAccessor up to 2.3) and its rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from paddle._engine.penalties import Penalties
from paddle._engine.rows import COUNTS, TableRows
from paddle._engine.rules.rule import Rule

_ADAM = 3.0


@dataclass(frozen=True)
class Counted(Rule):
    """See the module's text. All options are numbers. ``kind``: 0 naive, 1 adagrad, 2 std_adagrad, 3 adam.
    ``reach``: how far from zero a number may begin. ``least``, ``most``: bounds. Those of x: ``x_...``.

    A row's score is ``show`` times what was only shown, and ``click`` times what was clicked. ``keep``: the
    part of counts that a day leaves; rows below ``least_score``, or untouched for more than ``days``, are
    forgotten. ``begins_at_zero``, ``by_shows``: 1 where w begins at zero, and slopes are divided by shows."""

    kind: float = 1.0
    rate: float = 0.05
    first_sum: float = 3.0
    reach: float = 1e-4
    least: float = -10.0
    most: float = 10.0
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    x_kind: float = 1.0
    x_rate: float = 0.05
    x_first_sum: float = 3.0
    x_reach: float = 1e-4
    x_least: float = -10.0
    x_most: float = 10.0
    x_beta1: float = 0.9
    x_beta2: float = 0.999
    x_epsilon: float = 1e-8
    begins_at_zero: float = 1.0
    by_shows: float = 1.0
    show: float = 0.1
    click: float = 1.0
    threshold: float = 0.0
    keep: float = 1.0
    least_score: float = 0.0
    days: float = 30.0

    counts: ClassVar[int] = COUNTS

    @property
    def slots(self) -> tuple[str, ...]:
        """What is remembered, and second moments."""
        return ("memory", "other") if _ADAM in (self.kind, self.x_kind) else ("memory",)

    def changes_idle_rows(self, penalties: Penalties) -> bool:
        """No."""
        return False

    @cached_property
    def _numbers(self) -> tuple[np.ndarray, np.ndarray]:
        names = ("kind", "rate", "first_sum", "least", "most", "beta1", "beta2", "epsilon")
        parts = [[getattr(self, before + name) for name in names] for before in ("", "x_")]
        counting = [self.show, self.click, self.threshold, self.by_shows]
        return _as_told(parts), _as_told(counting)

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        from paddle._engine.kernels import counted_rows  # loads numba

        table, index, gradient, *_ = touched
        counted_rows.move(table, index, gradient, slots[0], slots[-1], *self._numbers)

    def begin(self, made: np.ndarray, width: int) -> None:
        """What rows begin with: ``made`` float32 (n, width for values and each slot), whose values are drawn
        between -1 and 1, and whose slots are zero."""
        values, memory = made[:, :width], made[:, width : 2 * width]
        reach = 0.0 if self.begins_at_zero and width > COUNTS + 1 else self.reach
        memory[:, COUNTS + 1 :] = np.clip(values[:, COUNTS + 1 :] * self.x_reach, self.x_least, self.x_most)
        values[:, COUNTS] = np.clip(values[:, COUNTS] * reach, self.least, self.most) if reach else 0
        values[:, :COUNTS] = values[:, COUNTS + 1 :] = 0

    def whole(self, rows: TableRows, width: int) -> TableRows:
        """Rows as a table has them that nobody counted, float32 (n, width), as this rule's: all of their
        numbers are there, and nobody was shown any. Rows that have more numbers are as they were."""
        if rows.values.shape[1] != width:
            return rows
        counts = np.zeros((len(rows.ids), COUNTS), np.float32)
        memory = np.zeros((len(rows.ids), COUNTS + width), np.float32)
        memory[:, 0] = 1
        return TableRows(rows.ids, np.concatenate([counts, rows.values], axis=1), {self.slots[0]: memory})

    def begun_anew(self, memory: np.ndarray) -> dict[str, np.ndarray]:
        """What is remembered of rows of which another rule has ``memory`` float32 (n, width): whether their x
        are there, or what these will be."""
        is_whole = memory[:, :1] != 0
        made = np.where(is_whole, np.float32(0), memory)
        made[:, :1], made[:, 1 : COUNTS + 1] = is_whole, 0
        return {slot: made if slot == self.slots[0] else np.zeros_like(made) for slot in self.slots}

    def fade(self, rows: np.ndarray, days: int) -> tuple[int, np.ndarray]:
        """See Rule: counts decay, and who has a low score goes."""
        counts = rows[:, :COUNTS]
        counts *= np.float32(self.keep)
        shows, clicks = counts[:, 0], counts[:, 1]
        low = (shows - clicks) * np.float32(self.show) + clicks * np.float32(self.click)
        return int(self.days) + 2, low < np.float32(self.least_score)


def _as_told(numbers: Any) -> np.ndarray:
    """As float64 of what the original has as float32."""
    return np.array(numbers, np.float32).astype(np.float64)
