"""Frozen: the rows of a table as they were at one moment, while the table goes on.

1.  Nothing is copied when it is made. Rows are read in pieces, later; until then they lie in the table.
2.  Before a row changes, the table says so: a row that nobody said so about before is kept aside, once.
3.  So what a piece brings is the row that was kept aside, else the one in the table, which is the same.
4.  A table whose rows are about to change all at once, or to move, has all of them kept aside.
5.  Where there is no memory to keep rows aside the table goes on all the same, and who reads gets an error.

It must never know a rule, or who reads. It lasts for as long as somebody has it who reads: the table only
knows it by a weak reference. Guarantee: a piece is, bit for bit, what these rows were when this was made; it
takes as long as the piece is long. Memory: four bytes a row, and the rows that changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar
from weakref import ref

import numpy as np

from paddle._pserver.memory.pages import Pages
from paddle._pserver.tables.streamed import Streamed

PIECE_BYTES = 1 << 20
WORTH_BYTES = 16 << 20
"""Tables that have less are copied at once: that takes no longer than a step."""

Read = TypeVar("Read")

_GROWTH = 1.25
_EVERY = slice(None)


class Frozen:
    """See the module's text. ``rows``: how many there are; ``live``: what the table has of them now,
    C-contiguous arrays of one or two dimensions, of which rows are the first."""

    def __init__(self, rows: int, live: Callable[[], Sequence[np.ndarray]]) -> None:
        self.rows = rows
        self._live = live
        self._aside = [Pages(array.dtype.type, array[:1].size or 1, 1) for array in live()]
        self._place = np.zeros(rows, np.int32)  # of a row kept aside, from 1; memory comes as it is written
        self._count = 0
        self._failure = ""  # once rows are lost

    def spare(self, rows: np.ndarray) -> np.ndarray:
        """These are about to change: int64 (n,), also repeated, also some that came later. Returns those of
        them, each once, that were kept aside now."""
        rows = rows[rows < self.rows]
        new = np.unique(rows[self._place[rows] == 0])
        if len(new):
            self._keep(new)
        return new

    def spare_all(self) -> np.ndarray:
        """All are."""
        new = np.flatnonzero(self._place == 0)
        if len(new):
            self._keep(new)
        return new

    def _keep(self, rows: np.ndarray) -> None:
        if self._failure:
            return
        try:
            self._put_aside(rows)
        except (OSError, MemoryError) as error:
            self._failure = f"rows that changed meanwhile could not be kept: {error or 'no memory'}"
            self._aside.clear()

    def _put_aside(self, rows: np.ndarray) -> None:
        first, self._count = self._count, self._count + len(rows)
        for aside, live in zip(self._aside, self._live(), strict=True):
            if self._count > len(aside.array):
                aside.resize(min(self.rows, max(self._count, int(len(aside.array) * _GROWTH))))
            np.take(
                live.reshape(len(live), -1), rows, axis=0, out=aside.array[first : self._count], mode="clip"
            )
        self._place[rows] = np.arange(first + 1, self._count + 1, dtype=np.int32)

    def is_aside(self, rows: np.ndarray) -> np.ndarray:
        """Which of ``rows``, that were there, are kept aside."""
        kept: np.ndarray = self._place[rows] > 0
        return kept

    def piece(self, which: int, rows: slice, columns: slice = _EVERY) -> np.ndarray:
        """A copy of ``columns`` of ``rows`` of array number ``which``. Raises OSError (rule 5)."""
        if self._failure:
            raise OSError(self._failure)
        live, place = self._live()[which], self._place[rows]
        there = live.reshape(len(live), -1)[rows, columns]  # a table may have fewer rows now
        found = np.empty((len(place), there.shape[1]), live.dtype)
        found[: len(there)] = there
        changed = np.flatnonzero(place)
        found[changed] = self._aside[which].array[place[changed] - 1, columns]
        return found.reshape(-1, *live.shape[1:]) if columns == _EVERY else found

    def streamed(self, which: int, columns: slice = _EVERY) -> Streamed:
        """All rows of an array, or ``columns`` of them, in pieces."""
        like = self.piece(which, slice(0, 0), columns)

        def pieces() -> Iterator[np.ndarray]:
            for rows in portions(self.rows, like):
                yield self.piece(which, rows, columns)

        return Streamed(like.dtype, (self.rows, *like.shape[1:]), pieces)


def portions(rows: int, like: np.ndarray) -> Iterator[slice]:
    """``rows`` in pieces of so many as take ``PIECE_BYTES``, where one is as in ``like``."""
    row_bytes = like.dtype.itemsize * int(np.prod(like.shape[1:], dtype=np.int64))
    most = max(1, PIECE_BYTES // max(1, row_bytes))
    for begin in range(0, rows, most):
        yield slice(begin, min(rows, begin + most))


class Readers(Generic[Read]):
    """Those who still read a table as it was, for as long as somebody has them.

    Whoever gives one up may be another thread: all that changes this is one step of the interpreter.
    """

    def __init__(self) -> None:
        self._known: dict[int, ref[Read]] = {}

    def add(self, frozen: Read) -> None:
        """One more."""
        key, known = id(frozen), self._known  # nobody else has this number before it is forgotten
        known[key] = ref(frozen, lambda _: known.pop(key, None))

    def now(self) -> Sequence[Read]:
        """All that there are; next to always none."""
        if not self._known:
            return ()
        return [frozen for each in list(self._known.values()) if (frozen := each()) is not None]
