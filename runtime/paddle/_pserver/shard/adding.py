"""Adding: a gradient that is added to a sum while it comes, so that it never lies here as a whole.

A gradient counts when all of it has come, and what was added cannot be taken away again without a rounding.
So whoever adds one like this sees to it that it is brought to its end (turns.py): when it comes anew, as on
another connection, what was added is passed over.

A portion is longer than what is received ahead, so that the next one does not come before this one was taken.

It must never know a trainer. Guarantee: each number is added once, and only after what checks it has come.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from paddle._pserver.protocol.framing import PORTION_BYTES, bytes_of


class Adding:
    """See the module's text. ``total``: the arrays of the sum, float32, one after the other as a gradient
    comes."""

    def __init__(self, total: Sequence[np.ndarray]) -> None:
        self.is_void = False
        self._total = total
        self._size = sum(array.size for array in total)
        self._portion = PORTION_BYTES // 4
        self._room = np.empty(min(self._portion, self._size), np.float32)
        self._come = self._added = 0  # numbers of the gradient

    @property
    def has_begun(self) -> bool:
        """Whether the sum has some of it."""
        return self._added > 0

    def give_up(self) -> None:
        """Nobody wants the sum any more: nothing is added to it, and it is not kept, however long the
        connection is there that brings this."""
        self.is_void, self._total = True, ()

    def begin(self) -> list[memoryview]:
        """It comes, from its beginning: where the body goes, portion by portion, each in the same place."""
        self._come = 0
        begins = range(0, self._size, self._portion)
        sizes = [min(self._portion, self._size - begin) for begin in begins]
        return [bytes_of(self._room[:size]) for size in sizes]

    def take(self, checked: int) -> None:
        """So many bytes have come and are right; the last portion of them is there. To be called before more
        is received; where all has come 0 says nothing."""
        before, self._come = self._come, max(self._come, checked // 4)
        if not self.is_void and self._come > self._added:
            begin = max(before, self._added)
            self._add(self._room[begin - before : self._come - before], begin)
            self._end_at(self._come)

    def add_rest(self, gradient: Sequence[np.ndarray]) -> None:
        """It has come as a whole, in other memory."""
        at = 0
        for part in gradient:
            begin, at = max(at, self._added), at + part.size
            if begin < at:
                self._add(part[begin - at :], begin)
        self._end_at(self._size)

    def _end_at(self, added: int) -> None:
        self._added = added
        if added == self._size:
            self._total = ()  # whoever has this does not keep the sum

    def _add(self, numbers: np.ndarray, begin: int) -> None:
        """``numbers`` are those of the gradient from ``begin`` on."""
        at, left = 0, numbers
        for array in self._total:
            if at <= begin < at + array.size and left.size:
                into = array[begin - at :][: left.size]
                np.add(into, left[: into.size], out=into)
                begin, left = begin + into.size, left[into.size :]
            at += array.size
