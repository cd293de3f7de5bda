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
    is_one = len(parts) == 1
    ids = parts[0].ids if is_one else np.concatenate([part.ids for part in parts])
    if (ids[1:] > ids[:-1]).all():
        return ids, parts[0].values if is_one else np.concatenate([part.values for part in parts])
    place, found = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
    scratch = np.empty(4 << (len(ids) - 1).bit_length(), np.int32)  # sparse, so that few ids meet in it
    count = interleaved.distinct(ids, scratch, place, found)
    if is_one and count == len(ids):
        return ids, parts[0].values
    total = np.empty((count, parts[0].values.shape[1]), np.float32)
    begin = so_far = 0
    for part in parts:
        end = begin + len(part.ids)
        so_far = interleaved.sums(place[begin:end], part.values, total, so_far)
        begin = end
    return found[:count], total
