"""Momentum, plain and sparse.

    v = m * v - lr * (g + l2 * w)
    w = w + v

Slots: velocity (v), in units of the value; none where m is 0.

Idle rows: plain Momentum leaves the velocity as it is, as v2 does without ``sparse``, and applies penalties
as in SGD. With ``sparse`` a row rolls on through idle steps by the formula above with g = 0, so that it
equals a dense parameter; v2's sparse momentum computes the same by other means, with L2 only roughly.

Semantics: PaddlePaddle v2's "momentum" and "sparse_momentum" learning methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paddle._engine.penalties import Penalties
from paddle._engine.rules.rule import Idle, Rule, kernels, steps_to_nothing


@dataclass(frozen=True)
class Momentum(Rule):
    """Gradient descent with a velocity. ``sparse`` is 0 or 1, and tells only on rows."""

    momentum: float = 0.0
    sparse: float = 0.0

    @property
    def slots(self) -> tuple[str, ...]:
        """The velocity, if there is momentum."""
        return ("velocity",) if self.momentum else ()

    def changes_idle_rows(self, penalties: Penalties) -> bool:
        """See Rule."""
        return super().changes_idle_rows(penalties) or self._rolls

    @property
    def _rolls(self) -> bool:
        return bool(self.sparse and self.momentum)

    def _catch_up(self, idle: Idle) -> None:
        l1, l2 = idle.penalties.l1, idle.penalties.l2
        if not self._rolls:
            self._decay(idle)
            return
        from paddle._engine.kernels import idle as kernels

        if l1 > 0:
            numbers = self.momentum, steps_to_nothing(self.momentum)
            kernels.roll_shrinking(*idle.who, l1, l2, *idle.slots, *numbers, *idle.runs)
            self._decay(idle)
        else:
            kernels.roll(*idle.who, l2, *idle.slots, self.momentum, *idle.runs)

    def is_plain(self, penalties: Penalties) -> bool:
        """See Rule."""
        return not self.momentum and penalties == Penalties()

    def _update(
        self, touched: tuple[Any, ...], slots: Sequence[np.ndarray], learning_rate: float, step: int
    ) -> None:
        velocity = slots[0] if slots else None
        kernels().momentum(*touched, np.float32(learning_rate), velocity, np.float32(self.momentum))
