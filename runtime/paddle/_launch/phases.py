"""Phases: the stretches of a launch, in their order, and how long each may last. Data only; the rules are the
supervisor's (supervisor.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from math import inf


class Phase(IntEnum):
    """Where a launch is. REST: before a job begins again."""

    REACH = 1
    DELIVER = 2
    OPEN = 3
    SERVE = 4
    TRAIN = 5
    FINISH = 6
    SETTLE = 7
    REST = 8
    STOP = 9
    KILL = 10
    COLLECT = 11
    END = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long things may take, in seconds. Stopping and killing together stay below five. ``most_signals``:
    as many of INT and TERM end a launch, wherever it is."""

    reach_s: float = 60.0
    open_s: float = 30.0
    serve_s: float = 60.0
    finish_s: float = 10.0
    settle_s: float = 5.0  # who fails says goodbye first, and its process has to end
    grace_s: float = 2.0
    stop_s: float = 3.0
    kill_s: float = 1.5
    silence_s: float = 15.0
    return_s: float = 60.0  # for a node that was lost to answer again
    most_signals: float = inf

    def with_grace(self, grace_s: float) -> Limits:
        """The same, with so much time to end before roles are killed."""
        return replace(self, grace_s=grace_s, stop_s=self.stop_s + grace_s - self.grace_s)

    def of(self, phase: Phase) -> float | None:
        """The longest that ``phase`` may last; None where only the user can judge."""
        limits = {
            Phase.REACH: self.reach_s,
            Phase.OPEN: self.open_s,
            Phase.SERVE: self.serve_s,
            Phase.FINISH: self.finish_s,
            Phase.SETTLE: self.settle_s,
            Phase.STOP: self.stop_s,
            Phase.KILL: self.kill_s,
        }
        return limits.get(phase)
