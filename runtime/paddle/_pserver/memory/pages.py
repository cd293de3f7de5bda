"""Pages: an array in memory of its own that grows where it is.

Growing asks the system to map more pages behind the ones that are there. They are moved, where they must be,
by their addresses: nothing is copied, there is never a second array, and what was not yet written to takes no
memory. It must never know what the rows are.

Guarantee: rows are zero until written, and what was written stays when the array grows.
"""

from __future__ import annotations

import gc
import mmap

import numpy as np

_HUGE = 2 << 20  # a page that the processor finds with one lookup; whole ones stay whole when they are moved
_WORTH_IT = 2 * _HUGE
_GROWTH = 1.25


def grown(rows: int, has: int) -> int:
    """For how many to make room where there is room for ``has``, and ``rows`` are more: so many that this is
    seldom."""
    return max(rows, int(has * _GROWTH))


class Pages:
    """Rows of ``width`` numbers, ``array`` (rows, width). ``rows``: for how many there is room at least."""

    def __init__(self, dtype: type, width: int, rows: int) -> None:
        self._dtype, self._width = np.dtype(dtype), width
        self._map = mmap.mmap(-1, self.size_bytes(rows), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.array = self._view()

    def resize(self, rows: int) -> None:
        """Make room for ``rows``, more or fewer; nobody else may hold a view of ``array``."""
        if self.size_bytes(rows) != len(self._map):
            self._extend_to(rows)

    def grow(self, rows: int, *, most: int | None = None) -> None:
        """Make room for ``rows`` where there is less, and for a few more, but for no more than ``most``."""
        if rows > len(self.array):
            more = grown(rows, len(self.array))
            self.resize(more if most is None else min(more, most))

    def widen(self, width: int) -> None:
        """As many rows, of a larger ``width``; what was written stays where it is, so that it is the caller's
        to bring it into its new rows."""
        rows, self._width = len(self.array), width
        self._extend_to(rows)

    def _extend_to(self, rows: int) -> None:
        del self.array
        try:
            self._map.resize(self.size_bytes(rows))
        except BufferError:
            gc.collect()  # a kernel that its first call compiles leaves its arguments to the collector
            self._map.resize(self.size_bytes(rows))
        self.array = self._view()

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self._dtype.itemsize * self._width

    def size_bytes(self, rows: int) -> int:
        """Bytes of so many rows, in whole pages."""
        need = max(rows, 1) * self.row_bytes
        unit = _HUGE if need >= _WORTH_IT else mmap.PAGESIZE
        return -(-need // unit) * unit

    def _view(self) -> np.ndarray:
        if len(self._map) >= _WORTH_IT and hasattr(mmap, "MADV_HUGEPAGE"):
            self._map.madvise(mmap.MADV_HUGEPAGE)
        rows = len(self._map) // self.row_bytes
        flat = np.frombuffer(self._map, self._dtype, rows * self._width)
        return flat.reshape(rows, self._width)
