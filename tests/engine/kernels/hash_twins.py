"""Ids scrambled, in Python's own integers: numbers drawn from them, and an index of cells as a list of what
it has, where each belongs follows from the keys alone. Written from what kernels/cells.py says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tests.engine.kernels.case import Draw, chance, filled, generator, integer

Array = np.ndarray
Room = tuple[Any, Any, Any]
CANDIDATE, BORN, TOP = 1 << 31, 1 << 30, 1 << 64
GOLDEN = 0x9E3779B97F4A7C15


class Entry(NamedTuple):
    key: int
    what: int
    mark: int

    @property
    def row(self) -> int:
        """-1 where the id has none."""
        return -1 if self.what >= CANDIDATE else self.what % BORN - 1

    @property
    def signed(self) -> int:
        return -self.mark if self.row >= 0 and self.what & BORN else self.mark

    @property
    def id(self) -> int:
        return unscrambled(self.key)


def scrambled(number: int) -> int:
    x = number % TOP
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % TOP
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % TOP
    return x ^ (x >> 31)


def unscrambled(key: int) -> int:
    x = key ^ (key >> 31) ^ (key >> 62)
    x = x * pow(0x94D049BB133111EB, -1, TOP) % TOP
    x = x ^ (x >> 27) ^ (x >> 54)
    x = x * pow(0xBF58476D1CE4E5B9, -1, TOP) % TOP
    x = x ^ (x >> 30) ^ (x >> 60)
    return x - TOP if x >= TOP // 2 else x


def draws(key: Any, ids: Array, width: int) -> Array:
    """24-bit numbers (n, width) that follow from ids."""
    starts = [scrambled(id + GOLDEN) ^ int(key) for id in ids.tolist()]
    numbers = [[scrambled(start + (j + 1) * GOLDEN) >> 40 for j in range(width)] for start in starts]
    return np.array(numbers, np.int64).reshape(len(ids), width)


def home(key: int, capacity: Any) -> int:
    return (TOP - 1 - key >> 32) * int(capacity) >> 32


def home_in(key: int, room: Room) -> int:
    return home(key, room[1] if key < int(room[2]) else room[0])


def entries(cells: Array) -> dict[int, Entry]:
    """What there is, and in which cells."""
    found = {}
    for cell, (low, high, what, *mark) in enumerate(cells.tolist()):
        if what:
            found[cell] = Entry(low | high << 32, what, *(mark or [0]))
    return found


def of_ids(cells: Array) -> dict[int, tuple[int, Entry]]:
    return {entry.id: (cell, entry) for cell, entry in entries(cells).items()}


def put(cells: Array, cell: int, entry: Entry | None) -> None:
    words = (entry.key % 2**32, entry.key >> 32, entry.what, entry.mark) if entry else (0, 0, 0, 0)
    cells[cell] = words[: cells.shape[1]]


def lay(cells: Array, found: Iterable[Entry], room: Room) -> bool:
    """The largest key first, each as near to home as that goes. Whether there is an empty cell left behind
    them; if not, nothing is done."""
    last, places = -1, []
    for entry in sorted(found, reverse=True):
        last = max(last + 1, home_in(entry.key, room))
        places.append((last, entry))
    if last + 1 >= len(cells):
        return False
    cells[:] = 0
    for cell, entry in places:
        put(cells, cell, entry)
    return True


def ids_of(draw: Draw, count: int) -> list[int]:
    """Ids each once, of which some have keys that are near to each other, or the least and the largest."""
    random = generator(draw)
    keys = random.integers(0, TOP - 1, count, np.uint64, endpoint=True).tolist()
    crowd = int(random.integers(0, TOP - 1, dtype=np.uint64))
    keys = [(crowd + i * 2**30) % TOP if random.random() < 0.4 else key for i, key in enumerate(keys)]
    keys[:0] = [0, TOP - 1] if chance(draw) else []
    return [unscrambled(key) for key in dict.fromkeys(keys)]


class Drawn(NamedTuple):
    """``ids``: all that are in the index, and more that are not."""

    cells: Array
    room: Room
    ids: list[int]
    rows: int
    used: int


def index(draw: Draw, *, is_marked: bool | None = None, grows: bool | None = None) -> Drawn:
    """Some ids have rows; of an index with marks, others may wait. It may be about to grow."""
    marked = chance(draw) if is_marked is None else is_marked
    ids, random = ids_of(draw, integer(draw, 0, 24)), generator(draw)
    capacity = integer(draw, 1, 40)
    room = np.uint64(capacity), np.uint64(capacity), np.uint64(0)
    keys = sorted(map(scrambled, ids))
    if chance(draw) if grows is None else grows:
        turn = (keys[integer(draw, 0, len(keys) - 1)] + 1) % TOP if keys and chance(draw) else 0
        room = np.uint64(capacity), np.uint64(capacity + integer(draw, 1, 40)), np.uint64(turn)
    there, rows, found = ids[: integer(draw, 0, len(ids))], 0, []
    for id in there:
        waits = marked and random.random() < 0.3
        rows += not waits
        what = (
            CANDIDATE + int(random.integers(0, 9))
            if waits
            else rows + marked * BORN * int(random.integers(0, 2))
        )
        found.append(Entry(scrambled(id), what, int(random.integers(1, 9)) if marked else 0))
    cells = np.zeros((int(room[1]) + 2 * len(ids) + 2, 4 if marked else 3), np.uint32)
    assert lay(cells, found, room)
    return Drawn(cells, room, ids, rows, len(there))


def int64(ids: Iterable[int]) -> Array:
    return np.array(list(ids), np.int64).reshape(-1)


def some(draw: Draw, ids: Iterable[int]) -> Array:
    """Some of them, in any order."""
    given = int64(ids)
    return generator(draw).permutation(given)[: integer(draw, 0, len(given))]


def room_for(ids: Array) -> Array:
    return filled(len(ids), dtype=np.int64)
