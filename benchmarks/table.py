"""A run as text: the machine, then a table for each case, then its goals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from benchmarks.contest import Outcome, Report
from benchmarks.environment import THREADS
from benchmarks.goal import Verdict
from benchmarks.samples import Quantity, Sample, ratios, spread

_MARKS = {True: "met", False: "MISSED", None: "not judged"}


def header(title: str, machine: Mapping[str, object], pins: Mapping[str, str]) -> str:
    """What was known before anything ran."""
    kind = f" ({machine['generation']})" if machine.get("generation") else ""
    where = f"{machine['cpu']}{kind}, " + "{cores} cores, load {load}; {system}; Python {python}".format_map(
        machine
    )
    lines = [
        title,
        "",
        f"machine  {where}",
        "threads  " + " ".join(f"{name}={value}" for name, value in THREADS.items()),
    ]
    if pins:
        lines.append("dropped  " + " ".join(f"{name}={value}" for name, value in pins.items()))
    return "\n".join(lines)


def libraries(report: Report) -> str:
    """What every contender ran on, and how to get those that are missing."""
    width = max(len(contender.name) for contender in report.benchmark.contenders)
    lines = [
        f"{name:<{width}}  " + ", ".join(f"{library} {version}" for library, version in facts.items())
        for name, facts in report.libraries.items()
    ]
    lines += [f"{name:<{width}}  missing; {how_to_get}" for name, how_to_get in report.missing.items()]
    return "\n".join(lines)


def outcome_table(report: Report, outcome: Outcome) -> str:
    """One case: a row for each contender, ratios against the first, then goals and failures."""
    case = outcome.case
    title = f"{case.name} (per {case.unit}; medians of {report.pace.rounds} rounds in turns)"
    unit = case.volume_unit
    heads = ["", "wall", "CPU", f"{unit}/s", f"CPU/{unit}", "wall ratio", "", "CPU ratio", ""]
    baseline = outcome.samples.get(report.benchmark.baseline)
    rows = [[name, *_cells(case.volume, s, baseline)] for name, s in outcome.samples.items()]
    if report.benchmark.shows_memory:
        heads.append("peak MB")
        for row, samples in zip(rows, outcome.samples.values(), strict=True):
            row.append(f"{samples[0].peak / 1e6:,.0f}")
    goals = [f"  {_mark(verdict):<10} {_judgement(verdict)}" for verdict in outcome.verdicts]
    failures = [f"  FAILED     {failure}" for failure in outcome.failures]
    return "\n".join([title, *columns([heads, *rows]), *goals, *failures])


def duration(seconds: float) -> str:
    """Three digits and a unit."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 0.9995:
            return f"{_three_digits(seconds * factor)} {unit}"
    return f"{_three_digits(seconds * 1e9)} ns"


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.95 else f"{value:#.3g}"


def _cells(volume: float, samples: Sequence[Sample], baseline: Sequence[Sample] | None) -> list[str]:
    wall, cpu = median(s.wall_s for s in samples), median(s.cpu_s for s in samples)
    cells = [duration(wall), duration(cpu), _three_digits(volume / wall), duration(cpu / volume)]
    return cells + (
        _ratio(samples, baseline, "wall") + _ratio(samples, baseline, "cpu") if baseline else [""] * 4
    )


def _ratio(samples: Sequence[Sample], baseline: Sequence[Sample], quantity: Quantity) -> list[str]:
    values = ratios(samples, baseline, quantity)
    low, high = spread(values)
    return [f"{median(values):.2f}", f"({low:.2f}-{high:.2f})"]


def _mark(verdict: Verdict) -> str:
    return "LOST" if verdict.is_lost else _MARKS[verdict.met]


def _judgement(verdict: Verdict) -> str:
    if verdict.ratio is None:
        return f"{verdict.goal}: one of the two did not run"
    return f"{verdict.goal}: {verdict.ratio:.2f}{_excuse(verdict)}"


def _excuse(verdict: Verdict) -> str:
    lacks, reached, floor = verdict.goal.lacks, verdict.goal.reached, verdict.goal.floor
    if verdict.is_lost and floor is not None:
        return f"; not even the {floor:.2f} that this kind of processor reached"
    if reached is None:
        return ""
    if verdict.is_stale:
        return f"; no longer lacking: {lacks}"
    return f"; not even the {reached:.2f} that was reached" if verdict.fails else f"; as is known: {lacks}"


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Cells under each other, the first of a row to the left, the others to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in rows
    ]
