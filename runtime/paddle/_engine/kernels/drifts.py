"""How far a trainer's own rows have moved from those that all share, and what others have added to these.

All walk through tables of which a meeting is about most rows: numpy would make an array of all of them at
every operation. It must never know who meets. Guarantee: each number is what numpy's operations on
float32, in the order that is written here, make of it.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.prefetch import AHEAD, LINE, prefetch

Array = np.ndarray
Float = np.float32


def prepare() -> None:
    """Compile what is here: the call with which a kernel is compiled leaves its arguments to the collector,
    and those of a meeting are most of a table."""
    rows, ids = np.empty((0, 1), np.float32), np.empty(0, np.int64)
    give_up(rows, rows, ids, Float(0), Float(0), rows)
    follow(rows, rows, ids, rows)
    show(rows, rows)


@kernel
def give_up(mine: Array, shared: Array, ids: Array, pull: Float, share: Float, given: Array) -> None:
    """``given[i]``: what row ``ids[i]``, each once, is to give, with its sign turned: ``share`` of its way
    from ``shared``, which moves by that. ``mine`` goes back by ``pull`` of the way."""
    for i in range(ids.shape[0]):
        _ask(mine, shared, ids, i)
        row = ids[i]
        for j in range(mine.shape[1]):
            moved = mine[row, j] - shared[row, j]
            mine[row, j] -= pull * moved
            moved *= share
            shared[row, j] += moved
            given[i, j] = -moved


@kernel
def follow(mine: Array, shared: Array, ids: Array, center: Array) -> None:
    """Rows ``ids``, each once, are ``center`` now, and were ``shared``: ``mine`` move as they did."""
    for i in range(ids.shape[0]):
        _ask(mine, shared, ids, i)
        row = ids[i]
        for j in range(mine.shape[1]):
            mine[row, j] += center[i, j] - shared[row, j]
            shared[row, j] = center[i, j]


@kernel
def show(mine: Array, shared: Array) -> tuple[Array, Array]:
    """``mine`` become ``shared``. The rows, ascending, that were others, and what they were."""
    count, width = _differ(mine, shared), mine.shape[1]
    ids, aside = np.empty(count, np.int64), np.empty((count, width), mine.dtype)
    count = 0
    for row in range(mine.shape[0]):
        if not _is_apart(mine, shared, row):
            continue
        ids[count] = row
        for j in range(width):
            aside[count, j] = mine[row, j]
            mine[row, j] = shared[row, j]
        count += 1
    return ids, aside


@kernel
def _differ(mine: Array, shared: Array) -> int:
    """How many rows do."""
    count = 0
    for row in range(mine.shape[0]):
        count += _is_apart(mine, shared, row)
    return count


@kernel
def _is_apart(mine: Array, shared: Array, row: int) -> bool:
    place = 0
    while place < mine.shape[1] and mine[row, place] == shared[row, place]:
        place += 1
    is_there: bool = place < mine.shape[1]
    return is_there


@kernel
def _ask(mine: Array, shared: Array, ids: Array, i: int) -> None:
    if i + AHEAD < ids.shape[0]:
        for j in range(0, mine.shape[1], LINE):
            prefetch(mine, ids[i + AHEAD] * mine.shape[1] + j)
            prefetch(shared, ids[i + AHEAD] * mine.shape[1] + j)
