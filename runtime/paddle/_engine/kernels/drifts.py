"""How far a trainer's own rows have moved from those that all share, and what others have added to these.

Both walk once through tables of which a meeting is about most rows: numpy would make an array of all of
them at every operation. It must never know who meets. Guarantee: each number is what numpy's operations on
float32, in the order that is written here, make of it.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.prefetch import AHEAD, LINE, prefetch

Array = np.ndarray
Float = np.float32


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
def _ask(mine: Array, shared: Array, ids: Array, i: int) -> None:
    if i + AHEAD < ids.shape[0]:
        for j in range(0, mine.shape[1], LINE):
            prefetch(mine, ids[i + AHEAD] * mine.shape[1] + j)
            prefetch(shared, ids[i + AHEAD] * mine.shape[1] + j)
