"""Bytes of another machine, taken line by line or so many at a time, however they come.

It must never know who sends them, nor what they mean. Guarantee: the time it takes grows with what comes and
no faster, be it byte by byte; of a line without an end no more is kept than its reader lets come.
"""

from __future__ import annotations


class Spool:
    """See the module's text."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._looked = 0  # so far there is no end of a line

    def __len__(self) -> int:
        return len(self._rest)

    def feed(self, data: bytes) -> None:
        """Take what has come."""
        self._rest += data

    def line(self) -> bytes | None:
        """Give the next line, without its end; None while it has none."""
        end = self._rest.find(b"\n", self._looked)
        if end < 0:
            self._looked = len(self._rest)
            return None
        line = self.take(end)
        del self._rest[:1]
        return line

    def take(self, size: int) -> bytes:
        """Give so many bytes, or all there are."""
        with memoryview(self._rest) as view:
            taken = bytes(view[:size])
        del self._rest[:size]
        self._looked = 0
        return taken
