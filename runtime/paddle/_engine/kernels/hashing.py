"""An index from ids to numbers of rows: open addressing over int64 ids, kept in one flat array of cells.

A cell is two uint64: a *key*, which is the id scrambled by a bijection, and a *state*, zero where the cell is
empty. So no id can be mistaken for an empty cell, and memory fresh from the system is an empty index. The
high half of a state says what the id is, the low half, here called the *mark*, belongs to the caller:

    row number + 1, perhaps with BORN       the id has this row; mark: any number below 2**32
    CANDIDATE, and a day                    it has none yet; mark: how often it was seen

Where marks are given or taken, that of a row with BORN has a minus: nobody has visited the row yet.

Keys stand in descending order (ordered linear probing, Amble and Knuth 1974), each at or after its home,
which falls with the key: one look past the place of an absent id ends the search, the cells do not depend on
the order in which ids came, and growing or erasing is a sweep in place through neighbouring memory. The last
cell is always empty.

It must never know what a row holds. Each kernel is tested against a dict.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.prefetch import AHEAD, prefetch

Array = np.ndarray
Word = np.uint64

ABSENT = -1
CANDIDATE = np.uint64(1 << 63)
BORN = np.uint64(1 << 62)
MAX_ROWS = 1 << 30
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_ROW = np.uint64(0x3FFFFFFF)
_DAY = np.uint64(0x7FFFFFFF)
_EMPTY = np.uint64(0)
_M1, _M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_W1, _W2 = np.uint64(0x96DE1B173F119089), np.uint64(0x319642B2D24D8EC3)  # their inverses modulo 2**64
_S1, _S2, _S3 = np.uint64(30), np.uint64(27), np.uint64(31)
_T2, _T3 = np.uint64(54), np.uint64(62)


@kernel
def scrambled(number: int) -> Word:
    """A bijection of 64-bit numbers after which all bits depend on all bits (the finalizer of SplitMix64)."""
    x = np.uint64(number)
    x = (x ^ (x >> _S1)) * _M1
    x = (x ^ (x >> _S2)) * _M2
    return x ^ (x >> _S3)


@kernel
def unscrambled(key: Word) -> np.int64:
    """The number that was scrambled."""
    x = key ^ (key >> _S3) ^ (key >> _T3)
    x = x * _W2
    x = x ^ (x >> _S2) ^ (x >> _T2)
    x = x * _W1
    x = x ^ (x >> _S1) ^ (x >> np.uint64(60))
    return np.int64(x)


@kernel
def home(key: Word, capacity: int) -> Any:
    """The first cell where a key may be; ``capacity`` is below 2**32."""
    return np.int64(((~key >> _HALF) * np.uint64(capacity)) >> _HALF)


@kernel
def seek(cells: Array, capacity: int, key: Word) -> Any:
    """The cell that holds the key or, where the index has none, would come to hold it."""
    cell = home(key, capacity)
    while cells[2 * cell] > key:
        cell += 1
    return cell


@kernel
def find(cells: Array, capacity: int, ids: Array, rows: Array) -> int:
    """``rows[i]``: the row of ``ids[i]``, or ABSENT; returns how many are absent."""
    absent = 0
    for i in range(ids.shape[0]):
        if i + AHEAD < ids.shape[0]:
            prefetch(cells, 2 * home(scrambled(ids[i + AHEAD]), capacity))
        key = scrambled(ids[i])
        cell = seek(cells, capacity, key)
        state = cells[2 * cell + 1] if cells[2 * cell] == key else _EMPTY
        rows[i] = np.int64(state >> _HALF & _ROW) - 1 if state < CANDIDATE else ABSENT
        absent += rows[i] == ABSENT
    return absent


@kernel
def visit(cells: Array, capacity: int, ids: Array, mark: int, rows: Array, marks: Array) -> int:
    """As ``find``, and each row is visited: its mark becomes ``mark``; ``marks[i]`` is what it was."""
    absent = 0
    for i in range(ids.shape[0]):
        if i + AHEAD < ids.shape[0]:
            prefetch(cells, 2 * home(scrambled(ids[i + AHEAD]), capacity))
        key = scrambled(ids[i])
        cell = seek(cells, capacity, key)
        state = cells[2 * cell + 1] if cells[2 * cell] == key else _EMPTY
        if state == _EMPTY or state >= CANDIDATE:
            rows[i] = ABSENT
            absent += 1
            continue
        rows[i] = np.int64(state >> _HALF & _ROW) - 1
        marks[i] = _signed(state)
        cells[2 * cell + 1] = (state & (_ROW << _HALF)) | np.uint64(mark)
    return absent


@kernel
def read_marks(cells: Array, capacity: int, ids: Array, marks: Array) -> None:
    """The marks of ``ids``, all of which are in the index."""
    for i in range(ids.shape[0]):
        state = cells[2 * seek(cells, capacity, scrambled(ids[i])) + 1]
        marks[i] = _signed(state)


@kernel
def _signed(state: Word) -> Any:
    mark = np.int64(state & _LOW)
    return -mark if state < CANDIDATE and state & BORN else mark


@kernel
def remark(cells: Array, capacity: int, ids: Array, marks: Array) -> None:
    """Set the marks of ``ids``, all of which are in the index; a row with one above zero was visited."""
    for i in range(ids.shape[0]):
        cell = seek(cells, capacity, scrambled(ids[i]))
        state = cells[2 * cell + 1]
        kept = (state if marks[i] <= 0 or state >= CANDIDATE else state & ~BORN) & ~_LOW
        cells[2 * cell + 1] = kept | np.uint64(abs(marks[i]))


@kernel
def admit(
    cells: Array,
    capacity: int,
    ids: Array,
    needed: Array,
    waiting: Word,
    fresh: Word,
    limit: int,
    used: int,
    rows: int,
    born: Array,
) -> tuple[int, int, int]:
    """See each of ``ids`` once, in order; one that was seen ``needed[i]`` times gets the next row.

    ``used``: cells in use, ``rows``: rows given so far. New rows get the state ``fresh``, and their ids fill
    ``born`` (n,); others get ``waiting`` (CANDIDATE and the day). Returns how many ids were seen, fewer than
    all when ``limit`` cells are in use or the cells are at their end, and the new ``used`` and ``rows``.
    """
    first = rows
    for i in range(ids.shape[0]):
        if i + AHEAD < ids.shape[0]:
            prefetch(cells, 2 * home(scrambled(ids[i + AHEAD]), capacity))
        key = scrambled(ids[i])
        cell = seek(cells, capacity, key)
        state = cells[2 * cell + 1] if cells[2 * cell] == key else _EMPTY
        if state == _EMPTY:
            if used >= limit or not _open(cells, cell):
                return i, used, rows
            cells[2 * cell] = key
            used += 1
        elif state < CANDIDATE:
            continue
        seen = (state & _LOW) + np.uint64(1)
        if seen >= np.uint64(needed[i]):
            born[rows - first] = ids[i]
            rows += 1
            state = np.uint64(rows) << _HALF | fresh
        else:
            state = waiting | seen
        cells[2 * cell + 1] = state
    return ids.shape[0], used, rows


@kernel
def _open(cells: Array, cell: int) -> bool:
    """Make ``cell`` free by moving the run that begins there up by one; False at the end of the cells."""
    free = cell
    while cells[2 * free + 1] != _EMPTY:
        free += 1
    if 2 * free + 2 >= cells.shape[0]:
        return False
    for i in range(2 * free + 1, 2 * cell + 1, -1):
        cells[i] = cells[i - 2]
    return True


@kernel
def reach(cells: Array, capacity: int, used: int) -> int:
    """How many cells the ``used`` ones would need with another ``capacity``, the empty one at the end
    included."""
    end, seen = 0, 0
    for cell in range(cells.shape[0] // 2):
        if cells[2 * cell + 1] != _EMPTY:
            end = max(end, home(cells[2 * cell], capacity) + used - seen)
            seen += 1
    return end + 1


@kernel
def spread(cells: Array, capacity: int) -> None:
    """Bring all keys to their places for a larger ``capacity``, after empty cells were added at the end.

    All move to the very end first, in order, so that writing can never overtake reading.
    """
    packed = cells.shape[0]
    for i in range(cells.shape[0] - 2, -1, -2):
        key, state = cells[i], cells[i + 1]
        if state != _EMPTY:
            packed -= 2
            cells[i] = cells[i + 1] = _EMPTY
            cells[packed], cells[packed + 1] = key, state
    cell = -1
    for i in range(packed, cells.shape[0], 2):
        key, state = cells[i], cells[i + 1]
        cells[i] = cells[i + 1] = _EMPTY
        cell = max(cell + 1, home(key, capacity))
        cells[2 * cell], cells[2 * cell + 1] = key, state


@kernel
def stale(cells: Array, mark: int, kept: Array) -> None:
    """``kept[row]``: 0 where the row's mark is ``mark`` or less, that of a BORN one less than ``mark``; else
    1."""
    for i in range(0, cells.shape[0], 2):
        state = cells[i + 1]
        if state != _EMPTY and state < CANDIDATE:
            kept[np.int64(state >> _HALF & _ROW) - 1] = abs(_signed(state)) + (state & BORN != _EMPTY) > mark


@kernel
def sweep(cells: Array, capacity: int, kept: Array, numbers: Array, day: int) -> int:
    """Erase rows that are not ``kept`` and candidates last seen on ``day`` or before; returns cells in use.

    Row r is row ``numbers[r]`` from now on. ``capacity`` is not larger than it was.
    """
    cell, used = -1, 0
    for i in range(0, cells.shape[0], 2):
        key, state = cells[i], cells[i + 1]
        if state == _EMPTY:
            continue
        cells[i] = cells[i + 1] = _EMPTY
        if state >= CANDIDATE:
            if np.int64(state >> _HALF & _DAY) <= day:
                continue
        else:
            row = np.int64(state >> _HALF & _ROW) - 1
            if not kept[row]:
                continue
            state = (state & ~(_ROW << _HALF)) | np.uint64(numbers[row] + 1) << _HALF
        cell = max(cell + 1, home(key, capacity))
        cells[2 * cell], cells[2 * cell + 1] = key, state
        used += 1
    return used


@kernel
def by_row(cells: Array, ids: Array, marks: Array) -> None:
    """The id and the mark of every row."""
    for i in range(0, cells.shape[0], 2):
        state = cells[i + 1]
        if state != _EMPTY and state < CANDIDATE:
            row = np.int64(state >> _HALF & _ROW) - 1
            ids[row] = unscrambled(cells[i])
            marks[row] = _signed(state)


@kernel
def candidates(cells: Array, ids: Array, marks: Array, days: Array) -> None:
    """Id, mark and day of every candidate, in the order of their cells."""
    count = 0
    for i in range(0, cells.shape[0], 2):
        state = cells[i + 1]
        if state >= CANDIDATE:
            ids[count] = unscrambled(cells[i])
            marks[count] = np.int64(state & _LOW)
            days[count] = np.int64(state >> _HALF & _DAY)
            count += 1


@kernel
def date(cells: Array, capacity: int, ids: Array, days: Array) -> None:
    """Say on which day each of ``ids``, all of which are candidates, was last seen."""
    for i in range(ids.shape[0]):
        cell = seek(cells, capacity, scrambled(ids[i]))
        mark = cells[2 * cell + 1] & _LOW
        cells[2 * cell + 1] = CANDIDATE | np.uint64(days[i]) << _HALF | mark


@kernel
def behind(cells: Array, capacity: int, id: int) -> Any:
    """The first cell behind all that come before ``id`` in the order of cells, and behind its own."""
    key = scrambled(id)
    cell = seek(cells, capacity, key)
    return cell + 1 if cells[2 * cell] == key and cells[2 * cell + 1] != _EMPTY else cell


@kernel
def scan(cells: Array, first: int, ids: Array, rows: Array) -> int:
    """The next ids that have a row, from cell ``first`` on, as many as there is room for; returns how
    many."""
    count = 0
    for i in range(2 * first, cells.shape[0], 2):
        if count == ids.shape[0]:
            break
        state = cells[i + 1]
        if state != _EMPTY and state < CANDIDATE:
            ids[count] = unscrambled(cells[i])
            rows[count] = np.int64(state >> _HALF & _ROW) - 1
            count += 1
    return count
