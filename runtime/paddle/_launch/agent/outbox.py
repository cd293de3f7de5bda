"""The agent's standard output: frames on their way to the launcher.

Guarantee: ``put`` never blocks. A launcher that does not read loses the oldest frames that may be lost (what
roles printed, progress, beats), and none of the others.
"""

from __future__ import annotations

import json
import os
import time
from collections import deque
from typing import Any

BACKLOG = 1 << 20  # bytes


class Outbox:
    """A queue before a pipe that may be full."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._begun = b""  # half a frame is out: the rest must follow, whatever happens
        self._queue: deque[tuple[bytes, bool]] = deque()
        self._size = 0

    def put(self, event: str, *, droppable: bool = False, **fields: Any) -> None:
        """Send one frame, now or later."""
        data = json.dumps({"event": event, **fields}).encode() + b"\n"
        self._queue.append((data, droppable))
        self._size += len(data)
        self.flush()
        if self._size > BACKLOG:
            self._drop()

    def flush(self) -> bool:
        """Write what the pipe takes; True when nothing is left."""
        try:
            while self._begun or self._queue:
                if not self._begun:
                    self._begun = self._queue.popleft()[0]
                    self._size -= len(self._begun)
                self._begun = self._begun[os.write(self._descriptor, self._begun) :]
        except BlockingIOError:
            return False
        except OSError:  # nobody reads any more; the end of standard input tells that too, and is acted upon
            self._begun, self._size = b"", 0
            self._queue.clear()
        return True

    def finish(self, patience_s: float) -> None:
        """Wait until all is written, or the launcher has had its time."""
        end = time.monotonic() + patience_s
        while not self.flush() and time.monotonic() < end:
            time.sleep(0.01)

    def _drop(self) -> None:
        kept: deque[tuple[bytes, bool]] = deque()
        for data, droppable in self._queue:
            if droppable and self._size > BACKLOG // 2:
                self._size -= len(data)
            else:
                kept.append((data, droppable))
        self._queue = kept
