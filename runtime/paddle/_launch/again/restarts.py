"""Restarts: which roles of a job are started again, how often and when.

Pure; the time is an argument. It must never know how a process is started or ended.

1.  Only what a signal killed is started again. Who ends with a status has said why, to the other roles, too,
    and would end so again.
2.  Each role is started again ``most`` times, alone or because the whole job begins again for it (lives.py);
    alone each time after a pause twice as long as the one before.
3.  A pserver is where it keeps snapshots: it goes on from the newest, and trainers tell it what it lacks.
4.  A trainer is, unless a shard says that no other process can take up what it was about: where trainers are
    in step, in the midst of a pass, or ever where they update by themselves. Where it has ended its pass and
    others have not, it is once they have.
5.  A trainer that has said goodbye is not: nothing is left for it to do, and its end is a good one.
6.  A trainer that has met others (_pserver/parley) more than once is not, nor one at whom they have met:
    another process would count its meetings from the first.
7.  What a shard has said its process has said. While another is being started nobody knows whose place can
    be taken, and no trainer is started before that has said so.

Guarantee: a role is due once for every end that was taken, never sooner than its pause, and never while a
shard says that nobody can take its place.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle._launch.cause import how_ended
from paddle._launch.events import Barred, ShardRestarted

_NO_SNAPSHOTS = "it was not restarted: without --snapshot_dir there is nothing to continue from"
_NOT_REPLACED = (
    "it was not restarted: in synchronous modes no other process can take over a half-finished pass, nor, "
    "where trainers update their own parameters, the state that only it had. With --min_trainers the job "
    "continues without it; with --snapshot_dir the whole job is restarted from its newest snapshot"
)
_HAS_MET = (
    "it was not restarted: it had met the other workers (fleet.util, fleet.barrier_worker and the like), and "
    "a new process would count its meetings from the first. With --min_trainers the job continues without "
    "it; with --snapshot_dir the whole job is restarted from its newest snapshot"
)


class Restarts:
    """See the module's text. ``keeps_snapshots``: pservers do."""

    def __init__(
        self,
        most: int = 0,
        *,
        keeps_snapshots: bool = False,
        first_pause_s: float = 1.0,
        longest_pause_s: float = 8.0,  # trainers look for a pserver that is gone for a minute
    ) -> None:
        self._most, self._keeps_snapshots = most, keeps_snapshots
        self._first_pause_s, self._longest_pause_s = first_pause_s, longest_pause_s
        self._used: dict[str, int] = {}
        self._last: dict[str, int] = {}  # how each ended that was started again
        self._due: dict[str, float] = {}
        self._again: dict[str, int] = {}  # of those that were started again in this life, how each had ended
        self._barred: dict[tuple[str, str], Barred | None] = {}  # what each shard has said last (rule 7)
        self._met: set[str] = set()

    def why_not(self, role: str, status: int, *, is_pserver: bool) -> str | None:
        """Why a role that has ended is not started again; None where it is, "" where nobody wonders. Of a
        pserver what its shards had said is not so any more."""
        if is_pserver:
            self._forget(role)
        if not self._most:
            return ""
        if status >= 0:
            return self._before(role)
        if is_pserver and not self._keeps_snapshots:
            return _NO_SNAPSHOTS
        if not self.has_left(role):
            return self._before(role)
        if role in self._met:
            return _HAS_MET
        return _NOT_REPLACED if any(role in barred.ever for barred in self._said()) else None

    def has_left(self, role: str) -> bool:
        """Whether the end of a role may be made up for once more, also by beginning the whole job again."""
        return self._used.get(role, 0) < self._most

    def begin_again(self) -> None:
        """The whole job does: nothing is due, and nobody barred. What was used up is."""
        self._due.clear()
        self._again.clear()
        self._barred.clear()
        self._met.clear()

    def meets(self, role: str) -> None:
        """A trainer has met others (rule 6)."""
        self._met.add(role)

    def spend(self, role: str, status: int) -> None:
        """The end of a role is made up for by beginning the whole job again."""
        self._used[role], self._last[role] = self._used.get(role, 0) + 1, status

    def take(self, role: str, status: int, now: float) -> str:
        """A role has ended that is to be started again; gives how it ended, and when that will be."""
        used = self._used[role] = self._used.get(role, 0) + 1
        pause = pause_s(used, self._first_pause_s, self._longest_pause_s)
        self._due[role], self._last[role] = now + pause, status
        left = self._most - used
        more = f"and {times(left)} more" if left else "for the last time"
        return f"its process {how_ended(status)}; it is started again in {pause:g} s, {more}"

    def due(self, now: float) -> list[str]:
        """Give the roles to be started now; they are not due any more."""
        held = {role for barred in self._said() for role in barred.until_pass_ends}
        if None in self._barred.values():
            held |= self._due.keys() - {pserver for pserver, _ in self._barred}
        found = [role for role, at in self._due.items() if now >= at and role not in held]
        for role in found:
            del self._due[role]
            self._again[role] = self._last[role]
        return found

    def is_to_come(self, role: str) -> bool:
        """Whether a role that has ended is to be started again."""
        return role in self._due

    def ended_before(self, role: str) -> int:
        """How a role ended before it was started again in this life of the job; 0 where it was not."""
        return self._again.get(role, 0)

    def told(self, barred: Barred | ShardRestarted) -> Iterator[tuple[str, int]]:
        """A shard says whose place nobody can take, or its process is started again; gives those that are
        not due any more, and how each ended."""
        if isinstance(barred, ShardRestarted):
            return self._forget(barred.pserver, barred.shard)
        self._barred[barred.pserver, barred.shard] = barred
        for role in [role for role in self._due if role in (*barred.ever, *barred.left)]:
            del self._due[role]
            self._used[role] -= 1
            yield role, self._last[role]

    def _forget(self, pserver: str, shard: str | None = None) -> None:
        """One process of a pserver was killed, or all of them."""
        for place in self._barred:
            if place[0] == pserver and shard in (None, place[1]):
                self._barred[place] = None

    def why_needless(self, role: str, status: int) -> str:
        """Why a role that has ended so need not be started again (rule 5); "" where it is needed."""
        has_left = any(role in barred.left for barred in self._said())
        if not self._most or status >= 0 or not has_left:
            return ""
        return f"{how_ended(status)} after it had said goodbye to pservers: nothing of it is missing"

    def _said(self) -> list[Barred]:
        return [barred for barred in self._barred.values() if barred is not None]

    def _before(self, role: str) -> str:
        used = self._used.get(role, 0)
        if not used:
            return ""
        last = how_ended(self._last[role])
        return f"it had been started again {times(used)} (--max_restart={self._most}), after it {last}"


def times(number: int) -> str:
    """Say how often."""
    return "once" if number == 1 else f"{number} times"


def pause_s(number: int, first_s: float, longest_s: float) -> float:
    """How long to wait before something is begun again for the ``number``-th time."""
    return min(first_s * 2.0 ** (number - 1), longest_s)
