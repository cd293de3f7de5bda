"""A log on the node's disk.

Guarantee: writing never fails and never waits for room. What a full disk does not take is lost, and so it is
said.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable


class LogFile:
    """A file that is only ever appended to, so several writers do not harm each other."""

    def __init__(self, path: str, tell: Callable[[str], None]) -> None:
        self.path = path
        # A pipe that lies there would have the agent wait for a reader; to a file O_NONBLOCK means nothing.
        how = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
        self.descriptor = os.open(path, how, 0o644)
        self._tell = tell
        self._failing = False

    def write(self, data: bytes) -> None:
        """Append ``data``."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self.descriptor, rest) :]
            self._failing = False
        except OSError as error:
            if not self._failing:
                self._failing = True
                self._tell(f"cannot write {self.path}: {error.strerror}; the job goes on, this log does not")

    def say(self, text: str) -> None:
        """Append a line of the agent's own, with date and pid."""
        line = f"{time.strftime('%Y-%m-%d %H:%M:%S')} [{os.getpid()}] {text}\n"
        self.write(line.encode(errors="surrogateescape"))  # a path may hold any bytes
