"""Adam.

    M = beta1 * M + (1 - beta1) * g
    V = beta2 * V + (1 - beta2) * g^2
    w = w - lr * sqrt(1 - beta2^t) / (1 - beta1^t) * M / (sqrt(V) + e)
    w = sign(w) * max(|w| - lr * l1, 0) / (1 + lr * l2)

t is the step; e is epsilon, and epsilon * sqrt(1 - beta2^t) where it is ``corrected``. Slots: first (M), in
units of the gradient; second (V), in units of the gradient squared.

Idle rows: a ``lazy`` Adam leaves their slots as they are, and only penalties go on. One that is not rolls on
through idle steps by the formulas above with g = 0, so that it equals a dense parameter; what M moves is
computed step by step until M has faded, which costs a few hundred steps at most.

Semantics: PaddlePaddle v2, and fluid's ``lazy_mode`` for rows (v2 refuses them); 2.x is ``corrected``, as the
paper's algorithm is. In v2 a dense parameter's L2 rate has no effect with Adam unless it has an L1 rate too;
here the last line, v2's form for that case, always holds. v2's Adam ignores learning rate schedules; here all
rules follow them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from paddle._engine.penalties import Penalties
from paddle._engine.rules.rule import Idle, Rule, kernels, steps_to_nothing


@dataclass(frozen=True)
class Adam(Rule):
    """Moves by the mean of recent gradients over the root of the mean of their squares.

    ``lazy`` and ``corrected`` are 0 or 1; ``lazy`` tells only on rows.
    """

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    lazy: float = 1.0
    corrected: float = 0.0

    penalties_follow = True

    @property
    def slots(self) -> tuple[str, ...]:
        """The first and second moments."""
        return ("first", "second")

    def changes_idle_rows(self, penalties: Penalties) -> bool:
        """See Rule."""
        return super().changes_idle_rows(penalties) or not self.lazy

    def _catch_up(self, idle: Idle) -> None:
        if not self.lazy:
            from paddle._engine.kernels import idle as kernels

            fading = steps_to_nothing(self.beta1 / sqrt(self.beta2) if self.beta2 > 0 else 1.0)
            numbers = self.beta1, self.beta2, self.epsilon, self.corrected, fading
            kernels.adam(*idle.who, idle.penalties.l1, idle.penalties.l2, *idle.slots, *numbers, *idle.runs)
        self._decay(idle)

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        root = sqrt(1.0 - self.beta2**step)
        rate, epsilon = learning_rate * root / (1.0 - self.beta1**step), self.epsilon
        least = epsilon * root if self.corrected else epsilon
        numbers = (np.float32(n) for n in (rate, self.beta1, self.beta2, least))
        kernels().adam(*touched, np.float32(learning_rate), slots[0], slots[1], *numbers)
