"""Spillway: lines to where perhaps nobody reads: a pipe may be full, a terminal be paused, for hours.

It must never know what is said. Guarantee: no call waits for who reads. What finds no room is left out, a
line as a whole, and how many lines that were is said before the next one that does.
"""

from __future__ import annotations

import os
import select
import stat


class Spillway:
    """See the module's text. ``descriptor`` stays whose it is, and as it is for others who write to it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor, self._is_own = _without_waiting(descriptor)
        self._rest = b""  # of a line of which some is out
        self.left_out = 0  # since the last line that found room

    def write(self, line: bytes) -> None:
        """Say it, if there is room. Raises OSError where there can be none: a disk that is full."""
        told = b"... %d lines that nobody read are left out here\n" % self.left_out if self.left_out else b""
        text = self._rest + told + line
        if not self._has_room():
            self.left_out += 1
            return
        try:
            count = os.write(self._descriptor, text)
        except BlockingIOError:
            self.left_out += 1
            return
        self._rest, self.left_out = text[count:], 0

    def _has_room(self) -> bool:
        """Of a descriptor that would wait: for as much as a pipe takes at once."""
        return self._is_own or bool(select.select([], [self._descriptor], [], 0)[1])

    def close(self) -> None:
        """Close what was opened for this."""
        if self._is_own:
            os.close(self._descriptor)
            self._is_own = False


def _without_waiting(descriptor: int) -> tuple[int, bool]:
    """Another way to where ``descriptor`` leads, on which nothing waits, where there is one: whether one
    waits is a matter of the way, and this one is shared."""
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):  # which keeps nobody waiting
            return descriptor, False
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        return os.open(f"/proc/self/fd/{descriptor}", flags), True
    except OSError:  # a socket, or another user's
        return descriptor, False
