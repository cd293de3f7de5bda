"""Changes: which rows of a shard's tables were changed since a trainer was last told.

For trainers that update by themselves (local_updates.py): they keep whole tables, and hear only of rows that
are not any more what they know. It must never know a row's values.

Guarantee: a row that was changed is in the next telling of each trainer whom it concerns; one that was lost
on the way is told again. What a trainer has not been told of is kept as at most about twice the ids that it
comes to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from paddle._engine.exchange import UpdateSpec
from paddle._pserver.gradient import Rows
from paddle._pserver.tables import Tables

_FEW = 4096


class Changes:
    """See the module's text. ``known``: ids of each table that nobody has been told of at the start.

    ``own``: a trainer is told of the rows that it changed itself, too.
    """

    def __init__(self, trainers: int, known: Sequence[np.ndarray], *, own: bool) -> None:
        self._own = own
        self._queues = [[_Queue(ids) for ids in known] for _ in range(trainers)]
        self._sent: list[list[np.ndarray]] = [[] for _ in range(trainers)]
        self._told = [0] * trainers

    def add(self, by: int, rows: Sequence[Rows], trainers: Iterable[int]) -> None:
        """Trainer ``by`` has changed ``rows``, per table; those in the job are ``trainers``."""
        for trainer in trainers:
            if self._own or trainer != by:
                for queue, changed in zip(self._queues[trainer], rows, strict=True):
                    queue.add(changed.ids)

    def take(self, trainer: int, told: int) -> list[np.ndarray]:
        """Per table the ids, ascending, of which the trainer is told now. It has been ``told`` so often."""
        if told != self._told[trainer]:
            for queue, ids in zip(self._queues[trainer], self._sent[trainer], strict=False):
                queue.add(ids)
        self._told[trainer] = told + 1
        self._sent[trainer] = [queue.take() for queue in self._queues[trainer]]
        return self._sent[trainer]

    def sent(self, trainer: int) -> list[np.ndarray]:
        """What ``take`` gave last."""
        return self._sent[trainer]


class _Queue:
    """Ids of one table, for one trainer."""

    def __init__(self, ids: np.ndarray) -> None:
        self._parts = [ids]
        self._size = self._merged = len(ids)

    def add(self, ids: np.ndarray) -> None:
        self._parts.append(ids.copy())  # a push is received into the memory of the one before it
        self._size += len(ids)
        if self._size > max(2 * self._merged, _FEW):
            self._merge()

    def _merge(self) -> np.ndarray:
        ids: np.ndarray = np.unique(np.concatenate(self._parts))
        self._parts, self._size, self._merged = [ids], len(ids), len(ids)
        return ids

    def take(self) -> np.ndarray:
        ids = self._merge()
        self._parts, self._size, self._merged = [ids[:0]], 0, 0
        return ids


def changes_of(update: UpdateSpec, tables: Tables, trainers: int, *, restored: bool) -> Changes | None:
    """The changes that trainers are told of in this job, if they are. ``restored``: the shard has gone back
    to a snapshot, so that any row may be another than they know."""
    if not update.mode.is_local:
        return None
    held = [table.held for table in tables.rows.values()]
    rows = [range(part.first, part.first + part.count * part.stride * restored, part.stride) for part in held]
    own = update.mode.name != "geo"  # whose trainers know what they have added
    return Changes(trainers, [np.array(ids, np.int64) for ids in rows], own=own)
