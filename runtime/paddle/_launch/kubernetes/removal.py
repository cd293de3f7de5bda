"""What a job has made in a cluster, taken away: by its labels, and nothing else.

It must never know how a launch stands. Guarantee: what is gone is gone when this returns, unless it says what
is left. A call that gets no answer is made again, until the patience is over; what is refused is not.
Who may not delete pods waits until the cluster does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from functools import partial

from paddle._launch.errors import NodeError
from paddle._launch.kubernetes import names
from paddle._launch.kubernetes.kubectl import Kubectl, Refused, typed
from paddle._launch.plan import LaunchPlan

# In this order: who makes pods goes before pods do, and the claims of volumes when nobody uses them.
_MAKERS, _PODS = "statefulsets,jobs", "pods"
_REST = "services,configmaps,secrets,persistentvolumeclaims,poddisruptionbudgets"
_LOOK_S = 0.3
_AGAIN_S = 1.0
_TOLD_S = 3.0  # of waiting, before a word of it, and ten between two
_OFTEN_S = 10.0
_SHOWN = 4


def remove(kubectl: Kubectl, job: str, patience_s: float, is_hurried: Callable[[], bool]) -> Iterator[str]:
    """Take all of a job away, and wait until its pods are gone; gives what is waited for, in lines. Who is
    hurried does not wait."""
    how = ("-l", names.chosen(job), "--ignore-not-found", "--wait=false")
    began = time.monotonic()
    end, told = began + patience_s, began + _TOLD_S - _OFTEN_S

    def is_over() -> bool:
        return is_hurried() or time.monotonic() > end

    for what in (_MAKERS, _PODS, _REST):
        try:
            yield from _insisting(partial(kubectl.ask, "delete", what, *how), is_over)
        except Refused as error:
            if what != _PODS:
                raise
            yield f"{error} They go behind what made them, later."
    while left := (yield from _insisting(partial(_left, kubectl, job), is_over)).split():
        if is_over():
            raise NodeError(f"{_some(left)} of {job} are still on their way out.")
        if time.monotonic() - told > _OFTEN_S:
            told = time.monotonic()
            yield f"waiting for {_some(left)} for {told - began:.0f} s"
        time.sleep(_LOOK_S)


def _insisting(ask: Callable[[], str], is_over: Callable[[], bool]) -> Generator[str, None, str]:
    """Ask until there is an answer."""
    is_told = False
    while True:
        try:
            return ask()
        except Refused:
            raise
        except NodeError as error:
            if is_over():
                raise
            if not is_told:
                is_told = True
                yield f"{error} It is tried again."
        time.sleep(_AGAIN_S)


def check_may(kubectl: Kubectl, verb: str, *what: str) -> None:
    """Refuse a namespace where such objects cannot be made, or got."""
    try:
        kubectl.ask("auth", "can-i", verb, *what)
    except NodeError as error:
        if "failed: no" not in str(error):
            raise
        raise NodeError(
            f"this user may not {verb} {'/'.join(what).replace('--subresource=', '')} in {kubectl.space}: "
            f"nobody allows it, or there is no such namespace. `{kubectl.typed_anywhere} get namespaces` "
            "shows those there are; cluster/kubernetes/role.yaml has the rights to ask for."
        ) from error


def by_hand(launch: LaunchPlan) -> str:
    """How a user takes away what is left: by the record of the launch, or without."""
    assert launch.pods is not None
    what = f"{_MAKERS},{_PODS},{_REST} -l {names.chosen(launch.name)}"
    call = f"{typed(launch.pods)} delete --wait=false {what}"
    return f"`fab stop --job={launch.name}` takes it away. By hand: {call}"


def _left(kubectl: Kubectl, job: str) -> str:
    return kubectl.ask(
        "get", f"{_PODS},{_MAKERS},persistentvolumeclaims", "-l", names.chosen(job), "-o", "name"
    )


def _some(left: list[str]) -> str:
    more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
    return ", ".join(left[:_SHOWN]) + more
