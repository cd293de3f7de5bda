"""Disk: what the system calls come to by which the shards of one pserver make their snapshots last.

It must never know a snapshot. Guarantee: what is asked for happens to calls that are made after it.
"""

from __future__ import annotations

import contextlib
import os
import signal


class Disk:
    """See the module's text. It is asked in a thread of its own (failing_disk.py). ``failed``: how many calls
    have; ``killed``: how many processes were."""

    def __init__(self) -> None:
        self.failed = self.killed = 0
        self._every = 0
        self._kill_at: int | None = None
        self._calls = 0

    def fails(self, pid: int, name: str, number: int) -> bool:
        """Whether this call fails. Whoever is to be killed is, first."""
        self._calls = number + 1
        if self._kill_at is not None and number >= self._kill_at:
            self._kill_at = None
            with contextlib.suppress(ProcessLookupError):  # somebody else killed it meanwhile
                os.kill(pid, signal.SIGKILL)
                self.killed += 1
        fails = bool(self._every and number % self._every == 0)
        self.failed += fails
        return fails

    @property
    def is_broken(self) -> bool:
        """Whether every call fails."""
        return self._every == 1

    def fail(self, *, every: int) -> None:
        """From now on every so-manieth call fails; 0: none."""
        self._every = every

    def kill(self, *, after: int) -> None:
        """Kill who makes the call after so many more."""
        self._kill_at = self._calls + after

    def spare(self) -> None:
        """Nobody is killed any more."""
        self._kill_at = None

    def heal(self) -> None:
        """Nothing happens any more."""
        self._every, self._kill_at = 0, None
