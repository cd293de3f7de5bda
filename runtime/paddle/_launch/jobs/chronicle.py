"""The chronicle of a launch: its newest news, for any number of readers, each at its own pace.

It must never know a socket. Guarantee: who tells never waits; memory is bounded; a reader gets all news in
their order, and is told how many it missed where it came too late for some.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import NamedTuple

from paddle._launch.news import Bulletin, Printed

MOST_BYTES = 4 << 20
_EACH = 200  # bytes that a bulletin takes besides the texts in it, about
_LINE = 60  # likewise a line


class Dated(NamedTuple):
    """A bulletin, and when it was told: seconds since 1970."""

    bulletin: Bulletin
    time: float


class Chronicle:
    """See the module's text. Readers keep a cursor: the number of the news that they want next."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most = most_bytes
        self._size = 0
        self._first = 0  # the number of the oldest that is kept
        self._told: deque[tuple[Dated, int]] = deque()
        self._is_over = False
        self._changed = threading.Condition()

    def tell(self, bulletin: Bulletin, time: float) -> None:
        """Add news."""
        size = _EACH
        if isinstance(bulletin, Printed):
            size += sum(map(len, bulletin.lines)) + _LINE * len(bulletin.lines)
        with self._changed:
            self._told.append((Dated(bulletin, time), size))
            self._size += size
            while self._size > self._most and len(self._told) > 1:
                self._size -= self._told.popleft()[1]
                self._first += 1
            self._changed.notify_all()

    def close(self) -> None:
        """Nothing more will be told."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def since(self, cursor: int, patience_s: float) -> tuple[list[Dated], int, int]:
        """Give the news from ``cursor`` on, the next cursor, and how many were missed. It waits for some, for
        ``patience_s``; the next cursor is -1 when all is told."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or self.next > cursor, patience_s)
            missed = max(0, self._first - cursor)
            begin = cursor + missed - self._first
            news = [told for told, _ in list(self._told)[begin : begin + 1000]]
            following = cursor + missed + len(news)
            return news, -1 if self._is_over and following == self.next else following, missed

    @property
    def next(self) -> int:
        """Give the cursor of what will be told next."""
        return self._first + len(self._told)
