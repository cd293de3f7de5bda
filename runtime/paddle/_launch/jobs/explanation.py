"""Why a job failed, for people: what failed, where, its last lines, and where all of them are.

It must never decide. Guarantee: no byte of what a role printed is obeyed by a terminal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from rich.cells import cell_len, set_cell_size

from paddle._launch.launch import Launch
from paddle._launch.news import Failed
from paddle._launch.plan import LaunchPlan, count
from paddle._visible import visible

_NARROWEST = 30
_MOST_ROWS = 5  # that one line takes in a box
ROUND = "\u256d\u2500\u256e\u2502\u2570\u256f"
PLAIN = "+-+|++"  # where the letters of the locale have no such corners


def failure(running: Launch, *, has_pods: bool = False) -> Failed | None:
    """Give the cause with the last lines of the role to blame; None where there is none. ``has_pods``: nodes
    are pods of one cluster."""
    cause = running.cause
    if cause is None:
        return None
    lines = running.last_lines(cause.role) if cause.role else ()
    is_asked_for = cause.signum is not None
    return Failed(
        status=cause.status,
        text=cause.text,
        node=cause.node if cause.role or not has_pods else None,  # what is of no role is the cluster's
        role=cause.role,
        detail=cause.why,
        lines=lines,
        is_asked_for=is_asked_for,
        address=running.place(cause.role) if cause.role else "",
    )


def paragraphs(failed: Failed, launch: LaunchPlan, width: int | None, edges: str = ROUND) -> Iterator[str]:
    """Say it in lines. ``width``: of the terminal, on which last lines stand in a box; None: in a file."""
    node = next((node for node in launch.nodes if node.node == failed.node), None)
    where = f" on node {node.node} ({failed.address or node.address})" if node else ""
    if failed.role is None:
        yield f"paddle.py: the job failed{where}: {failed.text}"
        return
    end = ". Its last lines:" if failed.lines else "."
    yield f"paddle.py: {failed.text}{where}{end}"
    if failed.lines:
        yield from _box(failed.lines, f"{failed.role}{where}", width, edges)
    if failed.detail:
        yield f"Why: {failed.detail}"
    log = next((role.log for one in launch.nodes for role in one.roles if role.name == failed.role), "")
    yield f"Its full output: {launch.home / 'log' / f'node-{failed.node}' / Path(log).name}"


def table(unfit: Mapping[int, str], launch: LaunchPlan) -> Iterator[str]:
    """Say which nodes cannot be used, and why."""
    shown = {node.node: f"{node.host.user}@{node.host.name}" for node in launch.nodes if node.node in unfit}
    width = max(map(len, shown.values()))
    of = count(len(launch.nodes), "node")
    yield f"paddle.py: {len(unfit)} of {of} cannot be used; nothing was started or changed on any."
    for node, name in shown.items():
        yield f"  node {node:<3} {name:<{width}}  {unfit[node]}"
    yield "`fab check` checks all nodes without launching a job."


def _box(lines: tuple[str, ...], title: str, width: int | None, edges: str) -> Iterator[str]:
    if width is None or width < _NARROWEST:
        yield from (f"  | {line}" for line in lines)
        return
    room = width - 4
    left, flat, right, side, below_left, below_right = tuple(edges)
    head = f"{left}{flat} {set_cell_size(title, min(cell_len(title), room - 2))} "
    yield head + flat * (width - cell_len(head) - 1) + right
    for line in lines:
        for part in _rows(visible(line).expandtabs(), room):
            yield f"{side} {set_cell_size(part, room)} {side}"
    yield below_left + flat * (width - 2) + below_right


def _rows(text: str, room: int) -> list[str]:
    """Cut a line into rows that are no wider than ``room`` cells: some letters take two. Few are enough."""
    rows, width = [""], 0
    for letter in text:
        size = cell_len(letter)
        if width + size > room:
            if len(rows) == _MOST_ROWS:
                return [*rows[:-1], set_cell_size(f"... {len(text):,} letters in all", room)]
            rows.append("")
            width = 0
        rows[-1] += letter
        width += size
    return rows
