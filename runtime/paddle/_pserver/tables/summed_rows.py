"""Summed rows: what several gradients of one table bring, as one.

It must never know a table. Guarantee: rows of one id are summed in order of occurrence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle._engine.kernels import interleaved
from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.scratch import Scratch


def summed(parts: Sequence[Rows], scratch: Scratch | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Each id once, and the sum of its rows in order of occurrence; in the ``scratch``, if any, or in the
    parts' own arrays."""
    is_one = len(parts) == 1
    ids = parts[0].ids if is_one else np.concatenate([part.ids for part in parts])
    if (ids[1:] > ids[:-1]).all():
        return ids, parts[0].values if is_one else np.concatenate([part.values for part in parts])
    size, width = len(ids), parts[0].values.shape[1]
    cells = 4 << (size - 1).bit_length()  # sparse, so that few ids meet in them
    forms = (np.int64, (size,)), (np.int64, (size,)), (np.float32, (size, width)), (np.int32, (cells,))
    place, found, total, numbers = (scratch or Scratch()).cut(*forms)
    count = interleaved.distinct(ids, numbers, place, found)
    if is_one and count == size:
        return ids, parts[0].values
    begin = so_far = 0
    for part in parts:
        end = begin + len(part.ids)
        so_far = interleaved.sums(place[begin:end], part.values, total[:count], so_far)
        begin = end
    return found[:count], total[:count]
