"""What `fab logs` shows: what the roles of a job print, merged, each line with its role and address.

It must never change anything. Of a job that runs the lines come from its launch, in the order in which it
heard them, and go on as long as it is followed; of others from their files, role by role. Of a job on
Kubernetes that has lost its launcher they come from its pods, as far as they are printed.

Guarantee: lines are those of this job, never of another one whose results have come to the same place since.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddle._launch.agent.lines import Lines
from paddle._launch.errors import JobError, UsageError
from paddle._launch.jobs.caller import Caller
from paddle._launch.jobs.index import Job, Standing
from paddle._launch.kubernetes import after
from paddle._launch.plan import LaunchPlan, NodePlan, RolePlan
from paddle._launch.results.tenancy import own_place, tenant

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class RoleLine:
    """A line of a role; of none where the launch itself says it."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """Which lines are wanted: the last ``tail`` (None: all), of a ``role`` (empty: all), with ``pattern``.
    What no role said, such as how many lines are missing, is always wanted."""

    tail: int | None = None
    role: str = ""
    pattern: re.Pattern[str] | None = None

    def takes(self, line: RoleLine) -> bool:
        """Whether a line is one of them."""
        if not line.role:
            return True
        has_role = self.role in ("", line.role)
        return has_role and (self.pattern is None or self.pattern.search(line.text) is not None)


def choice(*, tail: int | None, role: str, grep: str) -> Choice:
    """Make a choice from what a user wrote."""
    return Choice(tail, role, pattern(grep, "--grep"))


def pattern(text: str, flag: str) -> re.Pattern[str] | None:
    """Make a pattern of what a user wrote; none of an empty text."""
    try:
        return re.compile(text) if text else None
    except re.error as error:
        raise UsageError(
            f"{flag}={text!r} is not a regular expression: {error}. To find a bracket, \\[."
        ) from error


def lines(job: Job, wanted: Choice, *, follow: bool) -> Iterator[RoleLine]:
    """Give the lines that are wanted; those that are still to come too, where that is asked for."""
    roles = {role.name for node in job.record.plan.nodes for role in node.roles}
    if wanted.role and wanted.role not in roles:
        raise JobError(f"{job.record.name} has no role {wanted.role}; there are {', '.join(sorted(roles))}.")
    if job.standing is Standing.RUNS:
        yield from _of_launch(job, wanted, follow=follow)
    elif job.standing is Standing.LOST and job.record.plan.pods is not None:
        yield from _of_pods(job, wanted)
        if follow:
            yield RoleLine("", after.how_to_follow(job.record.plan, wanted.role))
    else:
        yield from _of_files(job, wanted)


def _of_pods(job: Job, wanted: Choice) -> Iterator[RoleLine]:
    """What Kubernetes has kept of it: the launch is gone, and the job goes on."""
    for role, texts in after.printed(job.record.plan):
        found = (line for text in texts if wanted.takes(line := RoleLine(role, text)))
        yield from found if wanted.tail is None else deque(found, maxlen=wanted.tail)


def _of_launch(job: Job, wanted: Choice, *, follow: bool) -> Iterator[RoleLine]:
    """First what was printed, as far as the launch keeps it, of which a tail may be wanted; then the rest."""
    plan = job.record.plan
    kept: deque[RoleLine] = deque(maxlen=wanted.tail)
    with Caller(job.folder) as caller:
        printed = caller.lines()
        for told in printed:
            if told["event"] == "now":  # all that was told before is read
                break
            kept.extend(line for line in _told(told, plan) if wanted.takes(line))
        yield from kept
        for told in printed if follow else ():
            yield from (line for line in _told(told, plan) if wanted.takes(line))


def _told(told: dict[str, Any], plan: LaunchPlan) -> Iterator[RoleLine]:
    match told:
        case {"event": "lines", "role": str(role), "lines": [*texts]}:
            yield from (RoleLine(role, str(text)) for text in texts)
        case {"event": "missed", "count": int(count)}:
            rest = f"they are in {plan.home / 'log'}"
            yield RoleLine("", f"... {count} pieces that came before, or too fast, are left out here; {rest}")


def _of_files(job: Job, wanted: Choice) -> Iterator[RoleLine]:
    """What was collected, or came while the job ran; on this machine what lies in a workspace will do."""
    plan = job.record.plan
    roles = [(plan.nodes[role.node], role) for kind in ("pserver", "trainer") for role in plan.roles(kind)]
    places = {role.name: _place(job, node, role) for node, role in roles}
    if not any(places.values()):
        yield RoleLine("", _nothing(job))
    for role, place in places.items():
        found = (line for line in _lines_of(place, role) if wanted.takes(line)) if place else ()
        yield from found if wanted.tail is None else deque(found, maxlen=wanted.tail)


def _place(job: Job, node: NodePlan, role: RolePlan) -> Path | None:
    record = job.record
    home = own_place(record.plan.home, record.name, record.id)
    places = [home / "log" / f"node-{node.node}" / Path(role.log).name]
    places += [node.workspace / role.log] if node.host.is_local else []
    return next((path for path in places if path.is_file()), None)


def _nothing(job: Job) -> str:
    """Why there is nothing to read."""
    record = job.record
    if (other := tenant(record.plan.home)) not in ("", record.id):
        return (
            f"{record.plan.home / 'log'} has the logs of {other} by now; those of {record.id} are on its "
            f"nodes: fab collect --job={record.id} brings them here."
        )
    return f"{record.name} has left no logs in {record.plan.home / 'log'}; `fab collect` asks its nodes."


def _lines_of(place: Path, role: str) -> Iterator[RoleLine]:
    """The same lines as were heard while the job ran."""
    cut = Lines()
    try:
        with place.open("rb") as file:
            while data := file.read(_CHUNK):
                yield from (RoleLine(role, text) for text in cut.feed(data))
        yield from (RoleLine(role, text) for text in cut.finish())
    except OSError as error:
        yield RoleLine(role, f"cannot read {place}: {error.strerror}")
