"""A job on Kubernetes whose launcher is gone: how it stands, what it prints, and its end.

It goes on, since Kubernetes has it. It must never change what it was not asked to end. Guarantee: what is
said is of the pods that are there now.
"""

from __future__ import annotations

from collections.abc import Iterator

from paddle._launch.errors import JobError, NodeError
from paddle._launch.kubernetes import names, removal, watching
from paddle._launch.kubernetes.inside.telling import text_of
from paddle._launch.kubernetes.kubectl import Kubectl, typed
from paddle._launch.kubernetes.watching import PodState
from paddle._launch.plan import LaunchPlan

_GONE_S = 90.0


def standing(plan: LaunchPlan) -> Iterator[str]:
    """Say how each role's pod stands; that the cluster is not reached, too."""
    try:
        states = _states(plan)
    except NodeError as error:
        yield str(error)
        return
    if not states:
        yield "it has no pods in the cluster any more"
        return
    yield "its pods are Kubernetes' and need no launcher:"
    for kind in ("pserver", "trainer"):
        for role in plan.roles(kind):
            state = states.get(role.name)
            yield f"  {role.name:<12} {_said(state) if state else 'no pod'}"
    yield "`fab logs` shows how far they are; once they are done, `fab collect` and then `fab stop` end it"


def end(plan: LaunchPlan) -> Iterator[str]:
    """Take all of it away; gives what happens, in lines."""
    try:
        yield from removal.remove(_kubectl(plan), plan.name, _GONE_S, lambda: False)
    except NodeError as error:
        raise JobError(f"{error} {removal.by_hand(plan)}") from error
    yield f"nothing of {plan.name} is in the cluster any more"


def printed(plan: LaunchPlan) -> Iterator[tuple[str, list[str]]]:
    """What each role has printed so far, by its name."""
    kubectl = _kubectl(plan)
    try:
        states = _states(plan)
        for role in (*plan.roles("pserver"), *plan.roles("trainer")):
            if (state := states.get(role.name)) and state.has_begun:
                told = map(text_of, kubectl.ask("logs", state.name).splitlines())
                yield role.name, [text for text, is_report in told if not is_report]
    except NodeError as error:
        raise JobError(str(error)) from error


def how_to_follow(plan: LaunchPlan, role: str) -> str:
    """Say that nobody follows what is printed, and how a user does, of a ``role`` or of all trainers."""
    assert plan.pods is not None
    try:
        found = _states(plan).get(role) if role else None
    except NodeError as error:
        raise JobError(str(error)) from error
    trainers = f"--selector={names.INSTANCE}={plan.name},{names.COMPONENT}=trainer"
    which = found.name if found else f"{trainers} --max-log-requests={len(plan.roles('trainer'))}"
    call = f"{typed(plan.pods)} logs --follow {which}"
    return f"... the launcher of {plan.name} is gone, and with it who follows: `{call}` shows what is to come"


def _kubectl(plan: LaunchPlan) -> Kubectl:
    assert plan.pods is not None
    return Kubectl(plan.pods)


def _states(plan: LaunchPlan) -> dict[str, PodState]:
    return watching.states(_kubectl(plan).read("get", "pods", "-l", names.chosen(plan.name)))


def _said(state: PodState) -> str:
    ended = f", ended with status {state.last.status}" if state.has_ended else ""
    trouble = f", {state.trouble}" if state.trouble else ""
    return f"{state.name}: {state.phase}{ended}{trouble}"
