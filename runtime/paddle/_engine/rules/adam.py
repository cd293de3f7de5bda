"""Adam.

    M = beta1 * M + (1 - beta1) * g
    V = beta2 * V + (1 - beta2) * g^2
    w = w - lr * sqrt(1 - beta2^t) / (1 - beta1^t) * M / (sqrt(V) + epsilon)
    w = sign(w) * max(|w| - lr * l1, 0) / (1 + lr * l2)

t is the step. Slots: first (M), in units of the gradient; second (V), in units of the gradient squared.

Semantics: PaddlePaddle v2. There a dense parameter's L2 rate has no effect with Adam unless it has an L1
rate too; here the last line, v2's form for that case, always holds. v2 refuses sparse parameters here;
ours updates the rows that a step touches, with the job's t, and leaves the state of the others as it is.
v2's Adam ignores learning rate schedules; here every rule follows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from paddle._engine.rules.rule import Rule


@dataclass(frozen=True)
class Adam(Rule):
    """Moves by the mean of recent gradients over the root of the mean of their squares."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    @property
    def slots(self) -> tuple[str, ...]:
        """The first and second moments."""
        return ("first", "second")

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        from paddle._engine.kernels import rules

        corrected = learning_rate * sqrt(1.0 - self.beta2**step) / (1.0 - self.beta1**step)
        numbers = (np.float32(n) for n in (corrected, self.beta1, self.beta2, self.epsilon))
        rules.adam(*touched, np.float32(learning_rate), slots[0], slots[1], *numbers)
