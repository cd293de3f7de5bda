"""What `fab status` says: how jobs stand, in words or as JSON.

It must never change anything. Guarantee: of a launch that hangs it says so after a moment, and how it stood
when that was last written; one whose launcher was killed is told from one that runs, whoever has its pid now.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from paddle._launch import bulletins
from paddle._launch.board import HEADINGS, Row, cells
from paddle._launch.errors import JobError
from paddle._launch.jobs.caller import Caller
from paddle._launch.jobs.index import Job, Standing
from paddle._launch.jobs.record import State
from paddle._visible import visible

_FOUND = "what its roles left behind: fab logs, fab collect, python paddle.py --resume={0}"


@dataclass(frozen=True, slots=True)
class Look:
    """A job at one moment. ``trouble``: why the launch itself could not be asked; empty where it was."""

    job: Job
    standing: Standing
    state: State | None
    trouble: str = ""


def look(job: Job) -> Look:
    """Ask a launch that runs how it stands; of others read what they wrote."""
    standing = job.standing
    if standing is not Standing.RUNS:
        return Look(job, standing, job.state)
    try:
        with Caller(job.folder) as caller:
            return Look(job, standing, caller.state())
    except (JobError, OSError, msgspec.MsgspecError) as error:
        standing = job.standing  # it may have ended meanwhile
        return Look(job, standing, job.state, str(error) if standing is Standing.RUNS else "")


def as_json(seen: Look) -> str:
    """Say it as one line of JSON; docs/jobs.md lists the fields."""
    record, state = seen.job.record, seen.state
    fields: dict[str, Any] = {
        "event": "job",
        "job": record.name,
        "id": record.id,
        "standing": seen.standing.value,
        "pid": record.launcher.pid,
        "machine": record.launcher.machine,
        "began": round(record.began, 3),
        "home": str(record.plan.home),
        "conf": str(record.conf),
        "resumes": record.resumes,
        "trouble": seen.trouble,
    }
    return bulletins.encoded({**fields, **(msgspec.structs.asdict(state) if state else {})})


def headline(seen: Look) -> str:
    """Say in one line how a job stands."""
    record, state = seen.job.record, seen.state
    phase = state.phase if state else "begins"
    began = datetime.fromtimestamp(record.began).strftime("%Y-%m-%d %H:%M:%S")
    match seen.standing:
        case Standing.RUNS:
            how = f"runs, phase {phase}, process {record.launcher.pid}"
        case Standing.ENDED:
            how = f"ended with status {state.exit_status if state else '?'}"
        case Standing.LOST:
            how = (
                f"lost in phase {phase}: its launcher, process {record.launcher.pid}, is gone without a word"
            )
        case Standing.ELSEWHERE:
            how = f"of {record.launcher.machine}, where it was in phase {phase}; ask there"
    return f"{record.name}: {how}; began {began}, results in {record.plan.home}"


def in_words(seen: Look) -> Iterator[str]:
    """Say all of a job in lines."""
    state = seen.state
    yield headline(seen)
    if seen.trouble:
        yield f"  {seen.trouble} What follows is how it stood when that was last written."
    if seen.standing is Standing.LOST:
        yield (
            "  Agents stop every process of a job whose launcher is gone, within seconds; "
            + _FOUND.format(seen.job.record.name)
        )
    if state is None:
        return
    yield from (f"  {line}" for line in _columns(state.rows, seen.standing))
    if state.waiting:
        yield f"  {state.waiting}"
    if state.failed:
        yield f"  {visible(state.failed.text)}"
    places = {"logs": state.log, "loss curve": state.curve, "model": state.model}
    if said := [f"{name} in {place}" for name, place in places.items() if place]:
        yield f"  {', '.join(said)}"


def _columns(rows: tuple[Row, ...], standing: Standing) -> Iterator[str]:
    """A table as plain text: each column as wide as its widest."""
    told = [cells(row) for row in rows]
    if standing is Standing.LOST:  # what they did last is no news of what they do
        told = [(*one[:4], f"was: {one[4]}", *one[5:]) for one in told]
    table = [HEADINGS, *told]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        padded = (text.ljust(width) for text, width in zip(line, widths, strict=True))
        yield "  ".join(padded).rstrip()


def total_rate(state: State) -> float:
    """Give the samples per second of all trainers together."""
    rates = [row.samples_per_s or 0.0 for row in state.rows]
    return sum(rate for rate in rates if math.isfinite(rate))
