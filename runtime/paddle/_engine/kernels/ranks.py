"""Ranks: how well numbers put the rows of a run (see runs.py) in the order of their scores.

The gain of a list is the sum of (2**score - 1) / log(place + 2) over its first ``top`` places, from 0 on; its
share, of the gain of the best order, is at most 1. It must never know what is ranked. Guarantee: a run
without a row, or without a score above 0, has a share and slopes of 0.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray


@kernel
def gain_shares(numbers: Array, scores: Array, offsets: Array, top: int, out: Array) -> None:
    """Each row of ``out`` is the share of its run, ordered by falling numbers."""
    for i in range(offsets.shape[0] - 1):
        run = slice(offsets[i], offsets[i + 1])
        best = _gain(scores[run], scores[run], top)
        out[run] = _gain(numbers[run], scores[run], top) / best if best > 0 else 0


@kernel
def _gain(numbers: Array, scores: Array, top: int) -> float:
    order = np.argsort(-numbers, kind="mergesort")
    total = 0.0
    for place in range(min(top, order.shape[0])):
        total += (2.0 ** scores[order[place]] - 1) / np.log(place + 2)
    return total


@kernel
def gain_slopes(
    given: Array, numbers: Array, scores: Array, offsets: Array, top: int, sorted_size: int, out: Array
) -> None:
    """Which way to move each number, so that rows come nearer to the order of their scores.

    Each two rows are pulled apart by as much as the gain changes when they change places. ``sorted_size``:
    only the first so many of the best order have a place of their own, all if it is less than 0.
    """
    out[:] = 0
    for i in range(offsets.shape[0] - 1):
        run = slice(offsets[i], offsets[i + 1])
        best = _gain(scores[run], scores[run], top)
        if best > 0:
            _pull(numbers[run], scores[run], sorted_size, out[run])
            for k in range(offsets[i], offsets[i + 1]):
                out[k] *= given[k] / best


@kernel
def _pull(numbers: Array, scores: Array, sorted_size: int, out: Array) -> None:
    order = np.argsort(-scores, kind="mergesort")
    size = order.shape[0]
    placed = size if sorted_size < 0 else min(sorted_size, size)
    for first in range(placed):
        for second in range(first + 1, size):
            better, worse = order[first], order[second]
            change = (2.0 ** scores[better] - 2.0 ** scores[worse]) / np.log(first + 2)
            if second < placed:
                change *= 1 - np.log(first + 2) / np.log(second + 2)
            force = abs(change) / (1 + np.exp(numbers[better] - numbers[worse]))
            out[better] -= force
            out[worse] += force
