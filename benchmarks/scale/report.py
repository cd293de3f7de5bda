"""Report: a run of ``scale`` as text, and as a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.scale.measuring import Measured
from benchmarks.scale.prediction import Point
from benchmarks.scale.validation import BOUND, Case, Verdict
from benchmarks.table import columns, duration

_MARKS = {True: "met", False: "MISSED", None: "not judged (others kept the machine busy):"}


def costs_table(measured: Measured) -> str:
    """What was measured, and how well costs per unit fit to it."""
    rows = [["", "each", "fit: median error", "worst"]]
    for name, fit in measured.fits.items():
        rows.append([name, "", f"{fit.error:.0%}", f"{fit.worst:.0%}"])
        rows += [[f"  {unit}", duration(seconds), "", ""] for unit, seconds in fit.seconds.items() if seconds]
    return "\n".join(["costs, in processor time", *columns(rows)])


CASE_HEADS = [
    "",
    "trainers",
    "predicted/s",
    "measured/s",
    "ratio",
    "CPU predicted",
    "measured",
    "ratio",
    "others",
]


def case_row(case: Case) -> list[str]:
    """One case of the validation."""
    return [
        f"{case.order.workload.name}, {case.mode}",
        f"{case.order.trainers}",
        f"{case.predicted.steps_per_s:,.0f}",
        f"{case.real.steps_per_s:,.0f}",
        f"{case.ratio:.2f}",
        duration(case.predicted.cpu_s),
        duration(case.real.cpu_s),
        f"{case.cpu_ratio:.2f}",
        f"{case.real.others:.0%}",
    ]


def validation_table(cases: Sequence[Case], verdicts: Sequence[Verdict]) -> str:
    """All cases, then the goals."""
    title = (
        "validation: real trainers on this machine, and the simulation of the same (steps of all trainers)"
    )
    judged = [
        f"  {_MARKS[verdict.met]:<10} {verdict.what}: off by {verdict.error:.0%} in the median case, "
        f"{BOUND:.0%} is the bound ({', '.join(f'{load}: {off:.0%}' for load, off in verdict.of.items())})"
        for verdict in verdicts
    ]
    return "\n".join([title, *columns([CASE_HEADS, *map(case_row, cases)]), *judged])


def prediction_tables(points: Sequence[Point], batch: int) -> Iterator[str]:
    """A table for each link and mode: a row for each number of trainers, shards from left to right."""
    for gbit in dict.fromkeys(point.gbit for point in points):
        for mode in dict.fromkeys(point.mode for point in points):
            yield _prediction_table([p for p in points if (p.gbit, p.mode) == (gbit, mode)], batch)


def _prediction_table(points: Sequence[Point], batch: int) -> str:
    shards = list(dict.fromkeys(point.shards for point in points))
    at = {(point.trainers, point.shards): point for point in points}
    counted = [f"{number} shard{'s' * (number > 1)}" for number in shards]
    heads = ["trainers", *(head for text in counted for head in (text, "eff.", "held up by"))]
    rows = [
        [f"{trainers:,}", *(cell for number in shards for cell in _cells(at[trainers, number]))]
        for trainers in dict.fromkeys(point.trainers for point in points)
    ]
    best = max(points, key=lambda point: point.result.steps_per_s)
    title = (
        f"{points[0].mode}, {points[0].gbit:g} Gbit/s: steps/s (at most {best.result.steps_per_s:,.0f}, "
        f"{best.result.steps_per_s * batch:,.0f} samples/s)"
    )
    return "\n".join([title, *columns([heads, *rows])])


def _cells(point: Point) -> list[str]:
    result = point.result
    return [f"{result.steps_per_s:,.0f}", f"{point.efficiency:.0%}", result.shares.bottleneck]


def document(
    machine: Mapping[str, object],
    measured: Measured,
    cases: Sequence[Case],
    verdicts: Sequence[Verdict],
    points: Sequence[Point],
) -> dict[str, Any]:
    """Everything that the tables show, and what is behind it."""
    return {
        "benchmark": "scale",
        "machine": dict(machine),
        "costs": [{"pause_s": pause, **asdict(costs)} for pause, costs in measured.costs.items()],
        "fits": {name: asdict(fit) for name, fit in measured.fits.items()},
        "validation": [
            {
                "mode": case.mode,
                "order": asdict(case.order),
                "predicted": asdict(case.predicted),
                "measured": asdict(case.real),
                "ratio": case.ratio,
                "cpu_ratio": case.cpu_ratio,
            }
            for case in cases
        ],
        "goals": [{**asdict(verdict), "bound": BOUND} for verdict in verdicts],
        "prediction": [
            {
                "mode": point.mode,
                "trainers": point.trainers,
                "shards": point.shards,
                "gbit": point.gbit,
                "steps_per_s": point.result.steps_per_s,
                "efficiency": point.efficiency,
                "bottleneck": point.result.shares.bottleneck,
                "shares": asdict(point.result.shares),
                "dropped": point.result.dropped,
            }
            for point in points
        ],
        "met": not any(verdict.met is False for verdict in verdicts),
    }
