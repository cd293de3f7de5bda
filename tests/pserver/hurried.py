"""Time for trainers that come to a shard. It passes while they sleep: a minute of trying is soon over, and a
machine that stands still for a second is of no account in it."""

from __future__ import annotations

import threading
import time

from paddle._pserver.trainer.deadline import Deadline

LONG_S = 60.0


class Hurried:
    """In the place of ``time``: who sleeps has slept at once, and the clock knows it."""

    def __init__(self) -> None:
        self._slept_s = 0.0
        self._lock = threading.Lock()  # a trainer comes to each shard in a thread of its own

    def monotonic(self) -> float:
        return time.monotonic() + self._slept_s

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self._slept_s += seconds

    def deadline(self) -> Deadline:
        return Deadline(LONG_S, self.monotonic)
