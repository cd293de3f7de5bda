"""How the pods of a job stand, read from what the API server says of them.

Pure. It must never know how it is asked. Guarantee: of several pods in one place the newest counts, and what
keeps a pod from running is told in the cluster's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from paddle._launch.kubernetes import names
from paddle._launch.plan import role_name

_HOPELESS = frozenset(
    {"InvalidImageName", "ErrImageNeverPull", "ImagePullBackOff", "CreateContainerConfigError"}
)
_ORDINARY = frozenset({"ContainerCreating", "PodInitializing", ""})
_SHOWN = 300  # letters of a message


@dataclass(frozen=True, slots=True)
class PodState:
    """One pod. ``trouble``: why it does not run; ``is_hopeless``: that does not pass by itself.
    ``has_begun``: its container has run; ``status``: how it has ended, None while it has not."""

    role: str
    name: str
    uid: str
    phase: str
    created: str
    trouble: str = ""
    is_hopeless: bool = False
    has_begun: bool = False
    is_running: bool = False
    status: int | None = None


def states(listed: Mapping[str, Any]) -> dict[str, PodState]:
    """Read a list of pods; gives the newest of each role."""
    found: dict[str, PodState] = {}
    for state in sorted(_states(listed), key=lambda state: state.created):
        found[state.role] = state
    return found


def _states(listed: Mapping[str, Any]) -> Iterator[PodState]:
    for pod in listed.get("items", ()):
        meta, spec, status = pod["metadata"], pod["spec"], pod.get("status", {})
        kind = meta.get("labels", {}).get(names.COMPONENT, "")
        number = re.search(r"-(\d+)$", spec.get("hostname") or meta["name"])
        if not kind or number is None:
            continue
        containers = [*status.get("containerStatuses", ()), {}]
        held: Mapping[str, Any] = containers[0].get("state", {})
        trouble, is_hopeless = _trouble(status, held.get("waiting", {}))
        ended = held.get("terminated")
        yield PodState(
            role=role_name(kind, int(number[1])),
            name=meta["name"],
            uid=meta["uid"],
            phase=status.get("phase", "Pending"),
            created=meta.get("creationTimestamp", ""),
            trouble=trouble,
            is_hopeless=is_hopeless,
            has_begun="running" in held or ended is not None,
            is_running="running" in held and "deletionTimestamp" not in meta,
            status=_status(ended, status),
        )


def _status(ended: Mapping[str, Any] | None, status: Mapping[str, Any]) -> int | None:
    if ended is not None:
        return int(ended.get("exitCode", 1))
    return 1 if status.get("phase") == "Failed" else None  # evicted, say: no container tells


def _trouble(status: Mapping[str, Any], waiting: Mapping[str, Any]) -> tuple[str, bool]:
    """What keeps a pod from running, and whether for good."""
    reason = waiting.get("reason", "")
    if reason not in _ORDINARY:
        return _said(reason, waiting.get("message", "")), reason in _HOPELESS
    if status.get("phase") == "Failed":
        return _said(status.get("reason", "Failed"), status.get("message", "")), False
    for condition in status.get("conditions", ()):
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return _said(condition.get("reason", ""), condition.get("message", "")), False
    return "", False


def warnings(listed: Mapping[str, Any], job: str) -> Iterator[tuple[str, str]]:
    """What events say of a job's objects that could not make their pods: which, and why."""
    for event in listed.get("items", ()):
        about = event.get("involvedObject", {}).get("name", "")
        if event.get("reason") == "FailedCreate" and (about == job or about.startswith(f"{job}-")):
            yield about, _said("FailedCreate", event.get("message", ""))


def _said(reason: str, message: str) -> str:
    return f"{reason}: {message}"[:_SHOWN] if message else reason
