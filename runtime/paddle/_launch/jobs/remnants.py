"""Remnants: what is left of a job whose launcher is gone, looked for and ended on every node that it had.

It must never signal anything itself: a program of each node does (agent/stragglers.py), and only what carries
the job's own id. Guarantee: of every node it is said what was found there, or why nobody could look; where
something goes on all the same, or may, that is a JobError.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import msgspec

from paddle._launch.errors import JobError
from paddle._launch.machines.conversation import converse
from paddle._launch.machines.crowd import together
from paddle._launch.machines.here import Here
from paddle._launch.machines.said import Count, Text
from paddle._launch.machines.transport import Transport
from paddle._launch.plan import LaunchPlan, NodePlan
from paddle._visible import visible

_LEASH_S = 3.0  # an agent whose launcher is gone needs two
_GRACE_S = 2.0
_DEADLINE_S = 60.0
_ONCE_MORE = (
    "An agent that hears no launcher ends all of a job within ten seconds; once the node answers, the same "
    "command looks there."
)


class Found(msgspec.Struct, frozen=True):
    """What was found on a node; see agent/stragglers.py."""

    ended: dict[Count, Text]
    left: dict[Count, Text]


def end(plan: LaunchPlan, job: str) -> Iterator[str]:
    """End what is left of a job, by its id; gives what was found, in lines. Raises JobError where something
    goes on, or a node could not be looked at."""
    transport = Transport(plan.remote.host_keys) if plan.remote else None
    nodes = {node.node: node for node in (plan.nodes if transport else plan.nodes[:1])}
    tasks = {number: partial(_ended, plan, node, job, transport) for number, node in nodes.items()}
    found, failed = together(tasks, _DEADLINE_S)
    wrong = []
    for number, node in nodes.items():
        where = f"node {number} ({node.address})" if transport else "this machine"
        if number in failed:
            wrong.append(f"{where} could not be looked at: {failed[number]}")
            continue
        for pid, command in sorted(found[number].ended.items()):
            yield f"ended process {pid} on {where}, which its agent had left: {visible(command)}"
        if left := found[number].left:
            wrong.append(
                f"on {where} cannot be killed: {', '.join(f'process {pid}' for pid in sorted(left))}."
            )
        else:
            yield f"no process of it is left on {where}"
    if wrong:
        raise JobError(visible(" ".join([*wrong, *([_ONCE_MORE] if failed else [])])))


def _ended(plan: LaunchPlan, node: NodePlan, job: str, transport: Transport | None) -> Found:
    pythons = plan.remote.pythons if plan.remote else (sys.executable,)
    reached = transport.line(node.host).open() if transport else Here()
    with closing(reached), converse(reached, pythons, "agent.stragglers") as talk:
        return talk.ask({"job": job, "wait_s": _LEASH_S, "grace_s": _GRACE_S}, Found)
