"""Frozen: the rows of a table as they were at one moment, while the table goes on.

1.  Nothing is copied when it is made. Rows are read in pieces, later; until then they lie in the table.
2.  Before a row changes, the table says so: a row that nobody said so about before is kept aside, once.
3.  So what a piece brings is the row that was kept aside, else the one in the table, which is the same.
4.  A table whose rows are about to change all at once, or to move, has all of them kept aside.
5.  Where there is no memory to keep rows aside, or none that the cut may have (cut_room.py), the table goes
    on all the same, and who reads gets an error.

It must never know a rule, or who reads. It lasts for as long as somebody has it who reads: the table only
knows it by a weak reference. Guarantee: a piece is, bit for bit, what these rows were when this was made; it
takes as long as the piece is long. Memory: ``PLACE_BYTES`` a row, and the rows that changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from paddle._pserver.memory.pages import Pages
from paddle._pserver.tables.cut_room import CutRoom
from paddle._pserver.tables.streamed import Streamed

PIECE_BYTES = 1 << 20
WORTH_BYTES = 16 << 20
"""Tables that have less are copied at once: that takes no longer than a step."""
PLACE_BYTES = 4

_EVERY = slice(None)
_LOOKED_AT_ONCE = 1 << 16


class Frozen:
    """See the module's text. ``rows``: how many there are; ``live``: what the table has of them now,
    C-contiguous arrays of one or two dimensions, of which rows are the first. ``room``: the cut's."""

    def __init__(self, rows: int, live: Callable[[], Sequence[np.ndarray]], room: CutRoom) -> None:
        room.take(rows * PLACE_BYTES)
        self.rows = rows
        self._live, self._room = live, room
        self._widths = [int(np.prod(array.shape[1:], dtype=np.int64)) for array in live()]
        self._aside = [Pages(array.dtype.type, width, 1) for array, width in self._pairs()]
        self._place = np.zeros(rows, np.int32)  # of a row kept aside, from 1; memory comes as it is written
        self._count = 0

    def spare(self, rows: np.ndarray) -> None:
        """These are about to change: int64 (n,), also repeated, also some that came later."""
        self.attempt(lambda: self.keep(rows[rows < self.rows]))

    def spare_all(self) -> None:
        """All are."""
        self.attempt(self.keep_all)

    def attempt(self, keep: Callable[[], None]) -> None:
        """Keep something aside, if it can be (rule 5)."""
        try:
            self._room.check()
            keep()
        except (OSError, MemoryError) as error:
            self._room.fail(f"rows that changed meanwhile could not be kept: {error or 'no memory'}")
            self._aside.clear()

    def keep(self, rows: np.ndarray) -> None:
        """Keep ``rows``, which were there, aside; raises OSError and MemoryError."""
        new = np.unique(rows[self._place[rows] == 0])
        if len(new):
            self._put_aside(new)

    def keep_all(self) -> None:
        """The same of all."""
        for begin in range(0, self.rows, _LOOKED_AT_ONCE):
            new = begin + np.flatnonzero(self._place[begin : begin + _LOOKED_AT_ONCE] == 0)
            if len(new):
                self._put_aside(new)

    def _put_aside(self, rows: np.ndarray) -> None:
        first, count = self._count, self._count + len(rows)
        self._room.take(sum(aside.row_bytes for aside in self._aside) * len(rows))
        for aside, (live, width) in zip(self._aside, self._pairs(), strict=True):
            aside.grow(count, most=self.rows)
            np.take(live.reshape(-1, width), rows, axis=0, out=aside.array[first:count], mode="clip")
        self._place[rows] = np.arange(first + 1, count + 1, dtype=np.int32)
        self._count = count

    def _pairs(self) -> Iterator[tuple[np.ndarray, int]]:
        """What the table has now, and how wide a row of each is."""
        return zip(self._live(), self._widths, strict=True)

    def is_aside(self, rows: np.ndarray) -> np.ndarray:
        """Which of ``rows``, that were there, are kept aside."""
        kept: np.ndarray = self._place[rows] > 0
        return kept

    def piece(self, which: int, rows: slice, columns: slice = _EVERY) -> np.ndarray:
        """A copy of ``columns`` of ``rows`` of array number ``which``, as two dimensions. Raises OSError
        (rule 5)."""
        self._room.check()
        live, place = self._live()[which], self._place[rows]
        there = live.reshape(-1, self._widths[which])[rows, columns]  # a table may have fewer rows now
        found = np.empty((len(place), there.shape[1]), live.dtype)
        found[: len(there)] = there
        changed = np.flatnonzero(place)
        found[changed] = self._aside[which].array[place[changed] - 1, columns]
        return found

    def streamed(self, which: int, columns: slice = _EVERY) -> Streamed:
        """All rows of an array, or ``columns`` of them, in pieces."""
        none = self.piece(which, slice(0, 0), columns)
        of_a_row = none.shape[1:] if self._live()[which].ndim > 1 else ()

        def pieces() -> Iterator[np.ndarray]:
            for rows in portions(self.rows, none):
                yield self.piece(which, rows, columns).reshape(-1, *of_a_row)

        return Streamed(none.dtype, (self.rows, *of_a_row), pieces)


def portions(rows: int, like: np.ndarray) -> Iterator[slice]:
    """``rows`` in pieces of so many as take ``PIECE_BYTES``, where one is as in ``like``."""
    row_bytes = like.dtype.itemsize * int(np.prod(like.shape[1:], dtype=np.int64))
    most = max(1, PIECE_BYTES // max(1, row_bytes))
    for begin in range(0, rows, most):
        yield slice(begin, min(rows, begin + most))
