"""AdaDelta.

    E = rho * E + (1 - rho) * g^2
    s = sqrt((D + epsilon) / (E + epsilon))
    D = rho * D + (1 - rho) * (s * g)^2
    v = m * v - lr * s * (g + l2 * w)
    w = w + v

Slots: mean_square (E), in units of the gradient squared; mean_square_move (D), in units of the value
squared; velocity (v) where the parameter has momentum m.

Semantics: PaddlePaddle v2, which refuses sparse parameters here; ours leaves
the slots of an idle row as they are (the "lazy" way), and applies its penalties at the rate these give.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.rules.rule import Rule, kernels


@dataclass(frozen=True)
class AdaDelta(Rule):
    """A rate per element in the ratio of its recent moves to its recent gradients."""

    momentum: float = 0.0
    rho: float = 0.95
    epsilon: float = 1e-6

    @property
    def slots(self) -> tuple[str, ...]:
        """The means of squared gradients and moves, and the velocity if there is momentum."""
        means = ("mean_square", "mean_square_move")
        return (*means, "velocity") if self.momentum else means

    def _pace(self, slots: Sequence[np.ndarray]) -> np.ndarray:
        pace: np.ndarray = np.sqrt((slots[1] + self.epsilon) / (slots[0] + self.epsilon))
        return pace

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        velocity = slots[2] if self.momentum else None
        numbers = np.float32(self.momentum), np.float32(self.rho), np.float32(self.epsilon)
        kernels().adadelta(*touched, np.float32(learning_rate), slots[0], slots[1], velocity, *numbers)
