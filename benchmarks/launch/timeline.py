"""A timeline: what a launch told of itself (``--format=json``), cut into the phases of its beginning.

It must never know how a launch is made. Guarantee: the phases follow each other without a gap from the
command to the first step of a trainer; one that was not told of makes an error, and no number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

# A phase, and by what its end is told: of several trainers the last one ends it, but for the first step.
PHASES = {
    "plan": "the launcher loads itself, settles what to do and prints it",
    "reach": "connections are opened, and nodes say what they are like",
    "send": "the workspace, which they have already but for its name",
    "open": "agents start",
    "serve": "pservers start and are ready",
    "start": "trainers run",
    "import": "they have loaded paddle",
    "step": "they have met the pservers, and the first of them has done a step",
}


class Untold(Exception):
    """A launch did not tell of a phase."""


def cut(began: float, told: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Seconds of each phase. ``began``: when the command was given, seconds since 1970."""
    ends: dict[str, float] = {}
    for news in told:
        phase, is_last = _ended_by(news)
        if phase and (is_last or phase not in ends):
            ends[phase] = news["time"]
        if phase == "step":
            break
    if missing := [phase for phase in PHASES if phase not in ends]:
        raise Untold(f"the launch did not come to the end of {', '.join(missing)}")
    moments = [began, *(ends[phase] for phase in PHASES)]
    return {phase: end - start for phase, (start, end) in zip(PHASES, pairwise(moments), strict=True)}


def _ended_by(news: Mapping[str, Any]) -> tuple[str, bool]:
    """The phase that news are the end of, or none; and whether the last such news count."""
    match news:
        case {"event": "plan"}:
            return "plan", False
        case {"event": "phase", "phase": "deliver" | "open" | "serve" | "train" as entered}:
            before = {"deliver": "reach", "open": "send", "serve": "open", "train": "serve"}
            return before[entered], False
        case {"event": "told", "text": "mark: runs"}:
            return "start", True
        case {"event": "told", "text": "mark: imported"}:
            return "import", True
        case {"event": "progress"}:
            return "step", False
    return "", False
