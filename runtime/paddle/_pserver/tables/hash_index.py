"""HashIndex: which row an id has. Rows are numbered 0, 1, 2... without holes.

The cells are those of paddle._engine.kernels.cells; this file decides how many there are. It must never
know what a row holds, nor what a mark means.

1.  A cell has 12 bytes, or 16 in an index that keeps marks; one without can begin to keep them. Between 80 %
    and 88 % of them are in use.
2.  It grows by a tenth when that is full, where it is and while it is in use: for every new id it passes
    ``PASSED`` cells, one after another, whose keys go to their new places, and is through with all before it
    must grow again. So a call is never held up by more than its own ids ask for, however large the index is;
    only ``retain`` and ``keep_marks`` go through all of it.

Guarantee: what is found does not depend on the order in which ids came.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels import cells, growing, hashing
from paddle._pserver.errors import TooManyParameters
from paddle._pserver.memory.pages import Pages

ABSENT = hashing.ABSENT
MAX_MARK = (1 << 32) - 1
PASSED = 24
_FULL, _GROWTH = 0.88, 1.1
_SMALLEST = 64
_AT_ONCE = 1 << 10  # ids that are seen between two steps of growing
_CELLS_AT_ONCE = 1 << 15  # as many are copied while they are moved
_EVERYTHING = 1 << 62
_NOTHING = np.empty((0, 0), np.float32)


class HashIndex:
    """Ids to rows. ``rows``: how many have one; ``used``: these and the candidates. ``is_marked``: whether
    marks are kept, without which there are no candidates. ``passed``: cells gone through by growing so
    far."""

    def __init__(self, *, is_marked: bool = False) -> None:
        self.rows = self.used = self.passed = 0
        self.is_marked = is_marked
        self._spare = _SMALLEST  # cells behind the capacity: keys may crowd at the end of it
        self._pages = Pages(np.uint32, 4 if is_marked else 3, 2 * _SMALLEST)
        self._settle(_SMALLEST)

    def _settle(self, capacity: int) -> None:
        """All keys are where this capacity has them."""
        self._capacity = self._larger = capacity
        self._turn = np.uint64(0)
        self._room = np.uint64(capacity), np.uint64(capacity), self._turn

    @property
    def _cells(self) -> np.ndarray:
        return self._pages.array

    @property
    def _is_growing(self) -> bool:
        return self._larger > self._capacity

    @property
    def nbytes(self) -> int:
        """Bytes of the cells."""
        return int(self._pages.array.nbytes)

    def bytes_for(self, more: int) -> int:
        """Bytes of the cells, at most, once ``more`` ids were seen."""
        if self.used + more <= _limit(self._larger):
            return self.nbytes
        most = _larger(int((self.used + more) / _FULL)) + 2 * self._spare
        return max(self.nbytes, self._pages.size_bytes(most))

    def find(self, ids: np.ndarray, store: np.ndarray = _NOTHING) -> tuple[np.ndarray, int]:
        """The rows of ``ids`` int64 (n,), ABSENT where there is none, and how many are absent. ``store``
        float32 (rows, width): where the rows themselves will be needed next, while they are in the cache."""
        rows = np.empty(len(ids), np.int64)
        return rows, hashing.find(self._cells, self._room, ids, rows, store)

    def visit(
        self, ids: np.ndarray, mark: int, store: np.ndarray = _NOTHING
    ) -> tuple[np.ndarray, np.ndarray, int]:
        """As ``find`` (each id once), and visit the rows: they get a new mark. Also returns the old ones."""
        rows, marks = np.empty(len(ids), np.int64), np.empty(len(ids), np.int64)
        absent = hashing.visit(self._cells, self._room, ids, mark, rows, marks, store)
        return rows, marks, absent

    def admit(self, ids: np.ndarray, needed: np.ndarray, *, day: int = 0, mark: int = 0) -> np.ndarray:
        """See ``ids`` once each, in order; one seen ``needed[i]`` times gets a row, or any one where no marks
        are kept.

        Returns the ids of the new rows, in the order of their rows. ``mark``: theirs, with a minus until they
        are visited. ``day``: when the others were last seen.
        """
        born = np.empty(len(ids), np.int64)
        before, done = self.rows, 0
        if not self.used:
            self._begin(len(ids))
        while done < len(ids):
            part, used, limit = slice(done, done + _AT_ONCE), self.used, _limit(self._larger)
            seen, self.used, self.rows = hashing.admit(
                *(self._cells, self._room, ids[part], needed[part], day, mark),
                *(limit, used, self.rows, born[self.rows - before :]),
            )
            done += seen
            self._grow(PASSED * (self.used - used))
            if seen < len(ids[part]):
                self._grow_further() if self.used >= limit else self._extend()
        return born[: self.rows - before]

    def _begin(self, ids: int) -> None:
        """An index without ids has as many cells at once as the first ones need."""
        self._make_room(max(self._capacity, min(int(ids / _FULL) + 1, cells.MAX_ROWS)))

    def _grow_further(self) -> None:
        if self.used >= cells.MAX_ROWS:
            raise TooManyParameters(f"this shard has seen {self.used} ids of a table: use more pservers")
        self._grow(_EVERYTHING)
        self._larger = _larger(self._capacity)
        self._pages.resize(self._larger + self._spare)
        self._aim()

    def _aim(self) -> None:
        self._room = np.uint64(self._capacity), np.uint64(self._larger), self._turn

    def _grow(self, most: int) -> None:
        """Pass ``most`` cells, or those that are left."""
        while self._is_growing and most > 0:
            turn, passed, first, taken = growing.take_out(self._cells, self._room, min(most, _CELLS_AT_ONCE))
            self._turn = np.uint64(turn)
            self._aim()
            self._lay(taken, first - 1)
            self.passed += passed
            most -= passed
            if first == 0:
                self._settle(self._larger)

    def _lay(self, taken: np.ndarray, last: int) -> None:
        """Put what was taken out where the larger capacity has it, behind cell ``last``."""
        last, begin = growing.lay(self._cells, self._room[1], taken, last)
        left = len(taken) - begin
        while left:
            last, begin, left = growing.push(self._cells, self._room[1], taken, last, begin, left)
            if left:
                self._extend()

    def _extend(self) -> None:
        """More cells behind: ids crowd at the end."""
        self._spare *= 2
        self._pages.resize(self._larger + self._spare)

    def _make_room(self, capacity: int) -> None:
        """Cells for every place where a search may begin, for those that are in use, and an empty one
        behind."""
        reach = growing.reach(self._cells, np.uint64(capacity), self.used)
        self._spare = _SMALLEST + max(0, reach - capacity)
        self._pages.resize(capacity + self._spare)
        self._settle(capacity)

    def keep_marks(self, first: int, mark: int) -> None:
        """Keep marks from now on: ``mark`` for all, with a minus for rows from number ``first`` on."""
        if not self.is_marked:
            self.is_marked = True
            count = len(self._cells)
            self._pages.widen(4)
            growing.widen(self._cells.reshape(-1), count, first, mark)

    def remark(self, ids: np.ndarray, marks: np.ndarray) -> None:
        """Set the marks of ``ids``, all of which are in the index; one above zero says that its row was
        visited."""
        hashing.remark(self._cells, self._room, ids, marks)

    def by_row(self) -> tuple[np.ndarray, np.ndarray]:
        """The ids of all rows, row after row, and their marks, zeros where none are kept."""
        ids, marks = np.empty(self.rows, np.int64), np.zeros(self.rows, np.int64)
        hashing.by_row(self._cells, ids, marks)
        return ids, marks

    def candidates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The ids of all candidates, how often each was seen, and on which day last."""
        ids, seen, days = (np.empty(self.used - self.rows, np.int64) for _ in range(3))
        if len(ids):
            hashing.candidates(self._cells, ids, seen, days)
        return ids, seen, days

    def date(self, ids: np.ndarray, days: np.ndarray) -> None:
        """Say on which day each of the candidates ``ids`` was last seen."""
        hashing.date(self._cells, self._room, ids, days)

    def scan(self, after: int | None, most: int) -> tuple[np.ndarray, np.ndarray]:
        """At most ``most`` ids that have a row, and these rows, in an order that depends on nothing but the
        ids: the next ones after id ``after``, the first where that is None."""
        most = min(most, self.rows)
        ids, rows = np.empty(most, np.int64), np.empty(most, np.int64)
        first = 0 if after is None else hashing.behind(self._cells, self._room, after)
        count = hashing.scan(self._cells, first, ids, rows)
        return ids[:count], rows[:count]

    def marks(self, ids: np.ndarray) -> np.ndarray:
        """The marks of ``ids``, all of which are in the index, int64."""
        marks = np.empty(len(ids), np.int64)
        hashing.read_marks(self._cells, self._room, ids, marks)
        return marks

    def retain(self, mark: int, day: int, low: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Forget rows marked ``mark`` or less (those not visited: less), and candidates last seen on ``day``
        or before; of an index that keeps marks. ``low``, bool for each row: which it forgets, too.

        Returns for every old row whether it is kept, and its new number if it is. Rows stay in order.
        """
        self._grow(_EVERYTHING)
        kept = np.empty(self.rows, np.uint8)
        hashing.stale(self._cells, mark, kept)
        if low is not None:
            kept[low] = 0
        numbers = np.cumsum(kept, dtype=np.int32) - np.int32(1)
        candidates = self.used - self.rows
        self.rows = int(np.count_nonzero(kept))
        least = int((self.rows + candidates) / _FULL) + _SMALLEST
        capacity = min(self._capacity, least)
        self.used = growing.sweep(self._cells, np.uint64(capacity), kept, numbers, day)
        self._make_room(capacity)
        return kept, numbers


def _limit(capacity: int) -> int:
    """How many cells may be in use before there must be more."""
    return min(int(capacity * _FULL), cells.MAX_ROWS)


def _larger(capacity: int) -> int:
    """What an index of this capacity grows to."""
    return max(int(capacity * _GROWTH), capacity + _SMALLEST)
