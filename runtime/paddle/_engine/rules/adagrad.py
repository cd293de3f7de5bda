"""AdaGrad.

    G = G + g^2
    r = lr / sqrt(G + epsilon)
    v = m * v - r * (g + l2 * w)
    w = w + v

Slots: square_sum (G), in units of the gradient squared; velocity (v) where the parameter has momentum m.

Semantics: PaddlePaddle v2, where AdaGrad takes a parameter's momentum and G starts at 0. v2 sums G in
two buffers against loss of precision; here it is one. v2's AdaGrad ignores learning rate schedules; here
every rule follows them.

An idle row keeps its slots, which is what a dense parameter without momentum does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.rules.rule import Rule, kernels


@dataclass(frozen=True)
class AdaGrad(Rule):
    """A rate per element that falls with the squares of all its gradients."""

    momentum: float = 0.0
    epsilon: float = 1e-6

    @property
    def slots(self) -> tuple[str, ...]:
        """The sum of squares, and the velocity if there is momentum."""
        return ("square_sum", "velocity") if self.momentum else ("square_sum",)

    def _pace(self, slots: Sequence[np.ndarray]) -> np.ndarray:
        pace: np.ndarray = 1 / np.sqrt(slots[0] + self.epsilon)
        return pace

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        velocity = slots[1] if self.momentum else None
        numbers = np.float32(self.momentum), np.float32(self.epsilon)
        kernels().adagrad(*touched, np.float32(learning_rate), slots[0], velocity, *numbers)
