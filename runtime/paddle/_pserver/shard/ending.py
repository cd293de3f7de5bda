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


def left_alone(roster: Roster, broken: Broken | None, now: float, patience_s: float) -> str:
    """What is said beside the loss of a trainer where nobody is connected any more; else empty."""
    connected, gone, lost = (roster.ids(state) for state in (Standing.JOINED, Standing.GONE, Standing.LOST))
    is_over = broken is not None or len(gone) == len(roster.trainers)
    if is_over or connected or not (gone or lost):  # the first one is awaited without end
        return ""
    left_s = patience_s - _alone_s(roster, gone + lost, now)
    if left_s <= 0:
        return ""
    within = f"{round(left_s, 1):g} s (barrier_timeout)"
    return f"; no trainer is connected: ends in {within} unless one comes back"


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
    if _alone_s(roster, gone + lost, now) < patience_s:
        return None
    owing = [id for id in lost if clocks.unsettled[id]] + roster.ids(Standing.EXPECTED)
    if owing:
        return Outcome(1, f"the job is not complete: {roster.describe_all(owing, now)}")
    return Outcome(0, f"no trainer has come back: {clocks}")


def _alone_s(roster: Roster, ids: list[int], now: float) -> float:
    """How long ago the last of these trainers went. One that had told nothing is expected as if it had never
    come, and counts for nothing."""
    return now - max(roster.trainers[id].since for id in ids)
