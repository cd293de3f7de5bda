"""Adamax, Adam with the largest recent gradient in place of a mean of squares.

    M = beta1 * M + (1 - beta1) * g
    U = max(beta2 * U + epsilon, |g|)
    w = w - lr / (1 - beta1^t) * M / U     where U is 0, w stays
    w = sign(w) * max(|w| - lr * l1, 0) / (1 + lr * l2)

t is the step. Slots: first (M) and largest (U), both in units of the gradient.

Semantics: PaddlePaddle's fluid and 2.x, and v2, which has no epsilon and divides 0 by 0 where an element has
had no gradient yet; penalties, schedules and idle rows as in lazy Adam.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.rules.rule import Rule, kernels


@dataclass(frozen=True)
class Adamax(Rule):
    """Moves by the mean of recent gradients over the largest of them."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 0.0

    penalties_follow = True

    @property
    def slots(self) -> tuple[str, ...]:
        """The first moment and the largest gradient."""
        return ("first", "largest")

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        corrected = learning_rate / (1.0 - self.beta1**step)
        numbers = (np.float32(n) for n in (corrected, self.beta1, self.beta2, self.epsilon))
        kernels().adamax(*touched, np.float32(learning_rate), slots[0], slots[1], *numbers)
