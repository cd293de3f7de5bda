"""Why a job failed, for people: what failed, where, its last lines, and where all of them are.

It must never decide. Guarantee: no byte of what a role printed is obeyed by a terminal.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from paddle._launch.launch import Launch
from paddle._launch.news import Failed
from paddle._launch.plan import LaunchPlan, count
from paddle._visible import visible

_NARROWEST = 40


def failure(running: Launch) -> Failed | None:
    """Give the cause with the last lines of the role to blame; None where there is none."""
    cause = running.cause
    if cause is None:
        return None
    lines = running.last_lines(cause.role) if cause.role else ()
    is_asked_for = cause.signum is not None
    return Failed(cause.status, cause.text, cause.node, cause.role, cause.detail, lines, is_asked_for)


def paragraphs(failed: Failed, launch: LaunchPlan, width: int | None) -> Iterator[str]:
    """Say it in lines. ``width``: of the terminal, on which last lines stand in a box; None: in a file."""
    node = next((node for node in launch.nodes if node.node == failed.node), None)
    where = f" on node {node.node} ({node.address})" if node else ""
    if failed.role is None:
        yield f"paddle.py: the job failed{where}: {failed.text}"
        return
    end = ". Its last lines:" if failed.lines else "."
    yield f"paddle.py: {failed.text}{where}{end}"
    if failed.lines:
        yield from _box(failed.lines, f"{failed.role}{where}", width)
    if failed.detail:
        yield f"Why: {failed.detail}"
    log = next((role.log for one in launch.nodes for role in one.roles if role.name == failed.role), "")
    yield f"All it printed: {launch.home / 'log' / f'node-{failed.node}' / Path(log).name}"


def table(unfit: Mapping[int, str], launch: LaunchPlan) -> Iterator[str]:
    """Say which nodes cannot be used, and why."""
    shown = {node.node: f"{node.host.user}@{node.host.name}" for node in launch.nodes if node.node in unfit}
    width = max(map(len, shown.values()))
    of = count(len(launch.nodes), "node")
    yield f"paddle.py: {len(unfit)} of {of} cannot be used; nothing was started or changed on any."
    for node, name in shown.items():
        yield f"  node {node:<3} {name:<{width}}  {unfit[node]}"


def _box(lines: tuple[str, ...], title: str, width: int | None) -> Iterator[str]:
    if width is None or width < _NARROWEST:
        yield from (f"  | {line}" for line in lines)
        return
    room = width - 4
    yield f"\u256d\u2500 {title} ".ljust(width - 1, "\u2500") + "\u256e"
    for line in lines:
        for part in textwrap.wrap(visible(line), room, drop_whitespace=False) or [""]:
            yield f"\u2502 {part:<{room}} \u2502"
    yield "\u2570" + "\u2500" * (width - 2) + "\u256f"
