"""RMSProp, the centred form.

    E = rho * E + (1 - rho) * g^2          at the first update E = g^2
    F = rho * F + (1 - rho) * g
    r = lr / sqrt(max(E - F^2, 0) + epsilon)
    v = m * v - r * (g + l2 * w)
    w = w + v

Slots: mean_square (E), in units of the gradient squared; mean (F), in units of the gradient; velocity
(v) where the parameter has momentum m.

An idle row's E and F fade; its velocity stays. The penalties of idle steps are all taken at the rate that E
and F give at their end, as in v2: an approximation.

Semantics: PaddlePaddle v2, which lacks the max: there the rounding of E - F^2 can take the root of a
negative.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.penalties import Penalties
from paddle._engine.rules.rule import Idle, Rule, kernels


@dataclass(frozen=True)
class RMSProp(Rule):
    """A rate per element that follows the spread of its recent gradients."""

    momentum: float = 0.0
    rho: float = 0.95
    epsilon: float = 1e-6

    @property
    def slots(self) -> tuple[str, ...]:
        """The means of squares and of gradients, and the velocity if there is momentum."""
        return ("mean_square", "mean", "velocity") if self.momentum else ("mean_square", "mean")

    def changes_idle_rows(self, penalties: Penalties) -> bool:
        """See Rule."""
        return True

    def _catch_up(self, idle: Idle) -> None:
        from paddle._engine.kernels.idle import fade

        for mean in idle.slots[:2]:
            fade(mean, *idle.who[1:], self.rho)
        self._decay(idle)

    def _pace(self, slots: Sequence[np.ndarray]) -> np.ndarray:
        pace: np.ndarray = 1 / np.sqrt(np.maximum(slots[0] - slots[1] ** 2, 0) + self.epsilon)
        return pace

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        velocity = slots[2] if self.momentum else None
        numbers = np.float32(self.momentum), np.float32(self.rho), np.float32(self.epsilon)
        kernels().rmsprop(*touched, np.float32(learning_rate), slots[0], slots[1], velocity, *numbers)
