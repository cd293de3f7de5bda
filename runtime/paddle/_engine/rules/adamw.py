"""Adam with decay of its own.

    w = w * (1 - lr * decay), then as Adam

Unlike an L2 rate, the decay is no part of any mean. Idle rows of a table do not decay.

Semantics: PaddlePaddle 2.x's AdamW (Loshchilov and Hutter's); its programs say ``corrected``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.rules.adam import Adam


@dataclass(frozen=True)
class AdamW(Adam):
    """``decay``: what a step takes away of a value, in rates."""

    decay: float = 0.01

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        table, rows = touched[:2]
        table[rows] *= np.float32(1.0 - learning_rate * self.decay)
        super()._update(touched, slots, learning_rate, step)
