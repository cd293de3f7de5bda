"""OpenPlaces: numbers for the ids of an open table that somebody has named, 0, 1, 2... as they come.

It must never know what is kept of an id. Guarantee: an id keeps its number; for what would not fit in the
shard's room none is given.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paddle._pserver.memory.pages import Pages
from paddle._pserver.tables.hash_index import ABSENT, HashIndex

Reserve = Callable[[int, int], None]
"""Told how many numbers there are to be, and how many bytes these need; raises TableFull."""


class OpenPlaces:
    """``ids``: int64, each once, that have a number from the start. ``reserve``: takes room for all."""

    def __init__(self, ids: np.ndarray, reserve: Reserve) -> None:
        self._index, self._reserve = HashIndex(), reserve
        self._ids = Pages(np.int64, 1, len(ids))
        self._name(ids)

    @property
    def count(self) -> int:
        """How many numbers are given."""
        return self._index.rows

    def of(self, ids: np.ndarray) -> np.ndarray:
        """The numbers of ``ids``, each once; they are given one where they have none. Raises TableFull."""
        places, absent = self._index.find(ids)
        if absent:
            self._name(ids[places == ABSENT])
            places = self._index.find(ids)[0]
        return places

    def ids(self, places: np.ndarray) -> np.ndarray:
        """The ids of these numbers, ascending."""
        found: np.ndarray = np.sort(self._ids.array[places, 0])
        return found

    def _name(self, ids: np.ndarray) -> None:
        first, more = self._index.rows, len(ids)
        self._reserve(first + more, self._index.bytes_for(more) + self._ids.row_bytes * (first + more))
        born = self._index.admit(ids, np.zeros(len(ids), np.int64))
        self._ids.grow(self._index.rows)
        self._ids.array[first : self._index.rows, 0] = born
