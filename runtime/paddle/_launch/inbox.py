"""What comes to a launch from its nodes, in order, until the loop takes it.

It must never know what it is. Guarantee: however much nodes say, no more of it waits here than ``most``
pieces and one of each node: who listens to a node has to wait then, so that node's connection fills up, and
its agent leaves out what roles print, and says so. The loop itself never waits to put something in.
"""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import Generic, TypeVar

_Piece = TypeVar("_Piece")
MOST = 200  # of 64 KiB each, where roles print much
_LOOK_S = 0.005


class Inbox(Generic[_Piece]):
    """The loop's, which is the one that calls ``get``."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._pieces: SimpleQueue[_Piece] = SimpleQueue()
        self._is_closed = threading.Event()
        self._loop = 0

    def put(self, piece: _Piece) -> None:
        """Put something in, at once."""
        self._pieces.put(piece)

    def deliver(self, piece: _Piece) -> None:
        """Put in what comes from a node, and wait until there is room for more."""
        self._pieces.put(piece)
        while self._pieces.qsize() > self._most and threading.get_ident() != self._loop:
            if self._is_closed.wait(_LOOK_S):
                return

    def get(self, timeout: float) -> _Piece:
        """Take the next; raises ``queue.Empty`` where none comes in time."""
        self._loop = threading.get_ident()
        return self._pieces.get(timeout=timeout)

    def close(self) -> None:
        """Nothing is taken any more, and nobody waits for that."""
        self._is_closed.set()
