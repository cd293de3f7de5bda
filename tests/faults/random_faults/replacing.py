"""Replacing: one trainer at a time is killed between two passes, and another process takes its place.

1.  It is asked to stay where its pass ends (job.py). No shard is killed from then on until the new one
    trains: what a shard that begins anew does not know of a process nobody could tell it any more.
2.  It is killed once it has seen all shards since, so that each knows all that it has told.
3.  The new process is started once all shards know that the old one is gone, as a launcher does.

It must never know a schedule. Guarantee: it ends, if trainers go on.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable

from tests.faults.random_faults.cluster import Cluster, TrainerProcess
from tests.faults.random_faults.monitor import read

_LOOKS = 3
_PATIENCE_S = 20.0
_LOOK_S = 0.03


class Replacing:
    """See the module's text. ``later``: call something in so many seconds. ``done``: so many were
    replaced."""

    def __init__(self, cluster: Cluster, later: Callable[[float, Callable[[], object]], object]) -> None:
        self.done = 0
        self.is_going_on = self.is_ending = False  # the latter: nobody is to be killed any more
        self._cluster, self._later = cluster, later

    def begin(self, old: TrainerProcess) -> bool:
        """Replace it, unless another one is being replaced."""
        if self.is_going_on or self.is_ending:
            return False
        self.is_going_on = True
        halt = self._cluster.halt(old.slot)
        halt.write_text(f"{0:12}")
        end = time.monotonic() + _PATIENCE_S

        def look() -> None:
            if int(halt.read_text() or 0) >= _LOOKS and not self.is_ending:
                old.is_killed = True
                os.kill(old.pid, signal.SIGKILL)
                for link in old.links:
                    link.heal()
                    link.reset()
                self._await_loss(old)
            elif self.is_ending or time.monotonic() > end or old.output.process.poll() is not None:
                halt.unlink()
                self.is_going_on = False
            else:
                self._later(_LOOK_S, look)

        look()
        return True

    def _await_loss(self, old: TrainerProcess) -> None:
        if not all(self._is_lost(shard_text, old.id) for shard_text in self._told()):
            self._later(_LOOK_S, lambda: self._await_loss(old))
            return
        self._await_beginning(self._cluster.start_trainer(old.id))

    def _told(self) -> list[str | None]:
        return [read(shard, "/v1/status") for shard in self._cluster.shards]

    @staticmethod
    def _is_lost(status: str | None, id: int) -> bool:
        return status is not None and json.loads(status)["trainers"][id]["state"] == "lost"

    def _await_beginning(self, new: TrainerProcess) -> None:
        if not self._cluster.counted(new.slot)[0] and new.output.process.poll() is None:
            self._later(_LOOK_S, lambda: self._await_beginning(new))
            return
        self.done += 1
        self.is_going_on = False
