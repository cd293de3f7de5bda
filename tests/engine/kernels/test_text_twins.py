"""Lines that compiled loops read and write, against Python's own words and numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from paddle._engine.checkpoint import row_lines as lines_of_rows
from paddle._engine.kernels import row_lines, slot_lines
from tests.engine.kernels.case import Case, Draw, filled, generator, held, integer

Array = np.ndarray
SAID = b"\t1\t0\t"
FLOAT = re.compile(rb"-?(?:\d+\.?(\d*)|\.(\d+))(?:[eE]([+-]?\d{1,4}))?")
INT = re.compile(rb"-?\d{1,20}")
BAD_FLOATS = [b"nan", b"1e", b"1.2.3", b"--1", b"+1", b"", b"1e-30", b"1e23", b"-", b".", b"2x", b"1e00001"]
FLOATS = [b"0", b"-0", b".5", b"5.", b"1e22", b"1E-22", b"-12.5e+3", b"000.25", b"123456789012345", b"1e0001"]
BAD_INTS = [
    b"1.0",
    b"x",
    b"-",
    b"+1",
    b"18446744073709551616",
    b"-9223372036854775809",
    b"0" * 21,
    b"99999999999999999999",
]
INTS = [b"18446744073709551615", b"-9223372036854775808", b"9223372036854775808", b"00012", b"-0", b"0" * 20]


def number(word: bytes) -> float | None:
    """None where it is not plainly written: its power of ten might be inexact."""
    found = FLOAT.fullmatch(word)
    if found is None or abs(len(found[1] or found[2] or b"") - int(found[3] or 0)) > 22:
        return None
    return float(word)


def whole(word: bytes) -> int | None:
    if not INT.fullmatch(word) or not -(2**63) <= int(word) < 2**64:
        return None
    return int(word) - 2**64 if int(word) >= 2**63 else int(word)


def write_rows(ids: Array, said: Array, values: Array, powers: Array, text: Array) -> int:
    lines = (
        f"{id}{said.tobytes().decode()}{''.join(f'{lines_of_rows._shortest(value)},' for value in row)}\n"
        for id, row in zip(ids.tolist(), values, strict=True)
    )
    found = np.frombuffer("".join(lines).encode(), np.uint8)
    text[: len(found)] = found
    return len(found)


def read_rows(text: Array, ids: Array, values: Array, tens: Array) -> int:
    for place, line in enumerate(text.tobytes().splitlines()):
        id, has_tab, tail = line.partition(b"\t")
        row = [number(word.lstrip(b" \t\r")) for word in tail.rpartition(b"\t")[2].rstrip(b",\r").split(b",")]
        if not re.fullmatch(rb"\d{1,19}", id) or not has_tab or None in row or len(row) != values.shape[1]:
            return place
        ids[place], values[place] = np.array(int(id), np.uint64).astype(np.int64), row
    return text.tobytes().count(b"\n") + (len(text) > 0 and not text.tobytes().endswith(b"\n"))


def _slots(words: list[bytes], kinds: Array) -> tuple[list[list[Any]], bool] | None:
    """The values of each slot, and whether words are left; None where something is not plainly written."""
    slots: list[list[Any]] = []
    for is_float in kinds:
        if not words or not re.fullmatch(rb"\d{1,9}", words[0]) or int(words[0]) == 0:
            return None
        many = int(words[0])
        values = [(number if is_float else whole)(word) for word in words[1 : 1 + many]]
        if len(values) < many or None in values:
            return None
        slots.append(values)
        words = words[1 + many :]
    return slots, bool(words)


def read_lines(
    text: Array, begin: int, kinds: Array, counts: Array, ints: Array, floats: Array, tens: Array
) -> tuple[int, ...]:
    at, read, surplus = begin, 0, 0
    kept: dict[bool, list[Any]] = {False: [], True: []}
    for line in text[begin:].tobytes().splitlines(keepends=True):
        if line.split():
            slots = _slots(line.split(), kinds)
            if slots is None:
                break
            counts[read] = [len(values) for values in slots[0]]
            for values, is_float in zip(slots[0], kinds.tolist(), strict=True):
                kept[is_float] += values
            read, surplus = read + 1, surplus + slots[1]
        at += len(line)
    ints[: len(kept[False])], floats[: len(kept[True])] = kept[False], kept[True]
    return at, read, len(kept[False]), len(kept[True]), surplus


def part_by_slots(
    counts: Array, kinds: Array, is_float: bool, values: Array, starts: Array, out: Array
) -> None:
    own = np.where(kinds == is_float, counts, 0).reshape(-1)
    parts = np.split(values, np.cumsum(own))[:-1]
    for slot in range(len(kinds)):
        part = np.concatenate([values[:0], *parts[slot :: len(kinds)]])
        out[starts[slot] : starts[slot] + len(part)] = part
        starts[slot] += len(part)


def bytes_of(text: bytes) -> Array:
    return np.frombuffer(text, np.uint8)


def rows_to_write(draw: Draw) -> tuple[Any, ...]:
    """Any bits, few digits, of sizes that are written without a power, too, and next to powers of ten."""
    shape, random, kind = (integer(draw, 0, 9), integer(draw, 0, 9)), generator(draw), integer(draw, 0, 2)
    values = random.integers(0, 2**32, shape, np.uint32).view(np.float32)
    if kind == 1:
        values = np.round(random.standard_normal(shape), 3) * 10.0 ** random.integers(-7, 11, shape)
    if kind == 2:
        values = (10.0 ** random.integers(-45, 39, shape)).astype(np.float32)
        values = np.nextafter(values, random.integers(-1, 2, shape).astype(np.float32) * values)
    ids = random.integers(0, 2**64, shape[0], np.uint64) >> np.uint64(integer(draw, 0, 63))
    text = filled(values.size * row_lines.NUMBER + shape[0] * row_lines.LINE, dtype=np.uint8)
    return ids, bytes_of(SAID), values.astype(np.float32), row_lines.POWERS, text


def words(draw: Draw, count: int, usual: list[bytes], bad: list[bytes]) -> list[bytes]:
    """Numbers of which one in forty is badly written."""
    random = generator(draw)
    found = [b"%d" % each for each in random.integers(-999, 1000, count)]
    if usual is FLOATS:
        found = [b"%.*e" % (int(each) % 9, each) for each in random.standard_normal(count)]
    for place in range(count):
        dice = random.integers(0, 40)
        found[place] = (
            random.choice(bad) if dice == 0 else random.choice(usual) if dice < 12 else found[place]
        )
    return found


def rows_to_read(draw: Draw) -> tuple[Any, ...]:
    width, lines = integer(draw, 1, 4), []
    for _ in range(integer(draw, 0, 5)):
        id = words(draw, 1, [b"9999999999999999999", b"0"], [b"-1", b"", b"1" * 20, b"x"])[0].lstrip(b"-")
        cells = words(draw, width + (integer(draw, 0, 30) == 0), FLOATS, BAD_FLOATS)
        said = (b"\t", SAID, b"")[min(integer(draw, 0, 40), 2) if integer(draw, 0, 9) == 0 else 1]
        lines.append(id + said + b",".join(cells) + (b",", b"", b",\r")[integer(draw, 0, 2)])
    text = b"\n".join(lines) + b"\n" * integer(draw, 0, 1)
    return bytes_of(text), filled(6, dtype=np.int64), filled(6, width), slot_lines.TENS


def lines_to_read(draw: Draw) -> tuple[Any, ...]:
    kinds = np.array([integer(draw, 0, 1) == 1 for _ in range(integer(draw, 1, 3))])
    text = b""
    for _ in range(integer(draw, 0, 5)):
        line: list[bytes] = []
        for is_float in kinds:
            many = integer(draw, 1, 3)
            lie = (b"0", b"%d" % (many + 2), b"x", b"1000000000")[integer(draw, 0, 3)]
            line.append(b"%d" % many if integer(draw, 0, 30) else lie)
            line += words(draw, many, *((FLOATS, BAD_FLOATS) if is_float else (INTS, BAD_INTS)))
        line += [b"7"] * (integer(draw, 0, 5) == 0)
        text += (b" ", b"\t", b"  ")[integer(draw, 0, 2)].join(line)
        text += (b"\n", b"\r\n", b" \n\n")[integer(draw, 0, 2)]
    text, begin = (text[:-1] if integer(draw, 0, 3) == 0 else text), 0
    if b"\n" in text and integer(draw, 0, 1):
        begin = text.index(b"\n") + 1
    counts, most = filled(text.count(b"\n") + 1, len(kinds), dtype=np.int32), len(text) // 2 + 1
    return bytes_of(text), begin, kinds, counts, filled(most, dtype=np.int64), filled(most), slot_lines.TENS


def of_lines(made: tuple[int, ...], *arguments: Any) -> tuple[Any, ...]:
    """Not what a line has left behind that is not read."""
    _, lines, ints, floats, _ = made
    return made, arguments[3][:lines], arguments[4][:ints], arguments[5][:floats]


def to_part(draw: Draw) -> tuple[Any, ...]:
    lines, slots, random = integer(draw, 0, 5), integer(draw, 1, 4), generator(draw)
    counts, kinds = random.integers(1, 4, (lines, slots)).astype(np.int32), random.random(slots) < 0.5
    is_float = bool(integer(draw, 0, 1))
    totals = np.where(kinds == is_float, counts.sum(0), 0)
    values = random.integers(-(2**62), 2**62, totals.sum())
    values = values.astype(np.float32) if is_float else values
    starts = np.cumsum(totals) - totals
    return counts, kinds, is_float, values, starts, np.full_like(values, 7)


test_lines_are_those_of_the_twin = held(
    [
        Case(row_lines.write_rows, write_rows, rows_to_write),
        Case(
            row_lines.read_rows,
            read_rows,
            rows_to_read,
            shown=lambda made, text, ids, values, tens: (made, ids[:made], values[:made]),
        ),
        Case(slot_lines.read_lines, read_lines, lines_to_read, shown=of_lines),
        Case(slot_lines.part_by_slots, part_by_slots, to_part),
    ]
)
