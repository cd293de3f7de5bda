"""Turns: the jobs under random faults that are run with every change of the code. One is trained for a
minute, one of every other mode for a few seconds.

The minute is of the mode in which every bit tells: it depends on every step, on its order and on what was
read when. The seeds are the same in every run, for a run must be repeatable; RANDOM_FAULTS_SEED=0 draws
others.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import NamedTuple

from tests.faults.random_faults.run import Ran, run
from tests.faults.random_faults.scenario import ModeName

MINUTE_S = 60.0
SHORT_S = 6.0
"""Both besides what it takes to start and to end a job."""


class Turn(NamedTuple):
    """``what``: the scenario that the seed draws, so that it can be read here."""

    mode: ModeName
    seed: int
    what: str
    seconds: float = SHORT_S

    def run(self, folder: Path) -> Ran:
        """Raises Broken; what is said either way tells the seed, which gives the same faults again."""
        seed = int(os.environ.get("RANDOM_FAULTS_SEED", self.seed)) or secrets.randbelow(1 << 31)
        ran = run(seed, self.mode, self.seconds, folder)
        print(ran)
        return ran


MINUTE = Turn("sync", 4789, "sync; float32; near; open table; in pieces; ends broken; turns", MINUTE_S)
SHORT = (
    Turn("average", 3739, "average; float32; token and TLS; open table; no copies"),
    Turn("elastic", 671, "elastic; bfloat16; token and TLS; ends broken; turns"),
    Turn("async", 627, "async; bfloat16 both ways; token and TLS; in pieces; passes; no copies"),
    Turn(
        "async, patient",
        828,
        "async, patient; topk, bfloat16 back; near; token and TLS; in pieces; passes; ends broken",
    ),
    Turn("ssp", 389, "ssp; topk; open table; in pieces"),
    Turn("half_async", 30, "half_async; float32; near; no copies"),
    Turn("geo", 100, "geo; float16; near; token and TLS; in pieces; ends broken"),
    Turn("average, async", 923, "average, async; float32; no copies"),
    Turn("elastic, async", 286, "elastic, async; bfloat16; near; passes; ends broken"),
)
TURNS = (MINUTE, *SHORT)
