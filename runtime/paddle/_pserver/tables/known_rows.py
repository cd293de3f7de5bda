"""KnownRows: rows of one open table as a trainer last knew the center's.

For trainers that update by themselves (local_updates.py). It must never know who else has them. Guarantee: of
a row that was put the last values are kept.
"""

from __future__ import annotations

import numpy as np

from paddle._pserver.memory.pages import Pages
from paddle._pserver.tables.hash_index import ABSENT, HashIndex


class KnownRows:
    """Rows of ``width`` numbers."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._index, self._store = HashIndex(), Pages(np.float32, width, 1)

    def has(self, ids: np.ndarray) -> np.ndarray:
        """Which of ``ids`` int64 (n,) are known, as a boolean mask."""
        there: np.ndarray = self._index.find(ids)[0] != ABSENT
        return there

    def get(self, ids: np.ndarray) -> np.ndarray:
        """A copy of the rows of ``ids``, which are known."""
        rows: np.ndarray = self._store.array[self._index.find(ids)[0]]
        return rows

    def put(self, ids: np.ndarray, values: np.ndarray) -> None:
        """Know these rows, each id once, float32 (n, width)."""
        self._index.admit(ids, np.zeros(len(ids), np.int64))
        self._store.grow(self._index.rows)
        self._store.array[self._index.find(ids)[0]] = values
