"""Absent: nodes that a later life of a job looks for, and what became of each attempt.

Pure; the time is an argument. It must never know how a node is asked. Guarantee: a node is asked again once
for every answer that says that it is not there, and not at once.
"""

from __future__ import annotations


class Absent:
    """See the module's text."""

    def __init__(self, pause_s: float = 1.0) -> None:
        self._pause_s = pause_s
        self._due: dict[int, float] = {}
        self._said: dict[int, str] = {}

    def add(self, node: int, said: str, now: float) -> None:
        """A node is not there, as is ``said``."""
        self._due[node], self._said[node] = now + self._pause_s, said

    def due(self, now: float) -> list[int]:
        """Give the nodes to be asked now; they are not due any more."""
        found = [node for node, at in self._due.items() if now >= at]
        for node in found:
            del self._due[node]
        return found

    def said(self, node: int) -> str:
        """What was said of it last; empty where nothing was."""
        return self._said.get(node, "")

    def clear(self) -> None:
        """Another life begins."""
        self._due.clear()
        self._said.clear()
