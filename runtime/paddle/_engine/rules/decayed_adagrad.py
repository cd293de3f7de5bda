"""Decayed AdaGrad.

    E = rho * E + (1 - rho) * g^2          at the first update E = g^2
    r = lr / sqrt(E + epsilon)
    v = m * v - r * (g + l2 * w)
    w = w + v

Slots: mean_square (E), in units of the gradient squared; velocity (v) where the parameter has momentum
m.

An idle row's E fades, E = rho * E; its velocity stays. The penalties of idle steps are all taken at the rate
that E gives at their end, as in v2: an approximation.

Semantics: PaddlePaddle v2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.penalties import Penalties
from paddle._engine.rules.rule import Idle, Rule, kernels


@dataclass(frozen=True)
class DecayedAdaGrad(Rule):
    """A rate per element that follows the squares of its recent gradients."""

    momentum: float = 0.0
    rho: float = 0.95
    epsilon: float = 1e-6

    @property
    def slots(self) -> tuple[str, ...]:
        """The mean of squares, and the velocity if there is momentum."""
        return ("mean_square", "velocity") if self.momentum else ("mean_square",)

    def changes_idle_rows(self, penalties: Penalties) -> bool:
        """See Rule."""
        return True

    def _catch_up(self, idle: Idle) -> None:
        from paddle._engine.kernels.idle import fade

        for mean in idle.slots[:1]:
            fade(mean, *idle.who[1:], self.rho)
        self._decay(idle)

    def _pace(self, slots: Sequence[np.ndarray]) -> np.ndarray:
        pace: np.ndarray = 1 / np.sqrt(slots[0] + self.epsilon)
        return pace

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        velocity = slots[1] if self.momentum else None
        numbers = np.float32(self.momentum), np.float32(self.rho), np.float32(self.epsilon)
        kernels().decayed_adagrad(*touched, np.float32(learning_rate), slots[0], velocity, *numbers)
