"""Parts: a store of rows, in which values and slots of one lie side by side, as arrays of each.

It must never know what a part means. Guarantee: nothing is copied.
"""

from __future__ import annotations

import numpy as np


def views(store: np.ndarray, width: int, parts: int) -> list[np.ndarray]:
    """A ``store``, float32 (rows, parts * width), as arrays of ``width`` of values and of each slot: what is
    in row r of the store is in row r * parts of each of them."""
    flat = store.reshape(-1)
    shape = len(store) * parts - parts + 1, width
    return [flat[part * width : part * width + shape[0] * width].reshape(shape) for part in range(parts)]
