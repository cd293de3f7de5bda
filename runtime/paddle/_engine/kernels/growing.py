"""An index of cells grows, shrinks and forgets, in the memory where it is.

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
    HALF,
    IS,
    MARK,
    Array,
    Room,
    clear,
    copy,
    home_by,
    key_at,
    put,
    row_of,
)
from paddle._engine.kernels.kernel import kernel


@kernel
def widen(words: Array, count: int, rows: int, mark: int) -> None:
    """Give ``count`` cells of three words a fourth, in place in flat ``words``: ``mark``. Rows from number
    ``rows`` on have not been visited."""
    for cell in range(count - 1, -1, -1):
        low, high, what = words[3 * cell], words[3 * cell + 1], words[3 * cell + 2]
        born = np.int64(what) > rows
        words[4 * cell], words[4 * cell + 1] = low, high
        words[4 * cell + 2] = what | BORN if born else what
        words[4 * cell + 3] = mark if what != EMPTY else 0


@kernel
def take_out(cells: Array, room: Room, most: int) -> tuple[np.uint64, int, int, Array]:
    """Let the turn climb past ``most`` cells: those that hold the last keys above it, and what stands right
    behind them. They are emptied.

    Returns the new turn, how many cells it passed, the first of them (0: no key is left above), and what was
    taken out, in order.
    """
    capacity, _, turn = room
    end = home_by(turn, capacity)
    while cells[end, IS] != EMPTY and key_at(cells, end) >= turn:
        end += 1
    first, stop = max(0, end - most), end
    while cells[stop, IS] != EMPTY:
        stop += 1
    taken = np.empty((stop - first, cells.shape[1]), np.uint32)
    count = 0
    for cell in range(first, stop):
        if cells[cell, IS] != EMPTY:
            copy(cells, cell, taken, count)
            clear(cells, cell)
            count += 1
    if count and key_at(taken, 0) >= turn:
        turn = key_at(taken, 0) + np.uint64(1)  # past the largest of all keys it is 0: nothing was left
    elif first > 0:
        turn = _turn_at(first, capacity)
    return turn, end - first, first, taken[:count]


@kernel
def _turn_at(first: int, capacity: np.uint64) -> Any:
    """Below it are the keys with a home in cell ``first``, which is not 0, or behind."""
    return ~((((np.uint64(first) << HALF) + capacity - np.uint64(1)) // capacity) << HALF) + np.uint64(1)


@kernel
def lay(cells: Array, capacity: np.uint64, taken: Array, last: int) -> tuple[int, int]:
    """Put what was taken out into cells behind ``last``, in order, as near to home as that goes.

    Returns the last cell that was filled and how many were; others are left where one stands in the way, or
    the cells are at their end.
    """
    for i in range(taken.shape[0]):
        cell = max(last + 1, home_by(key_at(taken, i), capacity))
        if cell + 1 >= cells.shape[0] or cells[cell, IS] != EMPTY:
            return last, i
        copy(taken, i, cells, cell)
        last = cell
    return last, taken.shape[0]


@kernel
def push(
    cells: Array, capacity: np.uint64, taken: Array, last: int, begin: int, left: int
) -> tuple[int, int, int]:
    """The same where others stand in the way.

    ``taken`` is a ring, of which ``left`` are to be put from number ``begin`` on: whoever stands in the way
    is taken out, and waits there for its turn. Returns the three anew; some are left where the cells are at
    their end.
    """
    hand = np.empty((1, cells.shape[1]), np.uint32)
    while left:
        cell = max(last + 1, home_by(key_at(taken, begin), capacity))
        if cell + 1 >= cells.shape[0]:
            break
        copy(cells, cell, hand, 0)
        copy(taken, begin, cells, cell)
        if hand[0, IS] == EMPTY:
            left -= 1
        else:
            copy(hand, 0, taken, (begin + left) % taken.shape[0])
        last, begin = cell, (begin + 1) % taken.shape[0]
    return last, begin, left


@kernel
def reach(cells: Array, capacity: np.uint64, used: int) -> int:
    """How many cells the ``used`` ones would need with another ``capacity``, the empty one at the end
    included."""
    end, seen = 0, 0
    for cell in range(cells.shape[0]):
        if cells[cell, IS] != EMPTY:
            end = max(end, home_by(key_at(cells, cell), capacity) + used - seen)
            seen += 1
    return end + 1


@kernel
def sweep(cells: Array, capacity: np.uint64, kept: Array, numbers: Array, day: int) -> int:
    """Erase rows that are not ``kept`` and candidates last seen on ``day`` or before; returns cells in use.

    Row r is row ``numbers[r]`` from now on. ``capacity`` is not larger than it was, which was one.
    """
    last, used = -1, 0
    for cell in range(cells.shape[0]):
        what = cells[cell, IS]
        if what == EMPTY:
            continue
        key, mark = key_at(cells, cell), cells[cell, MARK]
        clear(cells, cell)
        if what >= CANDIDATE:
            if np.int64(what & DAY) <= day:
                continue
        else:
            if not kept[row_of(what)]:
                continue
            what = (what & BORN) | np.uint32(numbers[row_of(what)] + 1)
        last = max(last + 1, home_by(key, capacity))
        put(cells, last, key)
        cells[last, IS], cells[last, MARK] = what, mark
        used += 1
    return used
