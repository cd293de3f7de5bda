"""What a pod prints: the lines of its role as they are, and where a launcher listens, behind a mark, what the
role reports.

So `kubectl logs` shows people what a program prints, and the launcher has by the same stream what it hears of
agents elsewhere. It must never know a cluster.

Guarantee: what a line says does not depend on how many listen; a line of a role that looks like one of these
is told from them; nothing is printed but whole lines.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from typing import Any

from paddle._launch.backends.leash import Leash
from paddle._launch.backends.local import LocalMachine
from paddle._launch.kubernetes import names
from paddle._launch.machines.spool import Spool
from paddle._launch.plan import LaunchPlan, NodePlan
from paddle._launch.turn import Turn

MARK = f"{names.OWN}report: "
_TOLD = ("report", "trouble", "failed")  # of what agents say; that a role ended, the pod says in the end
_QUOTE = f"{names.OWN}printed: "  # before a line of a role that begins as those of the pod do


class Teller:
    """Prints. ``reports``: for a launcher, too. ``ended``: how the role's process ended last;
    ``pid``: its own, which leads its session."""

    def __init__(self, *, reports: bool) -> None:
        self._reports = reports
        self._spool = Spool()
        self.ended: int | None = None
        self.pid = 0

    def hear(self, data: bytes) -> None:
        """Take what an agent says."""
        self._spool.feed(data)
        while (line := self._spool.line()) is not None:
            with contextlib.suppress(ValueError):
                self._take(json.loads(line))

    def say(self, text: str) -> None:
        """Say something of the pod itself."""
        _print(f"{names.OWN}{text}")

    def report(self, **frame: Any) -> None:
        """Tell the launcher something."""
        if self._reports:
            _print(MARK + json.dumps(frame))

    def _take(self, frame: Any) -> None:
        match frame:
            case {"event": "lines", "lines": [*texts]}:
                for text in texts:
                    _print(_QUOTE + text if str(text).startswith(names.OWN) else str(text))
            case {"event": "started", "pid": int(pid)}:
                self.pid = pid
            case {"event": "exit", "status": int(status)}:
                self.ended = status
            case {"event": event} if event in _TOLD:
                self.report(**frame)


def text_of(line: str) -> tuple[str, bool]:
    """What a printed line is: its text, and whether that is a report; nothing of what the pod says itself."""
    if line.startswith(MARK):
        return line.removeprefix(MARK), True
    return line.removeprefix(_QUOTE), False


class PodMachine(LocalMachine):
    """The container that this runs in, of whose agent a teller hears, too."""

    def __init__(self, teller: Teller, launch: LaunchPlan, turn: Turn, plan: NodePlan) -> None:
        super().__init__(launch, turn, plan)
        self._teller = teller

    def open(self, leash: Leash, hear: Callable[[bytes], None]) -> None:
        """Start the agent."""

        def both(data: bytes) -> None:
            self._teller.hear(data)
            hear(data)

        super().open(leash, both)


def _print(text: str) -> None:
    with contextlib.suppress(OSError):  # nobody reads it any more
        sys.stdout.write(f"{text}\n")  # at once: print would write the end of the line by itself
        sys.stdout.flush()
