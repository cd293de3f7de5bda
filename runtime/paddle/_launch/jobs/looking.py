"""What `fab status` says: how jobs stand, in words or as JSON.

It must never change anything. Guarantee: of a launch that hangs it says so after a moment, and how it stood
when that was last written; one whose launcher was killed is told from one that runs, whoever has its pid now.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from paddle._launch import bulletins
from paddle._launch.board import Row
from paddle._launch.errors import JobError
from paddle._launch.jobs.caller import Caller
from paddle._launch.jobs.index import Job, Standing
from paddle._launch.jobs.record import State
from paddle._launch.kubernetes import after
from paddle._launch.results.tenancy import tenant
from paddle._launch.screens.grid import grid
from paddle._visible import visible

_FOUND = "what its roles left behind: fab logs, fab collect"


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
        case Standing.LOST if state and state.left:
            how = f"ended with status {state.exit_status}, and is not taken away"
        case Standing.LOST:
            how = f"lost in phase {phase}: its launcher, process {record.launcher.pid}, has died"
        case Standing.ELSEWHERE:
            how = f"of {record.launcher.machine}, where it was in phase {phase}; ask there"
    return f"{record.name}: {how}; began {began}, results in {record.plan.home}"


def in_words(seen: Look, width: int | None = None) -> Iterator[str]:
    """Say all of a job in lines. ``width``: of the terminal, which the table is to fit in."""
    state, record = seen.state, seen.job.record
    yield headline(seen)
    if seen.trouble:
        yield f"  {seen.trouble} What follows is how it stood when that was last written."
    if seen.standing is Standing.LOST and record.plan.pods is None:
        yield (
            "  Agents stop every process of a job whose launcher is gone, within seconds; "
            + _FOUND
            + (f", python paddle.py --resume={record.name}" if record.plan.snapshots else "")
        )
    if state is None:
        return
    yield from (f"  {line}" for line in _table(state.rows, seen.standing, width))
    if state.waiting and seen.standing is not Standing.ENDED:
        yield f"  {state.waiting}"
    if state.failed:
        yield f"  {visible(state.failed.text)}"
        if state.failed.lines:
            yield f"  its last lines: fab logs --job={record.id} --role={state.failed.role} --tail=20"
    if state.left:
        yield f"  {visible(state.left)}"
    yield from (f"  {line}" for line in _places(seen))
    if seen.standing is Standing.LOST and record.plan.pods is not None:
        yield from (f"  {line}" for line in after.standing(record.plan))


def _places(seen: Look) -> Iterator[str]:
    """Where results are; those of a later job of the same package may have come in their place."""
    state, record = seen.state, seen.job.record
    assert state is not None
    places = {"logs": state.log, "loss curve": state.curve, "model": state.model}
    said = [f"{name} in {place}" for name, place in places.items() if place]
    other = tenant(record.plan.home)
    if said and other not in ("", record.id):
        yield (
            f"{record.plan.home / 'log'} has the logs of {other} by now, and output perhaps its model: "
            f"fab collect --job={record.id}"
        )
    elif said:
        yield ", ".join(said)
    elif seen.standing in (Standing.RUNS, Standing.LOST):
        yield f"logs so far in {record.plan.home / 'log'}"


def _table(rows: tuple[Row, ...], standing: Standing, width: int | None) -> Iterator[str]:
    if standing is Standing.LOST:  # what they did last is no news of what they do
        rows = tuple(replace(row, state=f"was: {row.state}") for row in rows)
    room = None if width is None else max(width - 2, 1)
    return (line.text for line in grid(rows, width=room))
