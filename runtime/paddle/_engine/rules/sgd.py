"""Plain stochastic gradient descent.

    w = w - lr * (g + l2 * w)

Slots: none. An idle row that has caught up equals a dense parameter.

Semantics: PaddlePaddle's first-order update with momentum 0; fluid's and 2.x's SGD.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.penalties import Penalties
from paddle._engine.rules.rule import Rule, kernels

_NO_MOMENTUM = np.float32(0)


@dataclass(frozen=True)
class SGD(Rule):
    """Gradient descent without memory."""

    @property
    def slots(self) -> tuple[str, ...]:
        """No state."""
        return ()

    def is_plain(self, penalties: Penalties) -> bool:
        """See Rule."""
        return penalties == Penalties()

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        kernels().momentum(*touched, np.float32(learning_rate), None, _NO_MOMENTUM)
