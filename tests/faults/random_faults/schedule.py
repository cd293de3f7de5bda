"""Schedule: which fault happens when, drawn from a seed before anything starts. The same seed, mode and time
give the same schedule.

It must never know a process: targets are numbers, and whoever does the harm counts what is there.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

IN_STEP = {
    "kill shard": 2.0,
    "pause shard": 2.0,
    "pause trainer": 2.0,
    "reset link": 4.0,
    "cut link": 4.0,
    "flip bit": 5.0,
    "flip bit in handshake": 3.0,
    "swallow answers": 3.0,
    "delay link": 3.0,
    "dark link": 2.0,
    "full disk": 1.5,
    "failing disk": 1.5,
    "kill shard as it writes": 1.0,
}
"""Faults of synchronous training, and how often each comes beside the others. A trainer that is killed in the
midst of a pass is not among them: it breaks such a job, as it should."""
BETWEEN_PASSES = {**IN_STEP, "replace trainer between passes": 3.0}
"""The same where a process has nothing that the next one lacks."""
OUT_OF_STEP = {**IN_STEP, "replace killed trainer": 1.0, "replace paused trainer": 1.0}

KILLS = 5  # of one shard, each of which makes the next pause longer
REPLACED = 8  # trainers, at most
_MEAN_GAP_S = 0.35


@dataclass(frozen=True, slots=True)
class Fault:
    """``at_s``: after the first step. ``target``: modulo what there is. ``size``: of 1, how long or how far;
    ``side``: of 1, which of two."""

    at_s: float
    kind: str
    target: int
    size: float
    side: float

    def __str__(self) -> str:
        return f"{self.at_s:7.2f} s  {self.kind} ({self.target}, {self.size:.2f}, {self.side:.2f})"


def schedule(seed: int, seconds: float, *, kinds: Mapping[str, float], shards: int) -> list[Fault]:
    """The faults of so many seconds. ``kinds``: which, and how often each comes beside the others."""
    chances = random.Random(seed)
    left = {"replace": REPLACED, **{f"kill {shard}": KILLS for shard in range(shards)}}
    faults: list[Fault] = []
    at = 0.0
    while (at := at + chances.expovariate(1 / _MEAN_GAP_S)) < seconds:
        (kind,) = chances.choices(list(kinds), list(kinds.values()))
        fault = Fault(at, kind, chances.randrange(1 << 16), chances.random(), chances.random())
        of = shards // 2 if kind == "kill shard as it writes" else shards  # the first pserver's
        key = "replace" if kind.startswith("replace") else f"kill {fault.target % of}"
        if kind.startswith(("kill", "replace")):
            if not left[key]:
                continue
            left[key] -= 1
        faults.append(fault)
    return faults
