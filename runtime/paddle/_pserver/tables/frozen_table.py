"""FrozenTable: an open table's rows as they were at one moment, with their ids and marks; see frozen.py.

Ids stand in an index whose cells move while the table goes on, but their order does not (hash_index.py): so
they are listed in portions, each going on behind the last id of the one before. The mark of a row that is
kept aside is told with it; that of any other is still the one in the index.

It must never know a rule. Guarantee: as Frozen. Memory: besides, eight bytes a row for its id, and where
marks are kept as many for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from paddle._pserver.tables.cut_room import CutRoom
from paddle._pserver.tables.frozen import Frozen, portions
from paddle._pserver.tables.hash_index import HashIndex
from paddle._pserver.tables.streamed import Array, Streamed

LISTED_AT_ONCE = 1 << 15


class FrozenTable:
    """See the module's text. ``store``: the rows' values and slots, side by side, as they are now.

    Where no marks are kept, that of the first ``settled`` rows is ``step``, and of others minus that.
    ``room``: the cut's.
    """

    def __init__(
        self, index: HashIndex, store: Callable[[], np.ndarray], settled: int, step: int, room: CutRoom
    ) -> None:
        self._index, self._settled, self._step = index, settled, step
        room.take(index.rows * (16 if index.is_marked else 8))
        self.rows = Frozen(index.rows, lambda: [store()], room)
        self._ids = np.empty(index.rows, np.int64)
        self._marks = np.empty(index.rows if index.is_marked else 0, np.int64)
        self._is_marked = index.is_marked
        self._after: int | None = None
        self._is_listed = not index.rows

    def spare(self, rows: np.ndarray, marks: np.ndarray) -> None:
        """These are about to change, each of which had this mark before; see :meth:`Frozen.spare`."""
        self.rows.attempt(lambda: self._keep(rows, marks))

    def _keep(self, rows: np.ndarray, marks: np.ndarray) -> None:
        there = np.flatnonzero(rows < self.rows.rows)
        rows = rows[there]
        if self._is_marked:
            new = ~self.rows.is_aside(rows)
            self._marks[rows[new]] = marks[there[new]]
        self.rows.keep(rows)

    def spare_all(self) -> None:
        """All are, and ids and marks, too."""
        self.rows.attempt(self._keep_all)

    def _keep_all(self) -> None:
        for _ in self._listing():
            pass
        self.rows.keep_all()

    def _listing(self) -> Iterator[None]:
        """List what is not listed yet, a portion at a time."""
        while not self._is_listed:
            self._list()
            yield

    def _list(self) -> None:
        ids, rows = self._index.scan(self._after, LISTED_AT_ONCE)
        if not len(ids):
            self._is_listed = True
            return
        self._after = int(ids[-1])
        old = rows < self.rows.rows  # others came later
        ids, rows = ids[old], rows[old]
        self._ids[rows] = ids
        if self._is_marked:
            still = ~self.rows.is_aside(rows)
            self._marks[rows[still]] = self._index.marks(ids[still])

    def arrays(self, width: int, slots: Sequence[str]) -> dict[str, Array]:
        """By kind; see :class:`paddle._pserver.tables.hash_table.HashTable`."""
        kinds = ("values", *(f"slot {name}" for name in slots))
        parts = {
            kind: self.rows.streamed(0, slice(part * width, (part + 1) * width))
            for part, kind in enumerate(kinds)
        }
        ids = self._in_portions(lambda rows: self._ids[rows])
        return {"ids": ids, **parts, "last_step": self._in_portions(self._last_step)}

    def _last_step(self, rows: slice) -> np.ndarray:
        if self._is_marked:
            return self._marks[rows]
        numbers = np.arange(rows.start, rows.stop)
        return np.where(numbers < self._settled, np.int64(self._step), np.int64(-self._step))

    def _in_portions(self, read: Callable[[slice], np.ndarray]) -> Streamed:
        none = np.empty(0, np.int64)

        def pieces() -> Iterator[np.ndarray]:
            for _ in self._listing():
                yield none
            for rows in portions(self.rows.rows, none):
                yield read(rows)

        return Streamed(none.dtype, (self.rows.rows,), pieces)
