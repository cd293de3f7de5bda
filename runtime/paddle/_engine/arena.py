"""An arena: the memory in which the arrays of an executor's plans lie, where memory.py puts them.

It must never know what lies there. Guarantee: it begins where the widest vector registers like it, and plans
that follow each other work in the same memory, as long as it is large enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.memory import ALIGNMENT

LEAST = 1 << 16
_GROWTH = 1.25
"""Batches of sequences are hardly ever of one length: a little larger, and the next ones fit as well."""


class Arena:
    """``memory``: uint8, all that there is; another array once it has grown. ``keep``: see registry.Run."""

    def __init__(self) -> None:
        self.memory = _aligned(LEAST)
        self.keep: dict[str, Any] = {}

    def room(self, size: int) -> np.ndarray:
        """``size`` bytes from its beginning, uint8: whatever was there may be overwritten."""
        if size > len(self.memory):
            is_first = len(self.memory) == LEAST
            self.memory = _aligned(size if is_first else max(size, int(len(self.memory) * _GROWTH)))
        return self.memory[:size]


def _aligned(size: int) -> np.ndarray:
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]
