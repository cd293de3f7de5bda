"""Lives: whether a whole job begins again, how often and when.

Pure; the time is an argument. It must never know a snapshot, nor how anything is stopped or started.

1.  A job begins again for a role that a signal killed and that cannot come back alone (restarts.py), and for
    a node that is lost, or whose agent is. Never where a role ended with a status: it has said why, and would
    end so again.
2.  Only where pservers keep snapshots, and once a trainer has come to one: before, nothing is lost.
3.  It begins again ``most`` times, whoever was lost, each time after a pause twice as long as the one before.

Guarantee: there are never more than ``most + 1`` lives, and none begins before its pause is over.
"""

from __future__ import annotations

from paddle._launch.again.restarts import pause_s, times


class Lives:
    """See the module's text. ``number``: of the one that is lived, from 1; ``has_met``: a trainer has come to
    a pserver, in any of them."""

    def __init__(
        self,
        most: int = 0,
        *,
        keeps_snapshots: bool = False,
        first_pause_s: float = 1.0,
        longest_pause_s: float = 8.0,
    ) -> None:
        self._most, self._keeps_snapshots = most, keeps_snapshots
        self._first_pause_s, self._longest_pause_s = first_pause_s, longest_pause_s
        self._at = 0.0
        self._last = ""  # why the one before ended
        self.number = 1
        self.has_met = False

    def why_not(self) -> str | None:
        """Why the job does not begin again; None where it does, "" where nobody wonders."""
        if not (self._most and self._keeps_snapshots and self.has_met):
            return ""
        if self.number <= self._most:
            return None
        often = f"{times(self.number - 1)} (--max_restart={self._most})"
        return f"the whole job had begun again {often}, the last time as {self._last}"

    def take(self, why: str, now: float) -> str:
        """This life is over, as ``why`` says; gives what follows, in words."""
        pause = pause_s(self.number, self._first_pause_s, self._longest_pause_s)
        self._at, self._last = now + pause, why
        left = self._most - self.number
        more = f"and {times(left)} more" if left else "for the last time"
        which = "from the newest snapshot that all shards have"
        return f"the whole job begins again in {pause:g} s, {which}, {more}"

    def is_due(self, now: float) -> bool:
        """Whether the next one may begin."""
        return now >= self._at

    def begin(self) -> int:
        """The next one begins; gives its number."""
        self.number += 1
        return self.number
