"""Study: the whole of ``scale``: costs measured, the simulation held to real runs, then let go further."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.environment import contender_environment
from benchmarks.scale import measuring, prediction, report, validation
from benchmarks.scale.modes import MODES
from benchmarks.scale.orders import Field
from benchmarks.scale.prediction import USUAL_GBIT, WIDE_AND_DEEP

TITLE = "scale: what many trainers and pservers would do, simulated with costs measured here"


def missing_for(plot: Path | None) -> str:
    """What is to be told where a plot is asked for and cannot be drawn."""
    if plot is None or importlib.util.find_spec("matplotlib") is not None:
        return ""
    return "--plot needs matplotlib: pip install -e '.[plot]'"


@dataclass(frozen=True, slots=True)
class Size:
    """How long a study is."""

    extent: measuring.Extent
    plan: validation.Plan
    grids: tuple[prediction.Grid, ...]


QUICK = Size(measuring.QUICK, validation.QUICK, prediction.QUICK)
FULL = Size(measuring.FULL, validation.FULL, prediction.FULL)


def study(size: Size, machine: Mapping[str, object], document: Path | None, plot: Path | None) -> bool:
    """Do it, print it, and say whether its goals were met."""
    with Field(contender_environment(os.environ)) as field:
        measured = measuring.measure(field, size.extent, MODES, size.plan.pauses)
        print("\n" + report.costs_table(measured), flush=True)
        cases = validation.validate(field, measured, MODES, size.plan)
    verdicts = validation.judge(cases)
    print("\n" + report.validation_table(cases, verdicts), flush=True)
    load = WIDE_AND_DEEP
    print("\nprediction: " + prediction.assumptions(load), flush=True)
    points = prediction.predict(measured.of(load), load, MODES, size.grids)
    for table in report.prediction_tables(points, load.batch):
        print("\n" + table, flush=True)
    if document is not None:
        told = report.document(machine, measured, cases, verdicts, points)
        document.write_text(json.dumps(told, indent=1) + "\n")
    if plot is not None:
        from benchmarks.scale.plot import draw

        draw(points, USUAL_GBIT, plot, prediction.assumptions(load))
    return not any(verdict.met is False for verdict in verdicts)
