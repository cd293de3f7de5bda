"""Pods that do not run yet: for what they wait, and when that is for good.

Pure. It must never know how pods are looked at. Guarantee: what several pods wait for is told once, with all
of them; that others come to it later is told in a few words; pulls of an image that fail are tried again, as
long as less than ``MOST_PULLS`` of one pod have, unless its registry has no such image.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from paddle._launch.kubernetes import advice
from paddle._launch.kubernetes.watching import PodState, key

MOST_PULLS = 3
_FAILED, _BACK_OFF = "ErrImagePull", "ImagePullBackOff"  # which alternate, and the first says why
_MOST_NAMED = 5
_SHORT = 60  # letters of what was told already


@dataclass(slots=True)
class _Pulls:
    """Of one pod. ``said``: what was said of the last that failed."""

    failed: int = 0
    said: str = ""
    is_failing: bool = False


@dataclass(slots=True)
class _Cause:
    """``seen``: roles that had it at the last look; ``told``: those that it was told of."""

    seen: frozenset[str] = frozenset()
    told: set[str] = field(default_factory=set)


class Waits:
    """Of the pods of a launch. ``image``: theirs."""

    def __init__(self, image: str) -> None:
        self._image = image
        self._pulls: dict[str, _Pulls] = {}
        self._causes: dict[str, _Cause] = {}

    def look(self, waiting: Mapping[str, PodState | None], until: str) -> Iterator[str]:
        """Take how they stand that wait, None for one that has no pod; gives what is to be told. ``until``:
        in words, how long it may take. A cause is told when two looks have found it with the same pods, since
        they come to it one after another."""
        groups: dict[str, list[str]] = {}
        for role, state in waiting.items():
            if found := self._cause(role, state):
                groups.setdefault(found, []).append(role)
        for found, roles in groups.items():
            cause = self._causes.setdefault(found, _Cause())
            new, before, cause.seen = frozenset(roles) - cause.told, cause.seen, frozenset(roles)
            if not new or (cause.seen != before and len(roles) < len(waiting)):
                continue
            text = max((self.why(role, waiting[role]) for role in roles), key=len)
            yield _said(sorted(new), text, until, is_known=bool(cause.told))
            cause.told |= new

    def is_final(self, role: str, state: PodState | None) -> bool:
        """Whether what it waits for does not pass by itself."""
        if state is None:
            return False
        return state.is_hopeless or (_is_pull(state) and self._pulls_of(role).failed >= MOST_PULLS)

    def why(self, role: str, state: PodState | None) -> str:
        """What it waits for, with what to do; empty where the cluster does not say."""
        if state is None or not _is_pull(state):
            return advice.with_it(state.trouble, role) if state is not None else ""
        said = self._pulls_of(role).said or state.trouble
        return advice.with_it(f"the image {self._image} could not be pulled: {said}", role)

    def with_same(self, role: str, waiting: Mapping[str, PodState | None]) -> list[str]:
        """All that wait for what ``role`` waits for."""
        found = self._cause(role, waiting[role])
        return [other for other, state in waiting.items() if self._cause(other, state) == found]

    def count(self, states: Mapping[str, PodState | None]) -> None:
        """Take a look's states, for how often pulls have failed."""
        for role, state in states.items():
            pulls = self._pulls_of(role)
            is_failing = state is not None and state.trouble.startswith(_FAILED)
            if state is not None and is_failing:
                pulls.failed += not pulls.is_failing
                pulls.said = state.trouble
            pulls.is_failing = is_failing

    def _pulls_of(self, role: str) -> _Pulls:
        return self._pulls.setdefault(role, _Pulls())

    def _cause(self, role: str, state: PodState | None) -> str:
        """What those that wait for one thing share."""
        if state is not None and _is_pull(state):
            return _FAILED
        return key(self.why(role, state))


def _said(roles: Collection[str], text: str, until: str, *, is_known: bool) -> str:
    if is_known:
        return f"{listed(roles)}, too: {textwrap.shorten(text, _SHORT, placeholder=' ...')}"
    return f"{listed(roles)}: {text}{until}"


def listed(roles: Collection[str]) -> str:
    """Those that wait, by their count and names."""
    if len(roles) == 1:
        return f"{next(iter(roles))} waits"
    named = ", ".join([*list(roles)[:_MOST_NAMED], *(["..."] if len(roles) > _MOST_NAMED else [])])
    return f"{len(roles)} pods wait ({named})"


def _is_pull(state: PodState) -> bool:
    return state.trouble.startswith((_FAILED, _BACK_OFF))
