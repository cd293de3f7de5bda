"""Study: the whole of ``memory``: the most that a pserver had in memory while its table was filled, or its
dense parameter trained, over what it had with a small one, is held against the bytes of values and slots.

That is a bound and no comparison. It must never know a table.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.environment import contender_environment
from benchmarks.json_process import JsonProcess
from benchmarks.table import columns

TITLE = "memory: what a pserver needs for its parameters, over their values and slots"
_TIMES, _SPARE_BYTES = 1.15, 64 << 20
WIDTH = 16
_DEADLINE_S = 600.0


@dataclass(frozen=True, slots=True)
class Case:
    """A rule, how many arrays of its rows' width a row has, and how many rows there will be: of an open
    table, or, where there are ``trainers``, of a dense parameter that these train in step, over TCP.
    ``snapshots``: they are written meanwhile, one after the other; ``copies``: MiB that one may take (as
    ``--snapshot_memory``), "" as much as it likes. ``waiting``: the same of gradients that wait for their
    turn (as ``--gradient_memory``)."""

    rule: str
    arrays: int
    rows: int
    trainers: int = 0
    snapshots: bool = False
    copies: str = ""
    waiting: str = ""

    @property
    def name(self) -> str:
        """What it is of."""
        of = f"dense, {self.trainers}" if self.trainers else "open table"
        within = f" of {self.copies} MiB" if self.copies else ""
        waits = f", {self.waiting} MiB wait" if self.waiting else ""
        return f"{self.rule}, {of}{', snapshots' if self.snapshots else ''}{within}{waits}"


@dataclass(frozen=True, slots=True)
class Size:
    """How long a study is."""

    cases: tuple[Case, ...]


QUICK = Size(
    (
        Case("sgd", 1, 1_000_000),
        Case("adagrad", 2, 1_000_000),
        Case("sgd", 1, 1_000_000, trainers=1),
        Case("sgd", 1, 1_000_000, trainers=4),
        Case("sgd", 1, 1_000_000, trainers=4, waiting="0"),
        Case("adam", 3, 1_000_000, trainers=1),
        Case("adam", 3, 1_000_000, trainers=1, snapshots=True),
        Case("adam", 3, 1_000_000, trainers=1, snapshots=True, copies="0"),
        Case("adagrad", 2, 1_000_000, snapshots=True),
        Case("adagrad", 2, 1_000_000, snapshots=True, copies="32"),
        Case("adagrad", 2, 1_000_000, snapshots=True, copies="0"),
    )
)
FULL = Size(
    (
        *QUICK.cases,
        Case("sgd", 1, 10_000_000),
        Case("adagrad", 2, 5_000_000),
        Case("adagrad", 2, 5_000_000, snapshots=True),
        Case("adagrad", 2, 5_000_000, snapshots=True, copies="64"),
    )
)


@dataclass(frozen=True, slots=True)
class Figure:
    """Bytes of a case: of values and slots, and the most that the process came to need for them."""

    case: Case
    data: int
    peak: int

    @property
    def allowed(self) -> int:
        """The goal."""
        return int(_TIMES * self.data) + _SPARE_BYTES

    @property
    def known(self) -> tuple[int, str]:
        """What is known to come on top, and why. Of one trainer's gradient there is room in the goal; all are
        there before they are added up in the order of trainers, unless they wait for their turn. A snapshot
        is cut as a copy of what is dense, and of rows that change while it is written."""
        gradients = 4 * WIDTH * self.case.rows * max(0, self.case.trainers - 1)
        if self.case.waiting:
            gradients = min(gradients, int(self.case.waiting) << 20)
        copy = self.data if self.case.snapshots and not self.case.copies else 0
        return gradients + copy, "a snapshot is a copy" if copy else "each trainer's gradient is there"

    @property
    def verdict(self) -> str:
        """Whether the goal was met; missing it by what is known fails no run."""
        if self.peak <= self.allowed:
            return "met"
        size, why = self.known
        return f"MISSED, as is known: {why}" if size and self.peak <= self.allowed + size else "MISSED"


def missing_for(plot: Path | None) -> str:
    """There is nothing to draw."""
    return "memory has no --plot" if plot is not None else ""


def study(size: Size, machine: Mapping[str, object], document: Path | None, plot: Path | None) -> bool:
    """Do it, print it, and say whether its goals were met."""
    figures = [measure(case) for case in size.cases]
    print("\n" + "\n".join(table(figures)), flush=True)
    if known := sum(each.verdict.startswith("MISSED, ") for each in figures):
        print(f"\n{known} missed as is known, which fails no run:", flush=True)
    if document is not None:
        told = {"machine": dict(machine), "figures": [asdict(each) for each in figures]}
        document.write_text(json.dumps(told, indent=1) + "\n")
    return not any(each.verdict == "MISSED" for each in figures)


def table(figures: list[Figure]) -> list[str]:
    """A row for each case, and whether it met the goal."""
    heads = ["", "rows", "values, slots", "needed", "more, a row", "allowed", ""]
    return columns(
        [heads]
        + [
            [
                each.case.name,
                f"{each.case.rows / 1e6:.0f}M",
                *(f"{size / 1e6:.0f} MB" for size in (each.data, each.peak)),
                f"{(each.peak - each.data) / each.case.rows:.1f} B",
                f"{each.allowed / 1e6:.0f} MB",
                each.verdict,
            ]
            for each in figures
        ]
    )


def measure(case: Case) -> Figure:
    """In processes of their own, where settings of linear algebra are dropped."""
    environment = contender_environment(os.environ)
    process = JsonProcess("benchmarks.memory.filling", environment=environment, deadline_s=_DEADLINE_S)
    try:
        process.tell(asdict(case))
        peak = process.hear()
    finally:
        process.end()
    if peak is None:
        raise RuntimeError(f"no answer from the process for {case.name}: see above")
    return Figure(case, 4 * WIDTH * case.arrays * case.rows, peak["peak"])
