"""HashIndex: which row an id has. Rows are numbered 0, 1, 2... without holes.

The cells are those of paddle._engine.kernels.hashing; this file decides how many there are. It must never
know what a row holds, nor what a mark means.

Guarantee: what is found does not depend on the order in which ids came. Growing by a quarter takes one sweep
in place; cells, of 16 bytes, are then between 68 % and 85 % in use.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels import hashing
from paddle._pserver.errors import TooManyParameters
from paddle._pserver.pages import Pages

ABSENT = hashing.ABSENT
MAX_MARK = (1 << 32) - 1
_FULL, _GROWTH = 0.85, 1.25
_SMALLEST = 64


class HashIndex:
    """Ids to rows. ``rows``: how many have one; ``used``: these and the candidates."""

    def __init__(self) -> None:
        self.rows = self.used = 0
        self._capacity = _SMALLEST
        self._pages = Pages(np.uint64, 2, 2 * _SMALLEST)

    @property
    def _cells(self) -> np.ndarray:
        return self._pages.array.reshape(-1)

    @property
    def _limit(self) -> int:
        """How many cells may be in use before there must be more."""
        return min(int(self._capacity * _FULL), hashing.MAX_ROWS)

    @property
    def nbytes(self) -> int:
        """Bytes of the cells."""
        return int(self._pages.array.nbytes)

    def bytes_for(self, more: int) -> int:
        """Bytes of the cells, at most, once ``more`` ids were seen."""
        if self.used + more <= self._limit:
            return self.nbytes
        cells = int((self.used + more) / _FULL * _GROWTH) + 2 * _SMALLEST
        return max(self.nbytes, self._pages.size_bytes(cells))

    def find(self, ids: np.ndarray) -> tuple[np.ndarray, int]:
        """The rows of ``ids`` int64 (n,), ABSENT where there is none, and how many are absent."""
        rows = np.empty(len(ids), np.int64)
        return rows, hashing.find(self._cells, self._capacity, ids, rows)

    def visit(self, ids: np.ndarray, mark: int) -> tuple[np.ndarray, np.ndarray, int]:
        """As ``find`` (each id once), and visit the rows: they get a new mark. Also returns the old ones."""
        rows, marks = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
        absent = hashing.visit(self._cells, self._capacity, ids, mark, rows, marks)
        return rows, marks, absent

    def admit(self, ids: np.ndarray, needed: np.ndarray, *, day: int = 0, mark: int = 0) -> np.ndarray:
        """See ``ids`` once each, in order; one seen ``needed[i]`` times gets a row.

        Returns the ids of the new rows, in the order of their rows. ``mark``: theirs, with a minus until they
        are visited. ``day``: when the others were last seen.
        """
        waiting, fresh = hashing.CANDIDATE | np.uint64(day << 32), hashing.BORN | np.uint64(mark)
        born = np.empty(len(ids), np.int64)
        before, done = self.rows, 0
        while True:
            seen, self.used, self.rows = hashing.admit(
                *(self._cells, self._capacity, ids[done:], needed[done:], waiting, fresh),
                *(self._limit, self.used, self.rows, born[self.rows - before :]),
            )
            done += seen
            if done == len(ids):
                return born[: self.rows - before]
            self._grow()

    def _grow(self) -> None:
        """Room for more: a larger capacity or, where keys crowd at the end of it, more cells behind."""
        if self.used >= hashing.MAX_ROWS:
            raise TooManyParameters(f"this shard has seen {self.used} ids of a table: use more pservers")
        is_full = self.used >= self._limit
        capacity = int(self._capacity * _GROWTH) if is_full else self._capacity
        self._make_room(hashing.reach(self._cells, capacity, self.used), capacity)
        hashing.spread(self._cells, capacity)
        self._capacity = capacity

    def _make_room(self, reach: int, capacity: int) -> None:
        """Cells up to ``reach`` and for every place where a search may begin, and an empty one behind."""
        self._pages.resize(max(reach, capacity) + _SMALLEST)

    def remark(self, ids: np.ndarray, marks: np.ndarray) -> None:
        """Set the marks of ``ids``, all of which are in the index; one above zero says that its row was
        visited."""
        hashing.remark(self._cells, self._capacity, ids, marks)

    def by_row(self) -> tuple[np.ndarray, np.ndarray]:
        """The ids of all rows, row after row, and their marks."""
        ids, marks = np.empty(self.rows, np.int64), np.empty(self.rows, np.int64)
        hashing.by_row(self._cells, ids, marks)
        return ids, marks

    def candidates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The ids of all candidates, how often each was seen, and on which day last."""
        ids, seen, days = (np.empty(self.used - self.rows, np.int64) for _ in range(3))
        hashing.candidates(self._cells, ids, seen, days)
        return ids, seen, days

    def date(self, ids: np.ndarray, days: np.ndarray) -> None:
        """Say on which day each of the candidates ``ids`` was last seen."""
        hashing.date(self._cells, self._capacity, ids, days)

    def scan(self, after: int | None, most: int) -> tuple[np.ndarray, np.ndarray]:
        """At most ``most`` ids that have a row, and these rows, in an order that depends on nothing but the
        ids: the next ones after id ``after``, the first where that is None."""
        most = min(most, self.rows)
        ids, rows = np.empty(most, np.int64), np.empty(most, np.int64)
        first = 0 if after is None else hashing.behind(self._cells, self._capacity, after)
        count = hashing.scan(self._cells, first, ids, rows)
        return ids[:count], rows[:count]

    def marks(self, ids: np.ndarray) -> np.ndarray:
        """The marks of ``ids``, all of which are in the index, int64."""
        marks = np.empty(len(ids), np.int64)
        hashing.read_marks(self._cells, self._capacity, ids, marks)
        return marks

    def retain(self, mark: int, day: int) -> tuple[np.ndarray, np.ndarray]:
        """Forget rows marked ``mark`` or less (those not visited: less), and candidates last seen on ``day``
        or before.

        Returns for every old row whether it is kept, and its new number if it is. Rows stay in order.
        """
        kept = np.empty(self.rows, np.uint8)
        hashing.stale(self._cells, mark, kept)
        numbers = np.cumsum(kept, dtype=np.int32) - np.int32(1)
        candidates = self.used - self.rows
        self.rows = int(np.count_nonzero(kept))
        least = int((self.rows + candidates) / _FULL) + _SMALLEST
        capacity = min(self._capacity, least)
        self.used = hashing.sweep(self._cells, capacity, kept, numbers, day)
        self._capacity = capacity
        self._make_room(hashing.reach(self._cells, capacity, self.used), capacity)
        return kept, numbers
