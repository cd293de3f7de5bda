"""Journal: what one trainer has told one shard since that shard's newest snapshot, to tell it again in order.

Reads of rows are told again too: a row that steps passed by catches up when it is read (packed_table.py).

It must never know a connection. Guarantee: what a shard lacks that was restored from its newest snapshot, or
from a later one, is here; ``size_bytes`` is what is kept for it. How much that may be: account.py.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard, get_args

import msgspec

from paddle._pserver.protocol.messages import EndPass, Mark, Pull, PullRows, Push, Remind, Request, Seed

_LARGE = 1 << 17
_ENTRY_BYTES, _PART_BYTES = 400, 300  # besides what is in them; of small questions that is most

Journaled = Push | EndPass | Pull | PullRows
_JOURNALED = get_args(Journaled)


@dataclass(frozen=True, slots=True)
class Entry:
    """A question that changes a shard. ``before``: what had been told when it was asked."""

    message: Journaled
    body: Sequence[memoryview]
    before: Mark

    @property
    def size_bytes(self) -> int:
        """What is kept for it."""
        return kept_bytes(self.body)

    def lacks(self, mark: Mark) -> bool:
        """Whether a shard that has ``mark`` has to hear it again; reads: training decides."""
        match self.message:
            case Push():
                return self.before.pushes >= mark.pushes
            case EndPass():
                return self.before.passes >= mark.passes
            case _:
                return self.before.pushes >= mark.pushes and self.before.passes >= mark.passes


class Journal:
    """See the module's text."""

    def __init__(self) -> None:
        self.size_bytes = 0
        self.told = Mark()
        self._since = Mark()  # all that was told after this is here
        self._entries: deque[Entry] = deque()
        self._free: list[memoryview] = []  # of one size: large parts of entries that are not needed any more

    def add(self, message: Journaled, body: Sequence[memoryview] = ()) -> Entry:
        """It is about to be asked; ``body`` is copied."""
        is_read = isinstance(message, Pull | PullRows)
        again = msgspec.structs.replace(message, again=self.told) if is_read else message
        entry = Entry(again, [self._copy(part) for part in body], self.told)
        self.told = after(message, self.told)
        self._entries.append(entry)
        self.size_bytes += entry.size_bytes
        return entry

    @property
    def pushes(self) -> int:
        """How many are kept."""
        return self.told.pushes - self._since.pushes

    def _copy(self, part: memoryview) -> memoryview:
        """In memory that was used before, where there is some: to get new pages costs as much as to fill
        them."""
        is_fitting = self._free and self._free[-1].nbytes == part.nbytes
        copy = self._free.pop() if is_fitting else memoryview(bytearray(part.nbytes))
        copy[:] = part
        return copy

    def pass_by(self, message: Journaled) -> None:
        """It is about to be asked, and is not kept; nor is what was told before of any use then."""
        self.told = self._since = after(message, self.told)
        if self._entries or self._free:
            self._entries.clear()
            self._free.clear()
            self.size_bytes = 0

    def reaches(self, mark: Mark, needed: Mark) -> bool:
        """Whether a shard that has ``mark`` can be told all up to ``needed``."""
        return _is_past(mark, needed) or _is_past(mark, self._since)

    def prune(self, durable: Mark) -> None:
        """This much will never be asked for again."""
        if _is_past(durable, self._since):
            self._since = durable
        while self._entries and not self._entries[0].lacks(durable):
            entry = self._entries.popleft()
            self.size_bytes -= entry.size_bytes
            for part in entry.body:
                self._reuse(part)

    def _reuse(self, part: memoryview) -> None:
        """Keep large parts of the size that came last: gradients of dense parameters are of one size."""
        if part.nbytes < _LARGE:
            return
        if self._free and self._free[-1].nbytes != part.nbytes:
            self._free.clear()
        self._free.append(part)

    def lacking(self, mark: Mark) -> list[Entry]:
        """What a shard that has ``mark`` must hear again, in order."""
        return [entry for entry in self._entries if entry.lacks(mark)]


def kept_bytes(body: Sequence[memoryview]) -> int:
    """What a question with this body takes, about."""
    return _ENTRY_BYTES + sum([_PART_BYTES + part.nbytes for part in body])


def after(message: Request, before: Mark) -> Mark:
    """What has been told once ``message`` is."""
    if isinstance(message, Push):
        return Mark(before.pushes + 1, before.passes, message.pace)
    if isinstance(message, EndPass):
        return Mark(before.pushes, before.passes + 1)
    return before


def _is_past(mark: Mark, other: Mark) -> bool:
    return mark.pushes >= other.pushes and mark.passes >= other.passes


def is_told_again(message: Request) -> TypeGuard[Journaled]:
    """Whether it changes a shard, so that one that has forgotten it must hear it again."""
    if isinstance(message, Pull):
        return message.table is not None
    return isinstance(message, _JOURNALED)


def is_seed(message: Request) -> bool:
    """Whether it brings what a shard begins with."""
    return isinstance(message, Seed | Remind)
