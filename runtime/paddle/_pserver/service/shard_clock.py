"""Shard clock: the time by which a shard waits for its trainers. It stands while it could not hear them.

1.  While the shard loads what it needs before it answers (warming.py), the clock stands.
2.  A hub reads it about once a second. What passes between two readings beyond ``MOST_S`` is left out: the
    process stood still, stopped or without a processor or busy with a step, and what trainers said
    meanwhile may lie unread.

It must never know what is waited for. Guarantee: it does not run backwards; a trainer is not given up for
time in which the shard could not have heard it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

MOST_S = 2.0


class ShardClock:
    """See the module's text. ``read``: seconds on a clock that does not run backwards."""

    def __init__(self, read: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._read_at = self._now = read()
        self._holders = 0

    def now(self) -> float:
        """Seconds; only differences mean something."""
        read_at = self._read()
        if not self._holders:
            passed_s = read_at - self._read_at
            self._now += passed_s if passed_s < MOST_S else MOST_S
        self._read_at = read_at
        return self._now

    @contextlib.contextmanager
    def standing(self) -> Iterator[None]:
        """It stands meanwhile."""
        self.now()
        self._holders += 1
        try:
            yield
        finally:
            self.now()
            self._holders -= 1
