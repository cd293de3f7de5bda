"""A run as a JSON document: everything the table shows, and every sample behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from statistics import median

from benchmarks.contest import Outcome, Report
from benchmarks.environment import THREADS


def document(report: Report, machine: Mapping[str, object], pins: Mapping[str, str]) -> dict[str, object]:
    """Seconds are per unit of the case's work; samples are in the order of the rounds."""
    return {
        "benchmark": report.benchmark.name,
        "baseline": report.benchmark.baseline,
        "machine": dict(machine),
        "threads": THREADS,
        "dropped": dict(pins),
        "libraries": {name: dict(facts) for name, facts in report.libraries.items()},
        "missing": report.missing,
        "pace": asdict(report.pace),
        "cases": [_case(outcome) for outcome in report.outcomes],
        "met": report.met,
    }


def _case(outcome: Outcome) -> dict[str, object]:
    case = outcome.case
    return {
        "name": case.name,
        "unit": case.unit,
        "volume": case.volume,
        "volume_unit": case.volume_unit,
        "settings": dict(case.settings),
        "threads": case.threads,
        "contenders": {
            name: {
                "wall_s": median(sample.wall_s for sample in samples),
                "cpu_s": median(sample.cpu_s for sample in samples),
                "peak_bytes": samples[0].peak,
                "units_per_sample": outcome.counts[name],
                "samples": [asdict(sample) for sample in samples],
            }
            for name, samples in outcome.samples.items()
        },
        "goals": [
            {
                "goal": str(verdict.goal),
                "ratio": verdict.ratio,
                "met": verdict.met,
                "lacks": verdict.goal.lacks,
                "reached": verdict.goal.reached,
                "floor": verdict.goal.floor,
                "fails": verdict.fails,
            }
            for verdict in outcome.verdicts
        ],
        "failures": outcome.failures,
    }
