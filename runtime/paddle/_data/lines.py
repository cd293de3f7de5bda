"""Lines of slots: text -> Records. For each slot of a line, in the order of ``use_var``: how many values, and
the values, with blanks between them.

It must never know whose output the text is, only what to call it. Guarantee: what is read is what Python's
own ``int`` and ``float`` read, rounded to float32 (of more than 15 digits a number in the very middle of two
may be either); ids may have 64 bits, and those from 2**63 on are the int64 of the same bits, as upstream's.
What is wrong is told with file, line and slot, and nothing of that text is given.
"""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass

import numpy as np

from paddle._complaint import Complaint
from paddle._data.records import Column, Records, joined
from paddle._data.slot import Slot

_log = logging.getLogger("paddle.dataset")
_SHOWN = 80
_LABELS = {many: re.compile(rb"(?:[ \t]*1[ \t]+(\S+))" * many) for many in (1, 2)}
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


class BadLine(Complaint, ValueError):
    """A line is not what its slots say."""

    exit_status = 1  # the data's fault, and not the program's


@dataclass(slots=True)
class Lines:
    """Reads the text of one source, piece by piece; a piece ends with a line. ``source``: its name;
    ``labels``: how many texts each line has before its slots, such as the number of a sample: ``1 TEXT``."""

    slots: tuple[Slot, ...]
    source: str
    labels: int = 0
    lines_before: int = 0
    has_warned: bool = False

    def read(self, text: bytes) -> Records:
        """The samples of whole lines. Raises BadLine."""
        if self.labels:
            found, text = self._parted(text)
            return Records(self.slots, self._read(text).columns, tuple(map(_texts, found)))
        return self._read(text)

    def _parted(self, text: bytes) -> tuple[list[list[bytes]], bytes]:
        """The texts before slots, of each kind those of all lines, and what is behind them."""
        found: list[list[bytes]] = [[] for _ in range(self.labels)]
        rest = []
        for line in _LINE.findall(text):
            taken = _LABELS[self.labels].match(line)
            for number, each in enumerate(found):
                each.append(taken[number + 1] if taken else b"")
            rest.append(line[taken.end() :] if taken else line)
        return found, b"".join(rest)

    def _read(self, text: bytes) -> Records:
        from paddle._engine.kernels.slot_lines import (
            TENS,
            read_lines,
        )  # compiled: not for who only lists files

        whole = np.frombuffer(text, np.uint8)
        kinds = np.array([slot.is_float for slot in self.slots])
        parts: list[Records] = []
        at = 0
        while at < len(whole):
            most = (len(whole) - at) // 2 + 1
            ints, floats = np.empty(most, np.int64), np.empty(most, np.float32)
            counts = np.empty((text.count(b"\n", at) + 1, len(kinds)), np.int32)
            begun = at
            at, lines, ints_read, floats_read, surplus = read_lines(
                whole, at, kinds, counts, ints, floats, TENS
            )
            if surplus:
                self._warn(surplus)
            parts.append(_by_slots(self.slots, kinds, counts[:lines], ints[:ints_read], floats[:floats_read]))
            if at < len(whole):
                end = text.find(b"\n", at)
                end = len(text) if end < 0 else end
                number = self.lines_before + text.count(b"\n", 0, at) + 1
                parts.append(self._one(text[at:end], number))
                at = end + 1
            assert at > begun
        self.lines_before += text.count(b"\n")
        return joined(self.slots, parts)

    def _one(self, line: bytes, number: int) -> Records:
        """The twin: one line, read by Python."""
        words = line.split()
        columns = []
        for place, slot in enumerate(self.slots):
            many = self._count(words, slot, place, number, line)
            taken, words = words[1 : 1 + many], words[1 + many :]
            if len(taken) < many:
                raise self._wrong(slot, place, number, line, f"says {many} values and has {len(taken)}")
            values = [self._value(word, slot, place, number, line) for word in taken]
            columns.append(Column(np.array(values, slot.dtype), np.array([0, many])))
        if words:
            self._warn(1)
        return Records(self.slots, tuple(columns))

    def _count(self, words: list[bytes], slot: Slot, place: int, number: int, line: bytes) -> int:
        if not words:
            raise self._wrong(slot, place, number, line, "is missing")
        try:
            many = int(words[0])
        except ValueError:
            raise self._wrong(
                slot, place, number, line, f"begins with {_said(words[0])} in place of a number of values"
            ) from None
        if many < 1:
            raise self._wrong(
                slot,
                place,
                number,
                line,
                f"has {many} values; give an empty one a value that stands for none",
            )
        return many

    def _value(self, word: bytes, slot: Slot, place: int, number: int, line: bytes) -> float | int:
        try:
            if slot.is_float:
                return float(word)
            value = int(word)
        except ValueError:
            kind = "number" if slot.is_float else "whole number"
            raise self._wrong(slot, place, number, line, f"has {_said(word)}, which is no {kind}") from None
        if not -(2**63) <= value < 2**64:
            raise self._wrong(slot, place, number, line, f"has {_said(word)}, which has more than 64 bits")
        return value - 2**64 if value >= 2**63 else value

    def _wrong(self, slot: Slot, place: int, number: int, line: bytes, what: str) -> BadLine:
        return BadLine(
            f"{self.source}, line {number}: slot {slot.name} (the {place + 1}. of {len(self.slots)}) {what}. "
            f"The line is {_said(line)}; it has, for each variable of use_var in its order, how many values "
            "there are, and the values"
        )

    def _warn(self, lines: int) -> None:
        if not self.has_warned:
            self.has_warned = True
            _log.warning(
                "%s: lines have more values than their %d slots say; what is left over is not read",
                self.source,
                len(self.slots),
            )


def _texts(found: list[bytes]) -> Column:
    return Column(np.frombuffer(b"".join(found), np.uint8), np.cumsum([0, *map(len, found)]))


def _said(text: bytes) -> str:
    shown = text.decode("utf-8", "replace")
    return repr(shown if len(shown) <= _SHOWN else shown[:_SHOWN] + "...")


def _by_slots(
    slots: tuple[Slot, ...], kinds: np.ndarray, counts: np.ndarray, ints: np.ndarray, floats: np.ndarray
) -> Records:
    """What lies line by line, slot by slot."""
    from paddle._engine.kernels.slot_lines import part_by_slots

    totals = counts.sum(axis=0, dtype=np.int64)
    offsets = np.zeros((len(slots), len(counts) + 1), np.int64)
    np.cumsum(counts.T, axis=1, out=offsets[:, 1:])
    values: dict[int, np.ndarray] = {}
    for is_float, found in ((True, floats), (False, ints)):
        own = np.flatnonzero(kinds == is_float)
        starts = np.zeros(len(slots), np.int64)
        starts[own] = np.cumsum(totals[own]) - totals[own]
        parted = np.empty_like(found)
        begins = starts.copy()
        part_by_slots(counts, kinds, is_float, found, starts, parted)
        values |= {int(i): parted[begins[i] : starts[i]] for i in own}
    return Records(slots, tuple(Column(values[i], offsets[i]) for i in range(len(slots))))
