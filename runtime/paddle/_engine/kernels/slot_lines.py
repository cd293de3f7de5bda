"""Lines of slots, compiled: `2 7 9 1 0.5` is two ids and one number. See paddle._data.lines, which has the
twin and reads what this does not."""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

TEN, MOST, HALF = np.uint64(10), np.uint64(2**64 - 1), np.uint64(2**63)
TENS = 10.0 ** np.arange(23)
"""The powers of ten that a float64 holds exactly."""


@kernel
def read_lines(
    text: np.ndarray,
    begin: int,
    is_float: np.ndarray,
    counts: np.ndarray,
    ints: np.ndarray,
    floats: np.ndarray,
    tens: np.ndarray,
) -> tuple[int, int, int, int, int]:
    """Read lines of ``text`` (bytes) from ``begin`` on. Line after line, slot after slot: how many values
    into ``counts[line]``, and they into ``ints`` or ``floats``.

    Returns (end, lines, ints, floats, surplus): where reading ended, how many lines, values and lines with
    more than their slots there were. It ends early before the first line that is not plainly written.
    """
    at, size, slots = begin, len(text), len(is_float)
    lines = ints_read = floats_read = surplus = 0
    while at < size:
        end = at
        while end < size and text[end] != 10:
            end += 1
        place = _past_blanks(text, at, end)
        if place == end:
            at = end + 1
            continue
        int_at, float_at = ints_read, floats_read
        for slot in range(slots):
            place, many = _count(text, place, end)
            if place >= 0 and is_float[slot]:
                place = _floats(text, place, end, floats[float_at:], many, tens)
                float_at += many
            elif place >= 0:
                place = _ints(text, place, end, ints[int_at:], many)
                int_at += many
            if place < 0:
                return at, lines, ints_read, floats_read, surplus
            counts[lines, slot] = many
        if _past_blanks(text, place, end) < end:
            surplus += 1
        ints_read, floats_read = int_at, float_at
        lines += 1
        at = end + 1
    return min(at, size), lines, ints_read, floats_read, surplus


@kernel
def _past_blanks(text: np.ndarray, at: int, end: int) -> int:
    while at < end and (text[at] == 32 or text[at] == 9 or text[at] == 13):
        at += 1
    return at


@kernel
def _is_blank(text: np.ndarray, at: int, end: int) -> bool:
    return at >= end or text[at] == 32 or text[at] == 9 or text[at] == 13


@kernel
def _ints(text: np.ndarray, at: int, end: int, out: np.ndarray, many: int) -> int:
    """So many whole numbers; where they end, or -1."""
    if many > end - at:
        return -1
    for place in range(many):
        at, value = _int(text, at, end)
        if at < 0:
            return -1
        out[place] = value
    return at


@kernel
def _floats(text: np.ndarray, at: int, end: int, out: np.ndarray, many: int, tens: np.ndarray) -> int:
    """So many numbers; where they end, or -1."""
    if many > end - at:
        return -1
    for place in range(many):
        at, value = read_float(text, at, end, tens)
        if at < 0:
            return -1
        out[place] = value
    return at


@kernel
def _count(text: np.ndarray, at: int, end: int) -> tuple[int, int]:
    """How many values follow; 1 or more. The place is -1 where that is not what stands there."""
    at = _past_blanks(text, at, end)
    first, many = at, 0
    while at < end and 48 <= text[at] <= 57:
        many = many * 10 + (text[at] - 48)
        at += 1
    if at == first or at - first > 9 or many == 0 or not _is_blank(text, at, end):
        return -1, 0
    return at, many


@kernel
def _int(text: np.ndarray, at: int, end: int) -> tuple[int, np.int64]:
    """A whole number of up to 64 bits, as the int64 of the same bits."""
    at = _past_blanks(text, at, end)
    is_negative = at < end and text[at] == 45
    at += is_negative
    first = at
    value = np.uint64(0)
    while at < end and 48 <= text[at] <= 57:
        digit = np.uint64(text[at] - 48)
        if at - first >= 19 and (value > MOST // TEN or at - first > 19 or value * TEN > MOST - digit):
            return -1, np.int64(0)
        value = value * TEN + digit
        at += 1
    if at == first or not _is_blank(text, at, end) or (is_negative and value > HALF):
        return -1, np.int64(0)
    return at, -np.int64(value) if is_negative else np.int64(value)


@kernel
def read_float(text: np.ndarray, at: int, end: int, tens: np.ndarray) -> tuple[int, float]:
    """A number whose power of ten is exact: of up to 15 digits it is the float64 that is nearest, of more, of
    which 18 count, at most the one beside it."""
    at = _past_blanks(text, at, end)
    is_negative = at < end and text[at] == 45
    at += is_negative
    digits = places = seen = 0
    value = np.int64(0)
    has_point = False
    while at < end and (48 <= text[at] <= 57 or (text[at] == 46 and not has_point)):
        if text[at] == 46:
            has_point = True
        else:
            seen += 1
            counts = digits < 18
            if counts:
                value = value * 10 + np.int64(text[at] - 48)
                digits += int(value > 0)
            places += int(has_point) - int(not counts)
        at += 1
    if seen == 0:
        return -1, 0.0
    if at < end and (text[at] == 101 or text[at] == 69):
        at, power = _power(text, at + 1, end)
        places -= power
    if at < 0 or not _is_blank(text, at, end) or places > 22 or places < -22:
        return -1, 0.0
    number = value / tens[places] if places >= 0 else value * tens[-places]
    return at, -number if is_negative else number


@kernel
def _power(text: np.ndarray, at: int, end: int) -> tuple[int, int]:
    is_negative = at < end and text[at] == 45
    if at < end and (text[at] == 45 or text[at] == 43):
        at += 1
    first, power = at, 0
    while at < end and 48 <= text[at] <= 57 and at - first < 4:
        power = power * 10 + (text[at] - 48)
        at += 1
    if at == first:
        return -1, 0
    return at, -power if is_negative else power


@kernel
def part_by_slots(
    counts: np.ndarray,
    kinds: np.ndarray,
    is_float: bool,
    values: np.ndarray,
    starts: np.ndarray,
    out: np.ndarray,
) -> None:
    """Put ``values``, in order of lines, in order of slots; ``starts[slot]`` is where its first goes."""
    at = 0
    for line in range(len(counts)):
        for slot in range(len(kinds)):
            many = counts[line, slot] if kinds[slot] == is_float else 0
            out[starts[slot] : starts[slot] + many] = values[at : at + many]
            starts[slot] += many
            at += many
