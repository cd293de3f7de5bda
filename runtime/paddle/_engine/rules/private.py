"""Gradient descent that hides what single samples say: no gradient is longer than told, and noise is added.

    s = max(|g| / most, 1)
    w = w - lr * (g / s + noise / batch)              noise is one normal number, of the deviation spread

The length is taken over a whole parameter, which therefore lives on one shard, and over each row of a table
for itself. The noise follows from the seed, the step and the number of elements alone, so that a job that is
restored, or computed elsewhere, has the same: it is as secret as the seed is.
Slots: none. Penalties follow the step, and idle rows are left as they are.

Semantics: PaddlePaddle 1.8's dpsgd, whose seed is the clock of the machine, in seconds: parameters that are
moved within one share their number there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.rules.rule import Rule


@dataclass(frozen=True)
class PrivateSGD(Rule):
    """See the module's text."""

    most: float = 0.9
    batch: float = 0.999
    spread: float = 1e-8
    seed: float = 0.0

    needs_whole = True
    penalties_follow = True

    @property
    def slots(self) -> tuple[str, ...]:
        """No state."""
        return ()

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        table, index, gradient, _, clip, l1, l2 = touched
        noise = self._noise(step, table.shape[1])
        for row, slope in zip(index.tolist(), gradient, strict=True):
            held = np.clip(slope, -clip, clip).astype(np.float64)
            held /= max(float(np.sqrt(held @ held)) / self.most, 1.0)
            value = table[row] - learning_rate * (held + noise)
            if l1 + l2 > 0:
                size = np.maximum(np.abs(value) - learning_rate * float(l1), 0)
                value = np.sign(value) * size / (1 + learning_rate * float(l2))
            table[row] = value

    def _noise(self, step: int, size: int) -> float:
        if not self.spread:
            return 0.0
        key = np.array([int(self.seed) % 2**64, (step % 2**32) << 32 | size % 2**32], np.uint64)
        drawn = np.random.Generator(np.random.Philox(key=key)).standard_normal()
        return float(drawn) * self.spread / self.batch
