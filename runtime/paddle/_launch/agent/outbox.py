"""The agent's standard output: frames on their way to the launcher.

Guarantee: ``put`` never blocks. A launcher that does not read loses the oldest frames that may be lost (what
roles printed, progress, beats), and none of the others; how many lines of a role that were is told before
its next ones.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

BACKLOG = 1 << 20  # bytes


class _Frame(NamedTuple):
    """What is sent. ``lines``: how many of ``role`` are lost with it."""

    data: bytes
    is_droppable: bool
    role: str = ""
    lines: int = 0


class Outbox:
    """A queue before a pipe that may be full."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor
        self._begun = b""  # half a frame is out: the rest must follow, whatever happens
        self._queue: deque[_Frame] = deque()
        self._size = 0
        self._lost: Counter[str] = Counter()  # lines of each role

    def put(self, event: str, *, droppable: bool = False, **fields: Any) -> None:
        """Send one frame, now or later."""
        self._put(_Frame(_encoded(event, fields), droppable))

    def put_lines(self, role: str, lines: Sequence[str]) -> None:
        """Send what a role printed, if anything, or how much of it was lost."""
        lost = self._lost.pop(role, 0)
        if lines or lost:
            data = _encoded("lines", {"role": role, "lines": lines, "lost": lost})
            self._put(_Frame(data, True, role, len(lines) + lost))

    def _put(self, frame: _Frame) -> None:
        self._queue.append(frame)
        self._size += len(frame.data)
        self.flush()
        if self._size > BACKLOG:
            self._drop()

    def flush(self) -> bool:
        """Write what the pipe takes; True when nothing is left."""
        try:
            while self._begun or self._queue:
                if not self._begun:
                    self._begun = self._queue.popleft().data
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
        kept: deque[_Frame] = deque()
        for frame in self._queue:
            if frame.is_droppable and self._size > BACKLOG // 2:
                self._size -= len(frame.data)
                self._lost[frame.role] += frame.lines
            else:
                kept.append(frame)
        self._queue = kept


def _encoded(event: str, fields: Mapping[str, Any]) -> bytes:
    return json.dumps({"event": event, **fields}).encode() + b"\n"
