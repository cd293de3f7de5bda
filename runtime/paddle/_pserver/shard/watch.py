"""Watch: when a shard's watcher is told what.

It must never change the shard. Guarantee: that the job broke is told once, before the shard's process ends;
a shard that no trainer ever came to has no job to tell of, unless a trainer ended that. Who is barred is told
by every process of the shard, as it begins and whenever that changes, and again every second while anybody
is, or it was not heard.
"""

from __future__ import annotations

from paddle._pserver.shard.arrival import Barred
from paddle._pserver.shard.barrier import FIRST_NOTICE_S
from paddle._pserver.shard.roster import Standing
from paddle._pserver.shard.shard import Shard
from paddle._pserver.watcher import Watcher


class Watch:
    """One shard under watch; ``name``: the shard's, for people."""

    def __init__(self, name: str, watcher: Watcher) -> None:
        self._name = name
        self._watcher = watcher
        self._has_joined = self._has_broken = self._is_heard = False
        self._barred: Barred | None = None  # as it was told

    def look(self, shard: Shard) -> None:
        """Something happened."""
        if not self._has_joined and shard.roster.ids(Standing.JOINED):
            self._has_joined = True
            self._watcher.joined()
        if (barred := shard.arrivals.barred()) != self._barred:
            self._tell(barred)
        why = shard.broken
        if why is not None and (self._has_joined or why.culprits) and not self._has_broken:
            self._has_broken = True
            self._watcher.broken(self._name, why.reason, why.culprits, is_own=why.is_own)

    def look_at_clock(self, shard: Shard, now: float) -> None:
        """A second has passed."""
        seconds = now - shard.barrier.oldest if shard.barrier else 0.0
        if seconds >= FIRST_NOTICE_S:
            self._watcher.waiting(shard.barrier.missing(shard.roster), seconds)
        if self._barred is not None and (any(self._barred) or not self._is_heard):
            self._tell(self._barred)

    def _tell(self, barred: Barred) -> None:
        self._barred, self._is_heard = barred, self._watcher.barred(self._name, *barred)
