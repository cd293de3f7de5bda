"""What a job has made in a cluster, taken away: by its labels, and nothing else.

It must never know how a launch stands. Guarantee: what is gone is gone when this returns, unless it says what
is left.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from paddle._launch.errors import NodeError
from paddle._launch.kubernetes import names
from paddle._launch.kubernetes.kubectl import Kubectl
from paddle._launch.plan import LaunchPlan

# In this order: who makes pods goes before pods do, and the claims of volumes when nobody uses them.
_MAKERS = "statefulsets,jobs"
_REST = "services,configmaps,secrets,persistentvolumeclaims,poddisruptionbudgets"
_LOOK_S = 0.3


def remove(kubectl: Kubectl, job: str, patience_s: float, is_hurried: Callable[[], bool]) -> None:
    """Take all of a job away, and wait until its pods are gone; who is hurried does not wait."""
    how = ("-l", names.chosen(job), "--ignore-not-found", "--wait=false")
    kubectl.ask("delete", _MAKERS, *how)
    kubectl.ask("delete", "pods", *how)
    kubectl.ask("delete", _REST, *how)
    end = time.monotonic() + patience_s
    while left := _left(kubectl, job):
        if is_hurried() or time.monotonic() > end:
            raise NodeError(f"{', '.join(left)} of {job} are still on their way out.")
        time.sleep(_LOOK_S)


def check_may(kubectl: Kubectl, verb: str, *what: str) -> None:
    """Refuse a namespace where such objects cannot be made, or got."""
    try:
        kubectl.ask("auth", "can-i", verb, *what)
    except NodeError as error:
        if "failed: no" not in str(error):
            raise
        raise NodeError(
            f"this user may not {verb} {'/'.join(what).replace('--subresource=', '')} in {kubectl.space}: "
            "nobody allows it, or there is no such namespace. `kubectl get namespaces` shows those there "
            "are; cluster/kubernetes/role.yaml has the rights to ask for."
        ) from error


def by_hand(launch: LaunchPlan) -> str:
    """How a user takes away what is left."""
    assert launch.pods is not None
    space = f" -n {launch.pods.namespace}" if launch.pods.namespace else ""
    what = f"{_MAKERS},pods,{_REST} -l {names.chosen(launch.name)}"
    return f"By hand: kubectl{space} delete --wait=false {what}"


def _left(kubectl: Kubectl, job: str) -> list[str]:
    said = kubectl.ask("get", f"pods,{_MAKERS},persistentvolumeclaims", "-l", names.chosen(job), "-o", "name")
    return said.split()
