"""Edits: how many elements of one run must be changed, added or left out to make another one of it.

Guarantee: the fewest, by the definition of Levenshtein. It must never know what an element means.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray


@kernel
def count_edits(said: Array, offsets: Array, right: Array, right_offsets: Array, out: Array) -> None:
    """``out[i]``: the fewest edits that make run i of ``right`` of run i of ``said``."""
    for i in range(out.shape[0]):
        ours = said[offsets[i] : offsets[i + 1]]
        theirs = right[right_offsets[i] : right_offsets[i + 1]]
        out[i] = _between(ours, theirs)


@kernel
def _between(ours: Array, theirs: Array) -> int:
    row = np.arange(ours.shape[0] + 1)
    for i in range(theirs.shape[0]):
        corner, row[0] = row[0], i + 1
        for j in range(ours.shape[0]):
            best = corner + (0 if ours[j] == theirs[i] else 1)
            corner = row[j + 1]
            row[j + 1] = min(best, min(corner, row[j]) + 1)
    return int(row[-1])
