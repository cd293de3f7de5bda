"""How the pods of a job stand, read from what the API server says of them.

Pure. It must never know how it is asked. Guarantee: of several pods in one place the newest counts, and what
keeps a pod from running is told in the cluster's own words; that a container has ended is seen as long as its
pod is there, however shortly it stood still.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from paddle._launch.kubernetes import names
from paddle._launch.plan import role_name

_HOPELESS = frozenset({"InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError"})
_PULLS = frozenset({"ErrImagePull", "ImagePullBackOff"})
_NO_IMAGE = ("manifest unknown", "name unknown", "does not exist", ": not found")  # as registries say it
_UNSTARTED = frozenset({"RunContainerError", "StartError", "ContainerCannotRun", "CreateContainerError"})
_NO_PROGRAM = ("executable file not found", "no such file or directory")
_BACK_OFF = "CrashLoopBackOff"
_ORDINARY = frozenset({"ContainerCreating", "PodInitializing", ""})
_PLAIN_ENDS = frozenset({"Error", "Completed", "ContainerStatusUnknown"})  # what the status says already
_MOST_SHOWN = 400  # letters of a message
_ID = re.compile(r"\b[0-9a-f]{12,}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_DURATION = re.compile(r"\b(?:\d+(?:\.\d+)?(?:h|m|s|ms))+\b")


@dataclass(frozen=True, slots=True)
class End:
    """How a container has ended. ``why``: what the cluster says of that beside its status."""

    status: int = 1
    why: str = ""


@dataclass(frozen=True, slots=True)
class PodState:
    """One pod. ``trouble``: why it does not run; ``is_hopeless``: that does not pass by itself.
    ``has_begun``: a container has run in it; ``ends``: how many have ended, and ``last``: how the last of
    these did; ``has_ended``: none is to run any more, or none does just now, after one that did.
    ``is_again``: the container that is there, or is to be, is another than that. ``is_leaving``: it is being
    taken away."""

    role: str
    name: str
    uid: str
    phase: str
    created: str
    trouble: str = ""
    is_hopeless: bool = False
    has_begun: bool = False
    is_running: bool = False
    is_leaving: bool = False
    has_ended: bool = False
    is_again: bool = False
    ends: int = 0
    last: End = End()


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
        container: Mapping[str, Any] = next(iter(status.get("containerStatuses", ())), {})
        held: Mapping[str, Any] = container.get("state", {})
        trouble, is_hopeless = _trouble(status, container)
        ends, last = _ends(status, container)
        yield PodState(
            role=role_name(kind, int(number[1])),
            name=meta["name"],
            uid=meta["uid"],
            phase=status.get("phase", "Pending"),
            created=meta.get("creationTimestamp", ""),
            trouble=trouble,
            is_hopeless=is_hopeless,
            has_begun="running" in held or ends > 0,
            is_running="running" in held and "deletionTimestamp" not in meta,
            is_leaving="deletionTimestamp" in meta,
            has_ended="running" not in held and ends > 0,
            is_again=ends > 0 and "terminated" not in held and status.get("phase") != "Failed",
            ends=ends,
            last=last,
        )


def _latest(container: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is said of the container that ended last: the present one, or the one before."""
    held, before = container.get("state", {}), container.get("lastState", {})
    found: Mapping[str, Any] = held.get("terminated") or before.get("terminated") or {}
    return found


def _ends(status: Mapping[str, Any], container: Mapping[str, Any]) -> tuple[int, End]:
    """How many containers have ended, and how the last did; one that could not be started has not run."""
    held, latest = container.get("state", {}), _latest(container)
    has_failed = status.get("phase") == "Failed"
    reason = latest.get("reason", "")
    if reason in _UNSTARTED and not has_failed:
        return 0, End()
    # The count is that of the present container; it rises when another one begins.
    is_between = "terminated" in held or ("waiting" in held and bool(latest))
    ends = int(container.get("restartCount", 0)) + is_between
    if latest:
        why = _said(reason, latest.get("message", "")) if reason in _UNSTARTED else reason
        return max(ends, 1), End(int(latest.get("exitCode", 1)), "" if reason in _PLAIN_ENDS else why)
    if has_failed:  # evicted, say: no container tells
        return max(ends, 1), End(1, _said(status.get("reason", ""), status.get("message", "")))
    return ends, End(1, "the cluster does not say how" if ends else "")


def _trouble(status: Mapping[str, Any], container: Mapping[str, Any]) -> tuple[str, bool]:
    """What keeps a pod from running, and whether for good."""
    found, latest = container.get("state", {}).get("waiting", {}), _latest(container)
    if latest.get("reason", "") in _UNSTARTED and found.get("reason", "") in (*_ORDINARY, _BACK_OFF):
        found = latest  # which is tried again and again
    reason, message = found.get("reason", ""), found.get("message", "")
    if reason not in _ORDINARY:
        signs = _NO_PROGRAM if reason in _UNSTARTED else _NO_IMAGE if reason in _PULLS else ()
        is_hopeless = any(sign in message.lower() for sign in signs)
        return _said(reason, message), is_hopeless or reason in _HOPELESS
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


def failed_jobs(listed: Mapping[str, Any]) -> dict[str, str]:
    """Of Jobs: why each has failed, empty where it has not."""
    found: dict[str, str] = {}
    for job in listed.get("items", ()):
        failures = [
            condition
            for condition in job.get("status", {}).get("conditions", ())
            if condition.get("type") == "Failed" and condition.get("status") == "True"
        ]
        said = [_said(failure.get("reason", ""), failure.get("message", "")) for failure in failures]
        found[job["metadata"]["name"]] = f"its Job has failed ({said[0]})" if said else ""
    return found


def key(text: str) -> str:
    """What two texts share that only tell for how long something is put off."""
    return _DURATION.sub("", text)


def _said(reason: str, message: str) -> str:
    """In one line, without the numbers of containers and pods, which are others each time."""
    text = f"{reason}: {_ID.sub('...', message)}" if message else reason
    return textwrap.shorten(text, _MOST_SHOWN, placeholder=" ...")
