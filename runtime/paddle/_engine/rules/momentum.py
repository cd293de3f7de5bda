"""Momentum, plain and sparse.

    v = m * v - lr * (g + l2 * w)
    w = w + v

Slots: velocity (v), in units of the value; none where m is 0.

Rows of a table: plain Momentum leaves a row alone until it is touched, as v2 does without ``sparse``.
With ``sparse`` a row that is touched after k steps without gradient first rolls on through them, which
is what v2's sparse momentum computes by other means (exactly so without L2):

    w = w + v * (m + m^2 + ... + m^k)
    v = m^k * v

Semantics: PaddlePaddle v2's "momentum" and "sparse_momentum" learning methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.rules.rule import Rule


@dataclass(frozen=True)
class Momentum(Rule):
    """Gradient descent with a velocity. ``sparse`` is 0 or 1, and tells only on rows."""

    momentum: float = 0.0
    sparse: float = 0.0

    @property
    def slots(self) -> tuple[str, ...]:
        """The velocity, if there is momentum."""
        return ("velocity",) if self.momentum else ()

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        from paddle._engine.kernels import rules

        velocity = slots[0] if slots else None
        numbers = np.float32(self.momentum), bool(self.sparse)
        rules.momentum(*touched, np.float32(learning_rate), velocity, *numbers)
