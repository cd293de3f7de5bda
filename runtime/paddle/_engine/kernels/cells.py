"""The cells of an index from ids to numbers of rows, and where the key of an id belongs among them.

A cell is three or four words of 32 bits, uint32 (cells, 3 or 4): a *key* in two, its low half first, which is
the id scrambled by a bijection; what the id *is*, zero where the cell is empty; and a *mark*, in an index
that has marks. So no id can be mistaken for an empty cell, and memory fresh from the system is an empty
index. The mark belongs to the caller:

    row number + 1, perhaps with BORN       the id has this row; mark: any number below 2**32
    CANDIDATE, and a day                    it has none yet; mark: how often it was seen

Where marks are given or taken, that of a row with BORN has a minus: nobody has visited the row yet. Without
marks there is neither BORN nor a candidate.

A *room* is three uint64: a capacity, a larger one, and the turn between them. Keys below the turn, which
stand behind all others, have their home by the larger capacity. While the turn climbs, from 0 past the
largest key, an index grows where it is, from its end (growing.py).

It must never know what is searched for, nor what a row holds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray
Word = np.uint64
Room = tuple[np.uint64, np.uint64, np.uint64]

CANDIDATE = np.uint32(1 << 31)
BORN = np.uint32(1 << 30)
MAX_ROWS = (1 << 30) - 1
ROW = np.uint32(BORN - 1)
DAY = np.uint32(CANDIDATE - 1)
EMPTY = np.uint32(0)
IS, MARK = 2, 3  # where these words stand; those of the key are 0 and 1
HALF = np.uint64(32)
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
def key_at(cells: Array, cell: int) -> Word:
    """The key in a cell, 0 where that is empty."""
    return np.uint64(cells[cell, 0]) | np.uint64(cells[cell, 1]) << HALF


@kernel
def row_of(what: np.uint32) -> Any:
    """The number of a row."""
    return np.int64(what & ROW) - 1


@kernel
def home_by(key: Word, capacity: np.uint64) -> Any:
    """The first cell where a key may be; a capacity is below 2**32."""
    return np.int64(((~key >> HALF) * capacity) >> HALF)


@kernel
def home(key: Word, room: Room) -> Any:
    """The same while an index grows."""
    return home_by(key, room[1] if key < room[2] else room[0])


@kernel
def put(cells: Array, cell: int, key: Word) -> None:
    """A key, about which nothing is known yet, into a cell."""
    clear(cells, cell)
    cells[cell, 0], cells[cell, 1] = key & np.uint64(0xFFFFFFFF), key >> HALF


@kernel
def clear(cells: Array, cell: int) -> None:
    """Empty a cell."""
    cells[cell, 0] = cells[cell, 1] = cells[cell, 2] = 0
    if cells.shape[1] > MARK:
        cells[cell, MARK] = 0


@kernel
def copy(source: Array, i: int, target: Array, j: int) -> None:
    """Cell i into cell j, word by word: a loop over words would cost more than all of them."""
    target[j, 0], target[j, 1], target[j, 2] = source[i, 0], source[i, 1], source[i, 2]
    if source.shape[1] > MARK:
        target[j, MARK] = source[i, MARK]
