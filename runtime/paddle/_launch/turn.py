"""A turn at a folder: of several processes that collect into it, one does at a time, with all its threads.

It must never know what is collected. Guarantee: no two processes of a machine have the turn at once, and a
process that ends, however it does, has it no more. Where a file system knows no locks, as some of a network
do not, nobody waits.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

_LOOK_S = 0.05
_TAKEN = (errno.EWOULDBLOCK, errno.EACCES)


class Turn:
    """A process's turn at ``folder``, which is there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._users = 0
        self._descriptor: int | None = None

    @contextlib.contextmanager
    def taken(self, tell: Callable[[str], None]) -> Iterator[None]:
        """Wait for it, which is told, and have it."""
        with self._lock:
            if not self._users:
                self._descriptor = self._wait(tell)
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users and self._descriptor is not None:
                    os.close(self._descriptor)

    def _wait(self, tell: Callable[[str], None]) -> int | None:
        try:
            descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return None  # who collects will say what is wrong with it
        is_told = False
        while not _has(descriptor):
            if not is_told:
                tell(f"somebody else collects into {self._folder} just now; waiting for that to end")
                is_told = True
            threading.Event().wait(_LOOK_S)
        return descriptor


def _has(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in _TAKEN
    return True
