"""Kernels of an index from ids to rows against lists of what it has."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.kernels import growing, hashing
from tests.engine.kernels.case import Case, Draw, filled, generator, held, integer, normal
from tests.engine.kernels.hash_twins import (
    BORN,
    CANDIDATE,
    TOP,
    Entry,
    Room,
    entries,
    home,
    home_in,
    index,
    int64,
    lay,
    of_ids,
    put,
    room_for,
    scrambled,
    some,
)

Array = np.ndarray


def find(cells: Array, room: Room, ids: Array, rows: Array, store: Array) -> int:
    known = of_ids(cells)
    rows[:] = [known[id][1].row if id in known else -1 for id in ids.tolist()]
    return int((rows < 0).sum())


def visit(cells: Array, room: Room, ids: Array, mark: int, rows: Array, marks: Array, store: Array) -> int:
    absent = find(cells, room, ids, rows, store)
    for i in np.flatnonzero(rows >= 0):
        cell, entry = of_ids(cells)[int(ids[i])]
        marks[i] = entry.signed
        put(cells, cell, Entry(entry.key, entry.what % BORN, mark))
    return absent


def read_marks(cells: Array, room: Room, ids: Array, marks: Array) -> None:
    marks[:] = [of_ids(cells)[id][1].signed for id in ids.tolist()]


def remark(cells: Array, room: Room, ids: Array, marks: Array) -> None:
    for id, mark in zip(ids.tolist(), marks.tolist(), strict=True):
        cell, (key, what, _) = of_ids(cells)[id]
        put(cells, cell, Entry(key, what % BORN if mark > 0 and what < CANDIDATE else what, abs(mark)))


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
    is_marked, count = cells.shape[1] > 3, 0
    for i, id in enumerate(ids.tolist()):
        others = {key: entry for key, (_, entry) in of_ids(cells).items() if key != id}
        known = of_ids(cells).get(id)
        if known and known[1].row >= 0:
            continue
        seen = (known[1].mark if known else 0) + 1
        enters = not is_marked or seen >= needed[i]
        what = (rows + 1 + BORN * is_marked) if enters else CANDIDATE + day
        entry = Entry(scrambled(id), what, mark if enters else seen)
        if (not known and used >= limit) or not lay(cells, [*others.values(), entry], room):
            return i, used, rows
        used += not known
        if enters:
            born[count] = id
            rows, count = rows + 1, count + 1
    return len(ids), used, rows


def stale(cells: Array, mark: int, kept: Array) -> None:
    for entry in entries(cells).values():
        if entry.row >= 0:
            kept[entry.row] = entry.mark > (mark - 1 if entry.what & BORN else mark)


def by_row(cells: Array, ids: Array, marks: Array) -> None:
    for entry in entries(cells).values():
        if entry.row >= 0:
            ids[entry.row] = entry.id
            marks[entry.row] = entry.signed if cells.shape[1] > 3 else marks[entry.row]


def candidates(cells: Array, ids: Array, marks: Array, days: Array) -> None:
    waiting = [entry for entry in entries(cells).values() if entry.row < 0]
    for i, entry in enumerate(waiting):
        ids[i], marks[i], days[i] = entry.id, entry.mark, entry.what - CANDIDATE


def date(cells: Array, room: Room, ids: Array, days: Array) -> None:
    for id, day in zip(ids.tolist(), days.tolist(), strict=True):
        cells[of_ids(cells)[id][0], 2] = CANDIDATE + day


def behind(cells: Array, room: Room, id: int) -> int:
    key, known = scrambled(id), of_ids(cells).get(id)
    before = [cell for cell, entry in entries(cells).items() if entry.key > key]
    return known[0] + 1 if known else max([home_in(key, room), *(cell + 1 for cell in before)])


def scan(cells: Array, first: int, ids: Array, rows: Array) -> int:
    found = [entry for cell, entry in entries(cells).items() if cell >= first and entry.row >= 0][: len(ids)]
    ids[: len(found)], rows[: len(found)] = [one.id for one in found], [one.row for one in found]
    return len(found)


def widen(words: Array, count: int, rows: int, mark: int) -> None:
    cells = words[: 3 * count].reshape(count, 3).copy()
    what = cells[:, 2] | np.where(cells[:, 2] > rows, BORN, 0).astype(np.uint32)
    marks = np.where(what != 0, mark, 0).astype(np.uint32)
    words[: 4 * count] = np.column_stack([cells[:, :2], what, marks]).reshape(-1)


def take_out(cells: Array, room: Room, most: int) -> tuple[int, int, int, Array]:
    there, turn, capacity = entries(cells), int(room[2]), int(room[0])
    end = home(turn, capacity)
    while end in there and there[end].key >= turn:
        end += 1
    first = max(0, end - most)
    stop = next(cell for cell in range(end, len(cells)) if cell not in there)
    gone = [cell for cell in range(first, stop) if cell in there]
    taken = cells[gone]
    cells[gone] = 0
    if gone and there[gone[0]].key >= turn:
        turn = (there[gone[0]].key + 1) % TOP
    elif first > 0:  # below it are all keys with a home there, or behind
        turn = TOP - (-(-first * 2**32 // capacity) << 32)
    return turn, end - first, first, taken


def _keys(taken: Array) -> list[int]:
    return [entry.key for entry in entries(taken).values()]


def lay_taken(cells: Array, capacity: Any, taken: Array, last: int) -> tuple[int, int]:
    for i, key in enumerate(_keys(taken)):
        cell = max(last + 1, home(key, capacity))
        if cell + 1 >= len(cells) or cells[cell, 2]:
            return last, i
        cells[cell], last = taken[i], cell
    return last, len(taken)


def push(cells: Array, capacity: Any, taken: Array, last: int, begin: int, left: int) -> tuple[int, int, int]:
    waiting = [taken[(begin + i) % len(taken)].copy() for i in range(left)]
    while waiting:
        (key,) = _keys(waiting[0][None])
        cell = max(last + 1, home(key, capacity))
        if cell + 1 >= len(cells):
            break
        if cells[cell, 2]:
            waiting.append(cells[cell].copy())
        cells[cell], last, begin = waiting.pop(0), cell, (begin + 1) % len(taken)
    for i, words in enumerate(waiting):
        taken[(begin + i) % len(taken)] = words
    return last, begin, len(waiting)


def reach(cells: Array, capacity: Any, used: int) -> int:
    last = -1
    for entry in entries(cells).values():
        last = max(last + 1, home(entry.key, capacity))
    return last + 2


def sweep(cells: Array, capacity: Any, kept: Array, numbers: Array, day: int) -> int:
    found = []
    for entry in entries(cells).values():
        if entry.row < 0 and entry.what - CANDIDATE > day:
            found.append(entry)
        elif entry.row >= 0 and kept[entry.row]:
            found.append(entry._replace(what=(entry.what & BORN) + int(numbers[entry.row]) + 1))
    assert lay(cells, found, (capacity, capacity, 0))
    return len(found)


def store(draw: Draw) -> Array:
    return normal(draw, 40, integer(draw, 1, 40)) if integer(draw, 0, 1) else np.empty((0, 0), np.float32)


def found(draw: Draw) -> tuple[Any, ...]:
    cells, room, ids, *_ = index(draw)
    asked = some(draw, [*ids, *ids])
    return cells, room, asked, room_for(asked), store(draw)


def visited(draw: Draw) -> tuple[Any, ...]:
    cells, room, ids, *_ = index(draw, is_marked=True)
    asked = some(draw, ids)
    return cells, room, asked, 2**32 - 1, room_for(asked), room_for(asked), store(draw)


def marked(draw: Draw) -> tuple[Any, ...]:
    cells, room, *_ = index(draw, is_marked=True)
    asked = some(draw, of_ids(cells))
    return cells, room, asked, room_for(asked)


def remarked(draw: Draw) -> tuple[Any, ...]:
    cells, room, asked, marks = marked(draw)
    return cells, room, asked, generator(draw).integers(-9, 10, len(marks))


def admitted(draw: Draw) -> tuple[Any, ...]:
    """The cells may come to their end, and there may be a limit."""
    cells, room, ids, rows, used = index(draw)
    last = max(entries(cells), default=0)
    cells = cells[: max(last + 2, integer(draw, last, len(cells)))]
    limit = used + integer(draw, 0, 30)
    asked, random = some(draw, ids), generator(draw)
    needed = random.integers(1, 9, len(asked))
    return cells, room, asked, needed, 5, 2**32 - 1, limit, used, rows, room_for(asked)


def aged(draw: Draw) -> tuple[Any, ...]:
    cells, _, _, rows, _ = index(draw, is_marked=True)
    return cells, integer(draw, 0, 9), filled(rows, dtype=np.uint8)


def rowed(draw: Draw) -> tuple[Any, ...]:
    cells, _, _, rows, _ = index(draw)
    return cells, filled(rows, dtype=np.int64), filled(rows, dtype=np.int64)


def waiting(draw: Draw) -> tuple[Any, ...]:
    cells, _, _, rows, used = index(draw, is_marked=True)
    return cells, *(filled(used - rows, dtype=np.int64) for _ in range(3))


def dated(draw: Draw) -> tuple[Any, ...]:
    cells, room, *_ = index(draw, is_marked=True)
    ids = int64(id for id, (_, entry) in of_ids(cells).items() if entry.row < 0)
    return cells, room, ids, generator(draw).integers(0, 2**31 - 1, len(ids))


def sought(draw: Draw) -> tuple[Any, ...]:
    cells, room, ids, *_ = index(draw)
    return cells, room, ([*ids, 3])[integer(draw, 0, len(ids))]


def scanned(draw: Draw) -> tuple[Any, ...]:
    cells, *_ = index(draw)
    asked = filled(integer(draw, 0, 30), dtype=np.int64)
    return cells, integer(draw, 0, len(cells)), asked, asked.copy()


def widened(draw: Draw) -> tuple[Any, ...]:
    cells, _, _, rows, _ = index(draw, is_marked=False)
    words = np.concatenate([cells.reshape(-1), filled(len(cells), dtype=np.uint32)])
    return words, len(cells), integer(draw, 0, rows), integer(draw, 0, 2**32 - 1)


def grown(draw: Draw) -> tuple[Any, ...]:
    cells, room, *_ = index(draw, grows=True)
    return cells, room, integer(draw, 1, 30)


def laid(draw: Draw) -> tuple[Any, ...]:
    cells, room, most = grown(draw)
    _, _, first, taken = take_out(cells, room, most)
    return cells, room[1], taken, first - 1


def pushed(draw: Draw) -> tuple[Any, ...]:
    """Perhaps with the cells' end near."""
    cells, capacity, taken, last = laid(draw)
    last, begin = lay_taken(cells, capacity, taken, last)
    end = max(entries(cells), default=0)
    cells = cells[: max(end + 2, integer(draw, end, len(cells)))]
    return cells, capacity, taken, last, begin, len(taken) - begin


def still_waiting(made: tuple[int, ...], *arguments: Any) -> tuple[Any, ...]:
    """Not what is left in places of the ring that are free."""
    cells, _, taken, *_ = arguments
    return made, cells, taken[(made[1] + np.arange(made[2])) % max(len(taken), 1)]


def reached(draw: Draw) -> tuple[Any, ...]:
    cells, *_, used = index(draw)
    return cells, np.uint64(integer(draw, 1, 90)), used


def swept(draw: Draw) -> tuple[Any, ...]:
    cells, room, _, rows, _ = index(draw, is_marked=True, grows=False)
    kept = generator(draw).integers(0, 2, rows).astype(np.uint8)
    numbers = np.cumsum(kept, dtype=np.int32) - np.int32(1)
    return cells, np.uint64(integer(draw, 1, int(room[0]))), kept, numbers, integer(draw, -1, 9)


test_an_index_is_its_twin = held(
    [
        Case(hashing.find, find, found),
        Case(hashing.visit, visit, visited),
        Case(hashing.read_marks, read_marks, marked),
        Case(hashing.remark, remark, remarked),
        Case(hashing.admit, admit, admitted),
        Case(hashing.stale, stale, aged),
        Case(hashing.by_row, by_row, rowed),
        Case(hashing.candidates, candidates, waiting),
        Case(hashing.date, date, dated),
        Case(hashing.behind, behind, sought),
        Case(hashing.scan, scan, scanned),
        Case(growing.widen, widen, widened),
        Case(growing.take_out, take_out, grown),
        Case(growing.lay, lay_taken, laid),
        Case(growing.push, push, pushed, shown=still_waiting),
        Case(growing.reach, reach, reached),
        Case(growing.sweep, sweep, swept),
    ]
)
