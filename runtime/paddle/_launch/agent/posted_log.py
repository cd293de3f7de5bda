"""A log that is written without waiting: what comes is put in at the disk's thread.

It must never know what is logged. Guarantee: no call waits. What the disk does not take in time is left out,
and how much that was is said in its place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .disk import Disk
from .logfile import LogFile


class PostedLog(LogFile):
    """A log file of an agent. ``tell``: is called in the disk's thread, too."""

    def __init__(self, path: str, tell: Callable[[str], None], disk: Disk) -> None:
        super().__init__(path, tell)
        self._disk = disk
        self._lost = 0  # bytes

    def write(self, data: bytes) -> None:
        """Append ``data``, soon."""
        told = b""
        if self._lost:
            told = b"\n... %d bytes are left out here: the disk did not take them in time\n" % self._lost
        if self._disk.put(partial(super().write, told + data), len(data)):
            self._lost = 0
            return
        if not self._lost:
            self._tell(f"{self.path}: its disk does not respond, lines are left out there; the job goes on")
        self._lost += len(data)
