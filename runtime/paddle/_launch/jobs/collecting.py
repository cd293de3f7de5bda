"""What `fab collect` does: brings the logs and the model of a job from its nodes, whether it runs, has ended
or has lost its launcher.

It must never know how a node is reached: a carrier does. Guarantee: the job is not touched, and what is
collected replaces what was collected before, whole or not at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue

from paddle._launch.backends import Carrier, Post
from paddle._launch.errors import JobError
from paddle._launch.events import Answered, Event, NodeEnded, NodeFailed
from paddle._launch.news import Collected, News, Told
from paddle._launch.phases import Phase
from paddle._launch.plan import LaunchPlan
from paddle._launch.results.curve import draw_again
from paddle._launch.results.tenancy import own_place, settle, tenant
from paddle._visible import visible

_PATIENCE_S = 600.0


def collect(plan: LaunchPlan, carry: Callable[[LaunchPlan, Post], Carrier]) -> Iterator[str]:
    """Collect from all nodes at once; gives what happens, in lines. Raises JobError where a node gave none.

    ``plan`` has no package: to reach a node is all that is done before. Where results of another job lie by
    now these have a place of their own."""
    place = own_place(plan.home, plan.name, plan.id)
    if place != plan.home:
        yield f"{plan.home / 'log'} has the logs of {tenant(plan.home)} by now"
        plan = plan.housed(_made(place, plan.id))
    heard: SimpleQueue[Event | News] = SimpleQueue()
    carrier = carry(plan, heard.put)
    waiting = {node.node for node in plan.nodes}
    failed: list[str] = []
    there: list[str] = []
    end = time.monotonic() + _PATIENCE_S
    try:
        for each in plan.nodes:
            carrier.step(each.node, Phase.REACH)
        while waiting:
            match _next(heard, end, waiting):
                case Answered(node, Phase.REACH):
                    carrier.step(node, Phase.COLLECT)
                case Answered(node, Phase.COLLECT):
                    waiting.discard(node)
                case NodeFailed(node, text) | NodeEnded(node, text):
                    waiting.discard(node)
                    failed.append(f"node {node}: {visible(text)}")
                case Told(source, text):
                    yield f"{source}: {visible(text)}"
                case Collected(node, folder):
                    there.append(f"{folder} of node {node}")
    finally:
        carrier.close()
    picture = draw_again(plan.home / "log", lambda text: None, plan.name) if there else None
    there += [f"loss curve {picture}"] if picture else []
    yield f"collected into {plan.home}: {', '.join(sorted(there)) or 'nothing'}"
    if failed:
        raise JobError(f"not collected: {'; '.join(failed)}")


def _made(place: Path, id: str) -> Path:
    try:
        (place / "log").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JobError(f"cannot make {place / 'log'}: {error.strerror}.") from error
    settle(place, id)
    return place


def _next(heard: SimpleQueue[Event | News], end: float, waiting: set[int]) -> Event | News:
    try:
        return heard.get(timeout=max(0.0, end - time.monotonic()))
    except Empty:
        names = ", ".join(f"node {node}" for node in sorted(waiting))
        raise JobError(f"{names} did not answer within {_PATIENCE_S:.0f} s; the others were asked.") from None
