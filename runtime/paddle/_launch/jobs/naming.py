"""Naming: jobs whose folders are on other machines, where nobody here sees which names are taken.

The records of launches tell; and while a launch that has chosen a name has no record yet, no other one of its
user chooses here. It must never know what a job is.

Guarantee: nothing is kept for it, so a launch that is killed leaves nothing. One that stands still meanwhile
keeps others waiting for ``_PATIENCE_S``, and no longer.
"""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from paddle._launch.jobs.index import Index

_PATIENCE_S, _LOOK_S = 2.0, 0.01


class Naming:
    """See the module's text; ``release`` it once the launch is registered."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._held: int | None = None

    def is_free(self, folder: Path) -> bool:
        """Whether no launch has the name of ``folder``. Where nothing can be kept, all names are free."""
        try:
            ground = self._index.ground()
            self._held = _locked(ground) if self._held is None else self._held
            return all(record.name.rpartition("-")[0] != folder.name for record in ground.iterdir())
        except OSError:
            return True

    def release(self) -> None:
        """Let others choose."""
        if self._held is not None:
            fcntl.flock(self._held, fcntl.LOCK_UN)  # for a process that was forked meanwhile, too
            os.close(self._held)
            self._held = None


def _locked(folder: Path) -> int:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            time.sleep(_LOOK_S)
    return descriptor
