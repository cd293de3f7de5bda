"""Summed rows: what several gradients of one table bring, as one.

It must never know a table. Guarantee: rows of one id are summed in order of occurrence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle._engine.kernels import interleaved
from paddle._pserver.tables.gradient import Rows


def summed(parts: Sequence[Rows]) -> tuple[np.ndarray, np.ndarray]:
    """Each id once, and the sum of its rows in order of occurrence."""
    ids = parts[0].ids if len(parts) == 1 else np.concatenate([part.ids for part in parts])
    values = parts[0].values if len(parts) == 1 else np.concatenate([part.values for part in parts])
    if (ids[1:] > ids[:-1]).all():
        return ids, values
    place, found = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
    scratch = np.empty(4 << (len(ids) - 1).bit_length(), np.int32)  # sparse, so that few ids meet in it
    count = interleaved.distinct(ids, scratch, place, found)
    if count == len(ids):
        return ids, values
    total = np.empty((count, values.shape[1]), np.float32)
    interleaved.sums(place, values, total)
    return found[:count], total
