"""Rows that keep an id's values and its slots side by side, so that an update meets one miss and not several.

A store is float32 (rows, parts * width): the values, then each slot. Who wants them apart and contiguous gets
a *block* float32 (parts, n, width): ``gather`` and ``scatter`` are the way there and back. Also here: each id
of a batch once, and the sum of its gradients.

It must never know what a part means. Guarantee: repeated rows are summed in order of occurrence, so equal
inputs give equal bits.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.cells import scrambled
from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.prefetch import AHEAD, LINE, prefetch

Array = np.ndarray


@kernel
def distinct(ids: Array, scratch: Array, place: Array, found: Array) -> int:
    """``found``: each id once, in order of first occurrence; ``ids[i]`` is ``found[place[i]]``.

    ``scratch``: int32, a power of two of at least twice as many elements as ids. Returns how many there are.
    """
    last = np.uint64(scratch.shape[0] - 1)
    scratch[:] = -1
    count = 0
    for i in range(ids.shape[0]):
        spot = scrambled(ids[i]) & last
        while scratch[spot] >= 0 and found[scratch[spot]] != ids[i]:
            spot = (spot + np.uint64(1)) & last
        if scratch[spot] < 0:
            scratch[spot] = count
            found[count] = ids[i]
            count += 1
        place[i] = scratch[spot]
    return count


@kernel
def sums(place: Array, rows: Array, out: Array, count: int) -> int:
    """``out[p]``: the sum of all ``rows[i]`` whose ``place[i]`` is p; places are numbered as they first
    occur, and ``count`` of them have occurred before. Returns how many have now."""
    for i in range(place.shape[0]):
        target = out[place[i]]
        if place[i] == count:
            count += 1
            for j in range(out.shape[1]):
                target[j] = rows[i, j]
        else:
            for j in range(out.shape[1]):
                target[j] += rows[i, j]
    return count


@kernel
def take(store: Array, rows: Array, out: Array) -> None:
    """``out[i]``: the values of row ``rows[i]``; zeros where that is below zero."""
    for i in range(rows.shape[0]):
        if i + AHEAD < rows.shape[0] and rows[i + AHEAD] >= 0:
            for j in range(0, out.shape[1], LINE):
                prefetch(store, rows[i + AHEAD] * store.shape[1] + j)
        row = rows[i]
        if row < 0:
            out[i] = np.float32(0)
            continue
        for j in range(out.shape[1]):
            out[i, j] = store[row, j]


@kernel
def gather(store: Array, rows: Array, begin: int, block: Array) -> None:
    """``block[p, i]``: part p of row ``rows[begin + i]``, as many as the block has room for."""
    parts, room, width = block.shape
    for i in range(min(room, rows.shape[0] - begin)):
        if begin + i + AHEAD < rows.shape[0]:
            for j in range(0, store.shape[1], LINE):
                prefetch(store, rows[begin + i + AHEAD] * store.shape[1] + j)
        row = rows[begin + i]
        for part in range(parts):
            for j in range(width):
                block[part, i, j] = store[row, part * width + j]


@kernel
def scatter(store: Array, rows: Array, begin: int, block: Array) -> None:
    """The way back of ``gather``."""
    parts, room, width = block.shape
    for i in range(min(room, rows.shape[0] - begin)):
        row = rows[begin + i]
        for part in range(parts):
            for j in range(width):
                store[row, part * width + j] = block[part, i, j]


@kernel
def compact(store: Array, kept: Array, numbers: Array) -> None:
    """Move each row that is ``kept`` to its new number, which is not above its old one."""
    for row in range(kept.shape[0]):
        if kept[row] and numbers[row] != row:
            store[numbers[row]] = store[row]
