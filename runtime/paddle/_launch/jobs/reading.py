"""What `fab logs` shows: what the roles of a job print, merged, each line with its role and address.

It must never change anything. Of a job that runs the lines come from its launch, in the order in which it
heard them, and go on as long as it is followed; of others from their files, role by role.

Guarantee: no byte of a line is obeyed by a terminal.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paddle._launch.errors import JobError
from paddle._launch.jobs.caller import Caller
from paddle._launch.jobs.index import Job, Standing
from paddle._visible import visible

_COLOURS = (36, 33, 32, 35, 34, 96, 93, 92, 95, 94)  # of terminals, one role after another


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a role; of none where the launch itself says it."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """Which lines are wanted: the last ``tail`` (None: all), of a ``role`` (empty: all), with ``pattern``."""

    tail: int | None = None
    role: str = ""
    pattern: re.Pattern[str] | None = None

    def takes(self, line: Line) -> bool:
        """Whether a line is one of them."""
        has_role = self.role in ("", line.role)
        return has_role and (self.pattern is None or self.pattern.search(line.text) is not None)


def choice(*, tail: int | None, role: str, grep: str) -> Choice:
    """Make a choice from what a user wrote."""
    if tail is not None and tail < 1:
        raise JobError(f"--tail={tail}: give a number of lines, 1 or more.")
    try:
        return Choice(tail, role, re.compile(grep) if grep else None)
    except re.error as error:
        raise JobError(
            f"--grep={grep!r} is no regular expression: {error}. To find a bracket, \\[."
        ) from error


def lines(job: Job, wanted: Choice, *, follow: bool) -> Iterator[Line]:
    """Give the lines that are wanted; those that are still to come too, where that is asked for."""
    roles = {role.name for node in job.record.plan.nodes for role in node.roles}
    if wanted.role and wanted.role not in roles:
        raise JobError(f"{job.record.name} has no role {wanted.role}; there are {', '.join(sorted(roles))}.")
    if job.standing is Standing.RUNS:
        yield from _of_launch(job, wanted, follow=follow)
    else:
        yield from _of_files(job, wanted)


def prefixes(job: Job, *, is_coloured: bool) -> dict[str, str]:
    """Give what stands before a line, by its role: ``[trainer-1 10.0.0.2]``."""
    of = {role.name: node.address for node in job.record.plan.nodes for role in node.roles}
    width = max((len(role) + len(address) for role, address in of.items()), default=0)
    found = {}
    for number, (role, address) in enumerate(of.items()):
        text = f"[{role} {address}]".ljust(width + 3)
        colour = _COLOURS[number % len(_COLOURS)]
        found[role] = f"\x1b[{colour}m{text}\x1b[0m" if is_coloured else text
    return found


def shown(line: Line, prefix: dict[str, str]) -> str:
    """Write a line as it is shown."""
    return f"{prefix.get(line.role, '').rstrip(' ')} {visible(line.text)}".lstrip(" ")


def _of_launch(job: Job, wanted: Choice, *, follow: bool) -> Iterator[Line]:
    """First what was printed, as far as the launch keeps it, of which a tail may be wanted; then the rest."""
    kept: deque[Line] = deque(maxlen=wanted.tail)
    with Caller(job.folder) as caller:
        news = caller.follow()
        for told in news:
            if told["event"] == "now":  # all that was told before is read
                break
            kept.extend(filter(wanted.takes, _told(told)))
        yield from kept
        for told in news if follow else ():
            yield from filter(wanted.takes, _told(told))


def _told(told: dict[str, Any]) -> Iterator[Line]:
    match told:
        case {"event": "lines", "role": str(role), "lines": [*texts]}:
            yield from (Line(role, str(text)) for text in texts)
        case {"event": "missed", "count": int(count)}:
            yield Line("", f"... {count} pieces of news that came before, or too fast, are left out here")


def _of_files(job: Job, wanted: Choice) -> Iterator[Line]:
    """What was collected, or came while the job ran; on this machine what lies in a workspace will do."""
    plan = job.record.plan
    for kind in ("pserver", "trainer"):
        for role in plan.roles(kind):
            node = plan.nodes[role.node]
            places = [plan.home / "log" / f"node-{role.node}" / Path(role.log).name]
            places += [node.workspace / role.log] if node.host.is_local else []
            place = next((path for path in places if path.is_file()), None)
            found = (line for line in _lines_of(place, role.name) if wanted.takes(line)) if place else ()
            yield from found if wanted.tail is None else deque(found, maxlen=wanted.tail)


def _lines_of(place: Path, role: str) -> Iterable[Line]:
    try:
        with place.open(errors="replace") as file:
            for text in file:
                yield Line(role, text.rstrip("\n"))
    except OSError as error:
        yield Line(role, f"cannot read {place}: {error.strerror}")
