"""Lines of rows, compiled: an id, what is said of it, and numbers. See paddle._engine.checkpoint.row_lines,
which has the twins, and reads what this does not."""

from __future__ import annotations

from math import copysign, floor, isinf, isnan, log10

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.slot_lines import read_float

DIGITS = 9  # tell every float32 from the next
FEWEST = 6  # with which it is worth a try
POWERS = 10.0 ** np.arange(-60, 61)
"""Those that a float32 of nine digits needs; they are exact, or nearly so."""
ZERO = 60
LINE = 48
"""Bytes that a line has at most beside its numbers."""
NUMBER = 17
"""Bytes that a number has at most, with what comes behind it."""
TAB, NEWLINE, COMMA = 9, 10, 44


@kernel
def write_rows(
    ids: np.ndarray, said: np.ndarray, values: np.ndarray, powers: np.ndarray, text: np.ndarray
) -> int:
    """Write a line for each row into ``text`` (bytes): its id, ``said``, and its numbers with a comma behind
    each. Returns how many bytes there are."""
    at = 0
    for row in range(len(ids)):
        at = _put_int(ids[row], text, at)
        text[at : at + len(said)] = said
        at += len(said)
        for column in range(values.shape[1]):
            at = _put_float(values[row, column], powers, text, at)
            text[at] = COMMA
            at += 1
        text[at] = NEWLINE
        at += 1
    return at


@kernel
def _put_int(value: np.uint64, text: np.ndarray, at: int) -> int:
    size, rest, ten = 1, value // np.uint64(10), np.uint64(10)
    while rest > np.uint64(0):
        rest //= ten
        size += 1
    rest = value
    for place in range(at + size - 1, at - 1, -1):
        text[place] = np.uint8(48) + np.uint8(rest % ten)
        rest //= ten
    return at + size


@kernel
def _put_float(value: np.float32, powers: np.ndarray, text: np.ndarray, at: int) -> int:
    if isnan(value):
        text[at], text[at + 1], text[at + 2] = 110, 97, 110
        return at + 3
    if copysign(1.0, value) < 0:
        text[at] = 45
        at += 1
    if isinf(value):
        text[at], text[at + 1], text[at + 2] = 105, 110, 102
        return at + 3
    if value == 0:
        text[at] = 48
        return at + 1
    digits, power = _shortest(abs(value), powers)
    if power < -4 or power >= DIGITS:
        at = _put_fixed(digits, 0, text, at)
        at = _put_power(power, text, at)
    else:
        at = _put_fixed(digits, power, text, at)
    return at


@kernel
def _shortest(value: np.float32, powers: np.ndarray) -> tuple[np.int64, int]:
    """The fewest digits, as a number of nine, that are ``value`` when they are read, and the power of ten of
    the first."""
    wide = np.float64(value)
    power = floor(log10(wide))
    scaled = wide * powers[ZERO + DIGITS - 1 - power]
    if scaled >= 999999999.5:
        power += 1
        scaled = wide * powers[ZERO + DIGITS - 1 - power]
    elif scaled < 99999999.5:
        power -= 1
        scaled = wide * powers[ZERO + DIGITS - 1 - power]
    back = powers[ZERO + power + 1 - DIGITS]
    found = np.rint(scaled)
    unit = 10.0
    for _ in range(DIGITS - FEWEST):
        tried = np.rint(scaled / unit) * unit
        read = tried * back
        if np.float32(read * (1.0 - 2e-15)) != value or np.float32(read * (1.0 + 2e-15)) != value:
            break
        found = tried
        unit *= 10.0
    if found >= 1e9:
        return np.int64(found) // 10, power + 1
    return np.int64(found), power


@kernel
def _put_fixed(digits: np.int64, power: int, text: np.ndarray, at: int) -> int:
    """Nine digits of which the first stands at this power of ten, without what is nothing behind the
    point."""
    if power < 0:
        text[at], text[at + 1] = 48, 46
        at += 2
        for _ in range(-1 - power):
            text[at] = 48
            at += 1
    whole = power + 1 if power >= 0 else DIGITS
    many = DIGITS
    while digits % 10 == 0 and many > max(power + 1, 1):
        digits //= 10
        many -= 1
    for place in range(many - 1, -1, -1):
        rest = digits // 10
        text[at + place + int(place >= whole)] = np.uint8(48 + digits - rest * 10)
        digits = rest
    if many > whole:
        text[at + whole] = 46
        many += 1
    return at + many


@kernel
def _put_power(power: int, text: np.ndarray, at: int) -> int:
    text[at], text[at + 1] = 101, 45 if power < 0 else 43
    size = abs(power)
    text[at + 2], text[at + 3] = np.uint8(48 + size // 10), np.uint8(48 + size % 10)
    return at + 4


@kernel
def read_rows(text: np.ndarray, ids: np.ndarray, values: np.ndarray, tens: np.ndarray) -> int:
    """Read lines of ``text`` (bytes) into ``ids`` and ``values``, one after another. Returns how many there
    are; it ends early before the first that is not plainly written."""
    at, size, row = 0, len(text), 0
    while at < size:
        end = at
        while end < size and text[end] != NEWLINE:
            end += 1
        if row == len(ids) or not _read_row(text, at, end, ids, values, row, tens):
            return row
        row += 1
        at = end + 1
    return row


@kernel
def _read_row(
    text: np.ndarray, at: int, end: int, ids: np.ndarray, values: np.ndarray, row: int, tens: np.ndarray
) -> bool:
    first, id = at, np.uint64(0)
    while at < end and 48 <= text[at] <= 57:
        id = id * np.uint64(10) + np.uint64(text[at] - 48)
        at += 1
    size = at - first
    if size == 0 or size > 19 or at >= end or text[at] != TAB:  # of more digits it might be too large
        return False
    ids[row] = np.int64(id)
    at = end
    while text[at - 1] != TAB:
        at -= 1
    while end > at and (text[end - 1] == COMMA or text[end - 1] == 13):
        end -= 1
    for column in range(values.shape[1]):
        stop = at
        while stop < end and text[stop] != COMMA:
            stop += 1
        reached, value = read_float(text, at, stop, tens)
        if reached != stop:
            return False
        values[row, column] = value
        at = stop + 1
    return at == end + 1
