"""An arena: one piece of new memory in which the arrays of a plan lie, where memory.py puts them.

It must never know what lies there. Guarantee: it begins where the widest vector registers like it.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.memory import ALIGNMENT


def arena(size: int) -> np.ndarray:
    """``size`` bytes, as uint8."""
    raw = np.empty(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]
