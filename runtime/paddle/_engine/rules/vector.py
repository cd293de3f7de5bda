"""Vector: one dense parameter and how its rule updates it, step after step.

To a rule it is one row of a table that every step touches. It must never know which rule that is. Guarantee:
what does not change from step to step is made once: of a small parameter that is most of what a step costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paddle._engine.penalties import Penalties

Update = Callable[[tuple[Any, ...], Sequence[np.ndarray], float, int], None]
"""What calls the kernel of a rule; see ``Rule``."""

_ONE_ROW = np.zeros(1, np.int64)


class Vector:
    """See the module's text. ``values``: flat float32 (n,), and so is each of ``slots``; they are updated in
    place."""

    def __init__(
        self, update: Update, values: np.ndarray, slots: Sequence[np.ndarray], penalties: Penalties
    ) -> None:
        self._update = update
        self._table = values.reshape(1, -1)
        self._slots = [slot.reshape(1, -1) for slot in slots]
        self._last_step = np.zeros(1, np.int64)
        self._numbers = penalties.numbers

    def step(self, gradient: np.ndarray, learning_rate: float, step: int) -> None:
        """Update by ``gradient`` (n,), which is left as it is; the others as in ``Rule.rows``."""
        self._last_step[0] = step - 1
        touched = (self._table, _ONE_ROW, gradient[None], self._last_step, *self._numbers)
        self._update(touched, self._slots, learning_rate, step)
