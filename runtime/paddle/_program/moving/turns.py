"""An exchange that several threads share: whatever they ask of it is done in turn.

It must never know a gradient. Guarantee: a step of one thread is applied as a whole before another's; what
others compute with meanwhile may be old in a part and new in another (Hogwild, decision 0072).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from paddle._engine.exchange import Stepping, StepReport
from paddle._engine.rows import SparseRows

Lock = AbstractContextManager[Any]
"""One that whoever holds it may take again, a threading.RLock."""


class InTurn:
    """See the module's text. ``lock``: one for all threads."""

    def __init__(self, exchange: Stepping, lock: Lock) -> None:
        self._exchange, self._lock = exchange, lock

    def prefetch(self, rows: Mapping[str, np.ndarray]) -> None:
        """See Stepping."""
        with self._lock:
            self._exchange.prefetch(rows)

    def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> Mapping[str, np.ndarray]:
        """See Stepping."""
        with self._lock:
            return self._exchange.lookup(ids, training=training)

    def step(
        self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> StepReport:
        """See Stepping."""
        with self._lock:
            return self._exchange.step(gradients, samples, rate=rate)
