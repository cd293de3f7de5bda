"""What roles print and log, written beside the collected logs while the job runs: ``log/node-i/train.log``.

It must never know how it is heard. Guarantee: it is as whole as what the launcher hears, which may lack lines
where it is late; what is collected takes its place. Nothing is written but files of these folders. A disk
that is full is told once, and ends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from paddle._launch.plan import LaunchPlan

_FILE = re.compile(r"\w[\w.-]{0,100}\.INFO")  # a node says which; it must not lead elsewhere


class Arriving:
    """See the module's text."""

    def __init__(self, plan: LaunchPlan, tell: Callable[[str], None]) -> None:
        self._log = plan.home / "log"
        self._nodes = frozenset(node.node for node in plan.nodes)
        self._places = {
            role.name: self._folder(node.node) / Path(role.log).name
            for node in plan.nodes
            for role in node.roles
        }
        self._tell = tell
        self._is_failing = False

    def add(self, role: str, lines: Iterable[str]) -> None:
        """Write ``lines`` of a role behind those before."""
        if place := self._places.get(role):
            text = "".join(f"{line}\n" for line in lines)
            self._append(place, text.encode("utf-8", "backslashreplace"))

    def grow(self, node: int, file: str, text: str) -> None:
        """Write what was added to a file of a node, as its agent gives it."""
        if node in self._nodes and _FILE.fullmatch(file):
            self._append(self._folder(node) / file, text.encode("utf-8", "surrogateescape"))

    def _folder(self, node: int) -> Path:
        return self._log / f"node-{node}"

    def _append(self, place: Path, data: bytes) -> None:
        try:
            place.parent.mkdir(exist_ok=True)
            with place.open("ab") as file:
                file.write(data)
        except OSError as error:
            if not self._is_failing:
                self._is_failing = True
                self._tell(f"cannot write {place}: {error.strerror}; logs are collected at the end only")
