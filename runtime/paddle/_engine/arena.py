"""An arena: the memory in which the arrays of an executor's plans lie, where memory.py puts them.

It must never know what lies there. Guarantees: it begins where the widest vector registers like it; plans
that follow each other work in the same memory, as long as it is large enough; and what it has outgrown takes
no memory any more, whoever still holds arrays there, as an exchange does with the rows of the last step.

Whoever keeps what plans compute with has it begin so, too (``zeros``): numpy's arrays begin 16 bytes behind
where they are large, each load of 64 bytes is then of two cache lines, and products with such a matrix took
up to 1.8 times as long.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np

from paddle._engine.memory import ALIGNMENT

LEAST = 1 << 16
_GROWTH = 1.25
"""Batches of sequences are hardly ever of one length: a little larger, and the next ones fit as well."""

_HUGE = 1 << 22
"""From so many bytes on large pages are asked for, as numpy does."""


class Arena:
    """``memory``: uint8, all that there is; another array once it has grown. ``keep``: see registry.Run."""

    def __init__(self) -> None:
        self._pages = _pages(LEAST)
        self.memory: np.ndarray = np.frombuffer(self._pages, np.uint8)
        self.keep: dict[str, Any] = {}

    def room(self, size: int) -> np.ndarray:
        """``size`` bytes from its beginning, uint8: whatever was there may be overwritten, and is lost where
        there were less."""
        if size > len(self.memory):
            outgrown, is_first = self._pages, len(self.memory) == LEAST
            self._pages = _pages(size if is_first else max(size, int(len(self.memory) * _GROWTH)))
            self.memory = np.frombuffer(self._pages, np.uint8)
            with suppress(OSError):  # of pages that are locked: they go with the last array there
                outgrown.madvise(mmap.MADV_DONTNEED)
        return self.memory[:size]


def _pages(size: int) -> mmap.mmap:
    """Memory that begins with a page; none of it is taken before it is written."""
    try:
        pages = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError:
        raise MemoryError(f"there is no memory for {size} bytes in which a program computes") from None
    if size >= _HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # the machine has none
            pages.madvise(mmap.MADV_HUGEPAGE)
    return pages


def zeros(shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    """An array of 0 that begins with a cache line, C-contiguous. None of it is taken before it is written."""
    size = prod(shape) * np.dtype(dtype).itemsize
    room = np.zeros(size + ALIGNMENT, np.uint8)
    begin = -room.ctypes.data % ALIGNMENT
    return room[begin : begin + size].view(dtype).reshape(shape)
