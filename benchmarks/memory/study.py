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
    table, or, where there are ``trainers``, of a dense parameter that these train in step, over TCP."""

    rule: str
    arrays: int
    rows: int
    trainers: int = 0

    @property
    def name(self) -> str:
        """What it is of."""
        return f"{self.rule}, dense, {self.trainers}" if self.trainers else f"{self.rule}, open table"


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
        Case("adam", 3, 1_000_000, trainers=1),
    )
)
FULL = Size((*QUICK.cases, Case("sgd", 1, 10_000_000), Case("adagrad", 2, 5_000_000)))


@dataclass(frozen=True, slots=True)
class Figure:
    """Bytes of a case: of values and slots, and the most that the process came to need for them."""

    case: Case
    data: int
    peak: int

    @property
    def allowed(self) -> int:
        """The goal. Of the first trainer's gradient there is room in it; the others' come with them: all are
        there before they are added up in the order of trainers."""
        others = 4 * WIDTH * self.case.rows * max(0, self.case.trainers - 1)
        return int(_TIMES * self.data) + _SPARE_BYTES + others


def missing_for(plot: Path | None) -> str:
    """There is nothing to draw."""
    return "memory has no --plot" if plot is not None else ""


def study(size: Size, machine: Mapping[str, object], document: Path | None, plot: Path | None) -> bool:
    """Do it, print it, and say whether its goals were met."""
    figures = [measure(case) for case in size.cases]
    print("\n" + "\n".join(table(figures)), flush=True)
    if document is not None:
        told = {"machine": dict(machine), "figures": [asdict(each) for each in figures]}
        document.write_text(json.dumps(told, indent=1) + "\n")
    return all(each.peak <= each.allowed for each in figures)


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
                "met" if each.peak <= each.allowed else "MISSED",
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
