"""Lamb, Adam whose step has the length of the values it moves.

    M = beta1 * M + (1 - beta1) * g
    V = beta2 * V + (1 - beta2) * g^2
    d = M / (1 - beta1^t) / (sqrt(V / (1 - beta2^t)) + epsilon) + weight_decay * w
    w = w - lr * |w| / |d| * d                        where a length is 0, w - lr * d

and w - lr * d without always_adapt, where weight_decay is 0.

t is the step. Slots: first (M), in units of the gradient; second (V), in units of the gradient squared.

Lengths are taken over a whole parameter, which therefore lives on one shard, and over each row of a table for
itself, so that a step costs what it touches. The penalties of a job or parameter follow the step, and idle
rows are left as they are, as in lazy Adam.

Semantics: PaddlePaddle 2.x, always_adapt of 2.4 and later. Releases before 2.0 lack the divisions by
1 - beta^t, and their rows share one length, that of the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.rules.rule import Rule, kernels


@dataclass(frozen=True)
class Lamb(Rule):
    """Moves by a share of each parameter's own length, for large batches."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-6
    weight_decay: float = 0.01
    always_adapt: float = 1.0

    needs_whole = True
    penalties_follow = True

    @property
    def slots(self) -> tuple[str, ...]:
        """The first and second moments."""
        return ("first", "second")

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        corrections = 1.0 - self.beta1**step, 1.0 - self.beta2**step
        adapts = self.always_adapt or self.weight_decay
        numbers = (*corrections, self.beta1, self.beta2, self.epsilon, self.weight_decay, adapts)
        rates = (np.float32(n) for n in numbers)
        kernels().lamb(*touched, np.float32(learning_rate), slots[0], slots[1], *rates)
