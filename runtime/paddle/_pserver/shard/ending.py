"""Ending: when a shard's work is over, and whether it was done well.

It must never end a process. Guarantee: once no trainer is connected, or the job is broken, there is an
outcome within ``patience_s``; while the first trainer is still awaited there is none.
"""

from __future__ import annotations

from dataclasses import dataclass

from paddle._pserver.errors import TrainerLost
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.roster import Roster, Standing


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a shard ended: its process's exit status, and why."""

    exit_status: int
    text: str


@dataclass(frozen=True, slots=True)
class Broken:
    """Why a job cannot go on, and since when.

    ``culprits``: the trainers that failed, or that others waited for in vain. ``is_own``: this side broke it.
    Neither: a trainer failed because another shard is out of reach.
    """

    reason: str
    since: float
    culprits: tuple[int, ...] = ()
    is_own: bool = False

    def error(self) -> TrainerLost:
        """What trainers are told of it."""
        return TrainerLost(self.reason, self.culprits)


def left_alone(roster: Roster, broken: Broken | None, patience_s: float) -> str:
    """What is said beside the loss of a trainer where nobody is connected any more; else empty."""
    is_awaited = not (roster.ids(Standing.GONE) or roster.ids(Standing.LOST))  # the first one, without end
    if broken is not None or roster.ids(Standing.JOINED) or is_awaited:
        return ""
    return f"; no trainer is connected: ends in {patience_s:g} s (barrier_timeout) unless one comes back"


def outcome(
    roster: Roster, clocks: Clocks, broken: Broken | None, now: float, patience_s: float
) -> Outcome | None:
    """The outcome, or None while there is more to come."""
    connected, gone, lost = (roster.ids(state) for state in (Standing.JOINED, Standing.GONE, Standing.LOST))
    if broken is not None and (not connected or now - broken.since >= patience_s):
        return Outcome(1, f"the job is broken: {broken.reason}")
    if connected or not (gone or lost):
        return None
    if len(gone) == len(roster.trainers):
        return Outcome(0, f"all trainers have said goodbye: {clocks}")
    if now - max(roster.trainers[id].since for id in gone + lost) < patience_s:
        return None
    owing = [id for id in lost if clocks.unsettled[id]] + roster.ids(Standing.EXPECTED)
    if owing:
        return Outcome(1, f"the job is not complete: {roster.describe_all(owing, now)}")
    return Outcome(0, f"no trainer has come back: {clocks}")
