"""The bytes that nodes lack, as one stream: the files that a need-list names, one after another.

It must never know who reads. Guarantee: the stream is as long as the need-list says, whatever becomes of the
files meanwhile (a file that was cut short is filled up, and its digest tells). However many nodes read the
same one at about the same pace, its bytes are read once; a node that falls behind by more than ``_HELD``
chunks reads for itself. So much memory it takes, and no more.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

CHUNK = 1 << 20
_HELD = 16


class Delta:
    """``spans``: of every file, in order, from which byte to which."""

    def __init__(self, spans: Sequence[tuple[Path, int, int]]) -> None:
        self._spans = [span for span in spans if span[1] < span[2]]
        self._starts = [0, *accumulate(end - start for _, start, end in self._spans)]
        self._chunks: OrderedDict[int, bytearray] = OrderedDict()
        self._reading: dict[int, threading.Lock] = {}
        self._lock = threading.Lock()
        self.reads = 0  # bytes that were read

    @property
    def size(self) -> int:
        """Its length."""
        return self._starts[-1]

    def __len__(self) -> int:
        """The number of its chunks."""
        return -(-self.size // CHUNK)

    def chunk(self, number: int) -> memoryview:
        """Give a chunk; whoever asks first reads it, and others wait for that."""
        with self._lock:
            lock = self._reading.setdefault(number, threading.Lock())
        with lock:
            with self._lock:
                held = self._chunks.get(number)
            if held is None:
                held = self._read(number * CHUNK, min(CHUNK, self.size - number * CHUNK))
                self._hold(number, held)
        return memoryview(held).toreadonly()

    def _hold(self, number: int, chunk: bytearray) -> None:
        with self._lock:
            self.reads += len(chunk)
            self._chunks[number] = chunk
            if len(self._chunks) > _HELD:
                old, _ = self._chunks.popitem(last=False)
                self._reading.pop(old, None)

    def _read(self, position: int, size: int) -> bytearray:
        chunk = bytearray(size)
        view = memoryview(chunk)
        while view:
            index = bisect_right(self._starts, position) - 1
            path, start, end = self._spans[index]
            offset = start + position - self._starts[index]
            part = view[: end - offset]
            _read_into(path, offset, part)
            position += len(part)
            view = view[len(part) :]
        return chunk


def _read_into(path: Path, offset: int, view: memoryview) -> None:
    """Read as much of ``view`` as there is; what is missing stays 0."""
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(offset)
            while view and (count := file.readinto(view)):
                view = view[count:]
    except OSError:
        return  # it is gone, or cannot be read any more: the digest tells, with the file's name
