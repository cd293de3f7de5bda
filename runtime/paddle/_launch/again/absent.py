"""Absent: nodes that a later life of a job looks for, and what became of each attempt.

Pure; the time is an argument. It must never know how a node is asked. Guarantee: a node is asked again once
for every answer that says that it is not there, and not at once.
"""

from __future__ import annotations

from collections.abc import Mapping


class Absent:
    """See the module's text."""

    def __init__(self, pause_s: float = 1.0) -> None:
        self._pause_s = pause_s
        self._due: dict[int, float] = {}
        self._said: dict[int, str] = {}
        self._lost: dict[int, str] = {}

    def add(self, node: int, said: str, now: float) -> bool:
        """A node is not there, as is ``said``; gives whether that is new."""
        is_new = self._said.get(node) != said
        self._due[node], self._said[node] = now + self._pause_s, said
        return is_new

    def due(self, now: float) -> list[int]:
        """Give the nodes to be asked now; they are not due any more."""
        found = [node for node, at in self._due.items() if now >= at]
        for node in found:
            del self._due[node]
        return found

    def said(self, node: int) -> tuple[str, str]:
        """Why the life before ended, if that was with it, and what was said of it last; else empty."""
        return self._lost.get(node, ""), self._said.get(node, "")

    def clear(self, lost: Mapping[int, str] | None = None) -> None:
        """A life is over. ``lost``: nodes with which it ended, and how."""
        self._due.clear()
        self._said.clear()
        self._lost = dict(lost or {})
