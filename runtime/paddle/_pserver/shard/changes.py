"""Changes: which rows of a shard's tables were changed since a trainer was last told.

For trainers that update by themselves (local_updates.py): they keep whole tables, or of open ones the rows
that they have met, and hear only of rows that are not any more what they know. It must never know a row's
values.

Every row has a stamp: the number of the push that changed it last. A trainer is told of the rows with a later
stamp than its last telling, however many trainers there are: what a push costs and what is kept do not grow
with their number. Where a trainer knows what it changed itself, a row also has who stamped it, and the last
stamp of anybody else. The newest pushes are listed, so that few changes are found without looking at all
rows. Many rows are told in portions, in the order of their places; those that are changed behind it meanwhile
are in the next telling.

Guarantee: a row that was changed is in the next telling of each trainer whom it concerns; a portion that was
lost on the way is told again. What is kept is a few numbers for each row, of an open table for each that was
ever changed, within the room that open tables have, and for each trainer the ids of a portion.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple, Protocol

import numpy as np

from paddle._engine.exchange import UpdateSpec
from paddle._pserver.memory.pages import grown
from paddle._pserver.protocol.placement import RowRange
from paddle._pserver.protocol.portion import PORTION_BYTES, row_bytes
from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.tables import Tables

LOOK_AT_ALL = 40
"""To sort an id that is listed takes about as long as to look at so many stamps."""

_AT_ONCE = 1 << 18
"""So many stamps are looked at, before it is asked whether a portion is full."""


def looks_at_all(listed: float, held: float) -> bool:
    """Whether, of so many ids that are listed and rows that are held, it is better to look at all rows."""
    return listed * LOOK_AT_ALL > held


class Changes:
    """See the module's text. ``widths``: of rows, per table. ``restored``: nobody has been told of any row.
    ``own``: a trainer is told of the rows that it changed itself, too."""

    def __init__(
        self,
        trainers: int,
        rows: Sequence[Places],
        widths: Sequence[int],
        *,
        own: bool,
        restored: bool = False,
    ) -> None:
        self._now = int(restored)
        self._tables = [_Stamps(part, own=own, first=self._now) for part in rows]
        self._row_bytes = [row_bytes(width) for width in widths]
        self._sent: list[list[np.ndarray]] = [[] for _ in range(trainers)]
        self._told = [0] * trainers
        self._at = [_Telling()] * trainers
        self._next = [_Telling()] * trainers  # once what was sent is heard

    def add(self, by: int, rows: Sequence[Rows]) -> None:
        """Trainer ``by`` has changed ``rows``, per table."""
        self._now += 1
        for table, changed in zip(self._tables, rows, strict=True):
            table.add(by, changed.ids, self._now)

    def take(self, trainer: int, told: int) -> list[np.ndarray]:
        """Per table the ids, ascending, of which the trainer is told now. ``told``: how many portions it has
        received: the last one is told again if that is not among them."""
        if told == self._told[trainer]:
            self._at[trainer] = self._next[trainer]
        self._told[trainer] = told + 1
        at = self._at[trainer]
        if at.is_beginning:
            at = at._replace(until=self._now)
        self._sent[trainer], self._next[trainer] = self._portion(trainer, at)
        return self._sent[trainer]

    def has_more(self, trainer: int) -> bool:
        """Whether the telling of which ``take`` gave a portion goes on after it."""
        return not self._next[trainer].is_beginning

    def _portion(self, trainer: int, at: _Telling) -> tuple[list[np.ndarray], _Telling]:
        """The ids that come ``at`` a point, and the point that is reached by them."""
        sent, left_bytes = [np.empty(0, np.int64) for _ in self._tables], PORTION_BYTES
        for index in range(at.table, len(self._tables)):
            table, each_bytes = self._tables[index], self._row_bytes[index]
            first = at.place if index == at.table else 0
            sent[index], end = table.after(at.after, trainer, first, max(1, left_bytes // each_bytes))
            if end is not None:
                return sent, at._replace(table=index, place=end)
            left_bytes -= len(sent[index]) * each_bytes
        return sent, _Telling(after=at.until)

    def sent(self, trainer: int) -> list[np.ndarray]:
        """What ``take`` gave last."""
        return self._sent[trainer]


class _Telling(NamedTuple):
    """How far a trainer was told of the rows that were changed after push number ``after``: of all in tables
    before number ``table``, and in that one of those before ``place``. ``until``: the newest push when this
    telling began; what is changed later is in the next one, too."""

    after: int = 0
    until: int = 0
    table: int = 0
    place: int = 0

    @property
    def is_beginning(self) -> bool:
        return not self.table and not self.place


class Places(Protocol):
    """Numbers for the rows of a table that live here: 0 to ``count`` - 1."""

    @property
    def count(self) -> int:
        """How many there are by now."""
        ...

    def of(self, ids: np.ndarray) -> np.ndarray:
        """The numbers of ``ids``, each once, in a new array."""
        ...

    def ids(self, places: np.ndarray) -> np.ndarray:
        """The ids of rows with these numbers, which ascend; ascending too."""
        ...


class PackedPlaces:
    """Those of a table of a declared height: where its rows are."""

    def __init__(self, held: RowRange) -> None:
        self._held, self.count = held, held.count

    def of(self, ids: np.ndarray) -> np.ndarray:
        """See Places."""
        return self._held.local(ids).copy()  # a push is received into the memory of the one before it

    def ids(self, places: np.ndarray) -> np.ndarray:
        """See Places."""
        ids: np.ndarray = self._held.first + places * self._held.stride
        return ids


class _Stamps:
    """Those of one table's rows."""

    def __init__(self, rows: Places, *, own: bool, first: int) -> None:
        self._rows, self._own = rows, own
        self._last = np.full(rows.count, first, np.int64)
        others = 0 if own else rows.count
        self._by, self._before = np.full(others, -1, np.int32), np.zeros(others, np.int64)
        self._list: deque[tuple[int, np.ndarray]] = deque()  # pushes with the places of their rows
        self._listed, self._listed_after = 0, first

    def add(self, by: int, ids: np.ndarray, now: int) -> None:
        if not len(ids):
            return  # it would stay in the list until others push it out
        places = self._rows.of(ids)
        if self._rows.count > len(self._last):
            self._make_room(grown(self._rows.count, len(self._last)))
        if not self._own:
            others = places[self._by[places] != by]
            self._before[others] = self._last[others]
            self._by[places] = by
        self._last[places] = now
        self._list.append((now, places))
        self._listed += len(places)
        while looks_at_all(self._listed, self._rows.count):
            self._listed_after, dropped = self._list.popleft()
            self._listed -= len(dropped)

    def after(self, push: int, trainer: int, first: int, most: int) -> tuple[np.ndarray, int | None]:
        """Ids of the rows that were changed after ``push``, and concern the trainer: of the ``first`` place
        and those behind it, ``most`` of them. And the place of the next one, if there is one."""
        find = self._looked_at if push < self._listed_after else self._looked_up
        places = find(push, trainer, first, most)
        end = int(places[most]) if len(places) > most else None
        return self._rows.ids(places[:most]), end

    def _looked_at(self, push: int, trainer: int, first: int, most: int) -> np.ndarray:
        """Places, of ``most`` of them all and of others some."""
        found, count = [np.empty(0, np.int64)], 0
        for begin in range(first, len(self._last), _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            found.append(begin + np.flatnonzero(self._is_after(push, trainer, part)))
            count += len(found[-1])
            if count > most:
                break
        return np.concatenate(found)

    def _looked_up(self, push: int, trainer: int, first: int, most: int) -> np.ndarray:
        """The same from what is listed."""
        newest_first = takewhile(lambda each: each[0] > push, reversed(self._list))
        listed = [places[places >= first] for _, places in newest_first]
        places = np.unique(np.concatenate(listed)) if listed else np.empty(0, np.int64)
        found: np.ndarray = places[self._is_after(push, trainer, places)]
        return found

    def _make_room(self, rows: int) -> None:
        """For more of them, which nobody has stamped."""
        self._last = _longer(self._last, rows, 0)
        if not self._own:
            self._by, self._before = _longer(self._by, rows, -1), _longer(self._before, rows, 0)

    def _is_after(self, push: int, trainer: int, places: np.ndarray | slice) -> np.ndarray:
        """Whether the rows at ``places`` were."""
        last = self._last[places]
        if not self._own:
            last = np.where(self._by[places] == trainer, self._before[places], last)
        return last > push


def stamp_bytes(update: UpdateSpec) -> int:
    """What is kept for each row."""
    if not update.mode.is_local:
        return 0
    return 8 if _tells_own(update) else 8 + 8 + 4


def changes_of(update: UpdateSpec, tables: Tables, trainers: int, *, restored: bool) -> Changes | None:
    """The changes that trainers are told of in this job, if they are. ``restored``: the shard has gone back
    to a snapshot, so that any row may be another than they know."""
    if not update.mode.is_local:
        return None
    each = stamp_bytes(update)
    rows = [_places(table.held, tables, each, restored=restored) for table in tables.rows.values()]
    widths = [table.held.width for table in tables.rows.values()]
    return Changes(trainers, rows, widths, own=_tells_own(update), restored=restored)


def _places(held: RowRange, tables: Tables, each_bytes: int, *, restored: bool) -> Places:
    """``each_bytes``: what is kept for each of them."""
    if not held.parameter.is_open:
        return PackedPlaces(held)
    from paddle._pserver.tables.open_places import OpenPlaces  # loads numba

    table = tables.open_table(held.parameter.name)

    def reserve(count: int, own_bytes: int) -> None:
        tables.room.take(
            table.name, own_bytes + each_bytes * grown(0, count), "to know which rows were changed"
        )

    return OpenPlaces(table.ids() if restored else np.empty(0, np.int64), reserve)


def _longer(array: np.ndarray, size: int, filling: int) -> np.ndarray:
    return np.concatenate([array, np.full(size - len(array), filling, array.dtype)])


def _tells_own(update: UpdateSpec) -> bool:
    return update.mode.name != "geo"  # whose trainers know what they have added
