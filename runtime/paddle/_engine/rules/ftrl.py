"""Ftrl, "follow the regularized leader".

    G = A + g^2
    Z = Z + g - (G^-p - A^-p) / lr * w
    A = G
    w = (sign(Z) * l1 - Z) / (G^-p / lr + 2 * l2)     where |Z| > l1, else 0

p is ``lr_power``; l1 and l2 are the rule's own options. The penalties of a job or parameter follow the step,
as in Adam. Slots: square_sum (A), in units of the gradient squared; linear (Z), in units of the gradient.

A value that has had no gradient is 0 after the first step that covers it: the first values only weigh in the
first Z. An idle row keeps its values and slots (fluid's rows do): its values are those of the learning rate
of the step that touched it last.

Semantics: PaddlePaddle fluid, without the 1e-10 that some of its releases add to l1 and l2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.rules.rule import Rule, kernels


@dataclass(frozen=True)
class Ftrl(Rule):
    """Values that are exactly 0 until gradients speak for more, for sparse models."""

    l1: float = 0.0
    l2: float = 0.0
    lr_power: float = -0.5

    penalties_follow = True

    @property
    def slots(self) -> tuple[str, ...]:
        """The sum of squares, and the linear term."""
        return ("square_sum", "linear")

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        numbers = (np.float32(n) for n in (self.l1, self.l2, -self.lr_power))
        kernels().ftrl(*touched, np.float32(learning_rate), slots[0], slots[1], *numbers)
