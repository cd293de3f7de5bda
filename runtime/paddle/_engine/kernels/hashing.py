"""Searching an index from ids to numbers of rows: open addressing over the cells of cells.py.

Keys stand in descending order (ordered linear probing, Amble and Knuth 1974), each at or after its home,
which falls with the key: one look past the place of an absent id ends the search, and the order of cells does
not depend on the order in which ids came. The last cell is always empty.

It must never know what a row holds. Each kernel is tested against a dict.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.kernels.cells import (
    BORN,
    CANDIDATE,
    DAY,
    EMPTY,
    IS,
    MARK,
    ROW,
    Array,
    Room,
    Word,
    copy,
    home,
    key_at,
    put,
    row_of,
    scrambled,
    unscrambled,
)
from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.prefetch import AHEAD, LINE, prefetch

ABSENT = -1
_NEAR = 12  # words from the beginning of a search within which most of them end


@kernel
def _row_at(cells: Array, cell: int, key: Word) -> Any:
    """The row of the key, which is in this cell or in none; ABSENT if it has none."""
    what = cells[cell, IS]
    return np.int64(what & ROW) - 1 if key_at(cells, cell) == key and what < CANDIDATE else ABSENT


@kernel
def _look_up(ids: Array, room: Room) -> tuple[Array, Array]:
    """The key of every id and the cell where the search for it begins."""
    keys, begin = np.empty(ids.shape[0], np.uint64), np.empty(ids.shape[0], np.int64)
    for i in range(ids.shape[0]):
        keys[i] = scrambled(ids[i])
        begin[i] = home(keys[i], room)
    return keys, begin


@kernel
def _ask(cells: Array, cell: int) -> None:
    """Ask for the memory of a search: the line where it begins, and a part of the next."""
    prefetch(cells, cell * cells.shape[1])
    prefetch(cells, cell * cells.shape[1] + _NEAR)


@kernel
def seek(cells: Array, room: Room, key: Word) -> Any:
    """The cell that holds the key or, where the index has none, would come to hold it."""
    return _seek(cells, home(key, room), key)


@kernel
def _seek(cells: Array, cell: int, key: Word) -> Any:
    while key_at(cells, cell) > key:
        cell += 1
    return cell


@kernel
def _there(cells: Array, cell: int, key: Word) -> Any:
    return key_at(cells, cell) == key and cells[cell, IS] != EMPTY


@kernel
def find(cells: Array, room: Room, ids: Array, rows: Array, store: Array) -> int:
    """``rows[i]``: the row of ``ids[i]``, or ABSENT; returns how many are absent.

    ``store``: where a row that is found will be needed soon, and is asked for (rows, width).
    """
    keys, begin = _look_up(ids, room)
    absent = 0
    for i in range(ids.shape[0]):
        if i + AHEAD < ids.shape[0]:
            _ask(cells, begin[i + AHEAD])
        key = keys[i]
        cell = _seek(cells, begin[i], key)
        row = _row_at(cells, cell, key)
        rows[i] = row
        absent += row == ABSENT
        for j in range(0, store.shape[1], LINE):
            prefetch(store, row * store.shape[1] + j)
    return absent


@kernel
def visit(cells: Array, room: Room, ids: Array, mark: int, rows: Array, marks: Array, store: Array) -> int:
    """As ``find``, and each row is visited: its mark becomes ``mark``; ``marks[i]`` is what it was."""
    keys, begin = _look_up(ids, room)
    absent = 0
    for i in range(ids.shape[0]):
        if i + AHEAD < ids.shape[0]:
            _ask(cells, begin[i + AHEAD])
        key = keys[i]
        cell = _seek(cells, begin[i], key)
        row = _row_at(cells, cell, key)
        rows[i] = row
        if row == ABSENT:
            absent += 1
            continue
        for j in range(0, store.shape[1], LINE):
            prefetch(store, row * store.shape[1] + j)
        marks[i] = _signed(cells, cell)
        cells[cell, IS] &= ROW
        cells[cell, MARK] = mark
    return absent


@kernel
def read_marks(cells: Array, room: Room, ids: Array, marks: Array) -> None:
    """The marks of ``ids``, all of which are in the index."""
    for i in range(ids.shape[0]):
        marks[i] = _signed(cells, seek(cells, room, scrambled(ids[i])))


@kernel
def _signed(cells: Array, cell: int) -> Any:
    what, mark = cells[cell, IS], np.int64(cells[cell, MARK])
    return -mark if what < CANDIDATE and what & BORN != EMPTY else mark


@kernel
def remark(cells: Array, room: Room, ids: Array, marks: Array) -> None:
    """Set the marks of ``ids``, all of which are in the index; a row with one above zero was visited."""
    for i in range(ids.shape[0]):
        cell = seek(cells, room, scrambled(ids[i]))
        if marks[i] > 0 and cells[cell, IS] < CANDIDATE:
            cells[cell, IS] &= ROW
        cells[cell, MARK] = abs(marks[i])


@kernel
def admit(
    cells: Array,
    room: Room,
    ids: Array,
    needed: Array,
    day: int,
    mark: int,
    limit: int,
    used: int,
    rows: int,
    born: Array,
) -> tuple[int, int, int]:
    """See each of ``ids`` once, in order; one that was seen ``needed[i]`` times gets the next row.

    ``used``: cells in use, ``rows``: rows given so far. New rows are BORN with ``mark``, and their ids fill
    ``born`` (n,); others wait as candidates of ``day``. Without marks all get a row, whatever is needed.
    Returns how many ids were seen, fewer than all when ``limit`` cells are in use or the cells are at their
    end, and the new ``used`` and ``rows``.
    """
    keys, begin = _look_up(ids, room)
    first, is_marked = rows, cells.shape[1] > MARK
    for i in range(ids.shape[0]):
        if i + AHEAD < ids.shape[0]:
            _ask(cells, begin[i + AHEAD])
        key = keys[i]
        cell = _seek(cells, begin[i], key)
        if not _there(cells, cell, key):
            if used >= limit or not _open(cells, cell):
                return i, used, rows
            put(cells, cell, key)
            used += 1
        elif cells[cell, IS] < CANDIDATE:
            continue
        if is_marked:
            seen = cells[cell, MARK] + 1
            if seen < needed[i]:
                cells[cell, IS], cells[cell, MARK] = CANDIDATE | np.uint32(day), seen
                continue
            cells[cell, MARK] = mark
        born[rows - first] = ids[i]
        rows += 1
        cells[cell, IS] = np.uint32(rows) | BORN if is_marked else np.uint32(rows)
    return ids.shape[0], used, rows


@kernel
def _open(cells: Array, cell: int) -> bool:
    """Make ``cell`` free by moving the run that begins there up by one; False at the end of the cells."""
    free = cell
    while cells[free, IS] != EMPTY:
        free += 1
    if free + 1 >= cells.shape[0]:
        return False
    for i in range(free, cell, -1):
        copy(cells, i - 1, cells, i)
    return True


@kernel
def stale(cells: Array, mark: int, kept: Array) -> None:
    """``kept[row]``: 0 where the row's mark is ``mark`` or less, that of a BORN one less than ``mark``; else
    1."""
    for cell in range(cells.shape[0]):
        what = cells[cell, IS]
        if what != EMPTY and what < CANDIDATE:
            kept[row_of(what)] = np.int64(cells[cell, MARK]) + (what & BORN != EMPTY) > mark


@kernel
def by_row(cells: Array, ids: Array, marks: Array) -> None:
    """The id of every row and, of an index that has them, its mark."""
    for cell in range(cells.shape[0]):
        what = cells[cell, IS]
        if what != EMPTY and what < CANDIDATE:
            ids[row_of(what)] = unscrambled(key_at(cells, cell))
            if cells.shape[1] > MARK:
                marks[row_of(what)] = _signed(cells, cell)


@kernel
def candidates(cells: Array, ids: Array, marks: Array, days: Array) -> None:
    """Id, mark and day of every candidate, in the order of their cells."""
    count = 0
    for cell in range(cells.shape[0]):
        what = cells[cell, IS]
        if what >= CANDIDATE:
            ids[count] = unscrambled(key_at(cells, cell))
            marks[count] = np.int64(cells[cell, MARK])
            days[count] = np.int64(what & DAY)
            count += 1


@kernel
def date(cells: Array, room: Room, ids: Array, days: Array) -> None:
    """Say on which day each of ``ids``, all of which are candidates, was last seen."""
    for i in range(ids.shape[0]):
        cells[seek(cells, room, scrambled(ids[i])), IS] = CANDIDATE | np.uint32(days[i])


@kernel
def behind(cells: Array, room: Room, id: int) -> Any:
    """The first cell behind all that come before ``id`` in the order of cells, and behind its own."""
    key = scrambled(id)
    cell = seek(cells, room, key)
    return cell + 1 if _there(cells, cell, key) else cell


@kernel
def scan(cells: Array, first: int, ids: Array, rows: Array) -> int:
    """The next ids that have a row, from cell ``first`` on, as many as there is room for; returns how
    many."""
    count = 0
    for cell in range(first, cells.shape[0]):
        if count == ids.shape[0]:
            break
        what = cells[cell, IS]
        if what != EMPTY and what < CANDIDATE:
            ids[count] = unscrambled(key_at(cells, cell))
            rows[count] = row_of(what)
            count += 1
    return count
