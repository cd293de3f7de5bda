"""What a pod hears from outside, where one can do what exec does: make a file, or add to one.

It must never know a cluster. Guarantee: what is told this role is passed on once, and once more where the
container was begun again, for that has heard nothing; a line that is none, or another's where pods share a
workspace, is passed over.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from paddle._launch.actions import TellFallen
from paddle._launch.kubernetes import names

_LOOK_S = 0.25


def line_of(fallen: TellFallen) -> str:
    """What is added to ``names.NEWS`` to tell of a role that has ended for good."""
    return f"{msgspec.json.encode(fallen).decode()}\n"


class Hearing:
    """In ``workspace``. ``pass_on``: to ``role``, once it ``is_there``."""

    def __init__(
        self,
        workspace: Path,
        role: str,
        is_there: Callable[[], bool],
        pass_on: Callable[[TellFallen], None],
    ) -> None:
        self._news, self._stop = workspace / names.NEWS, workspace / names.STOP
        self._role, self._is_there, self._pass_on = role, is_there, pass_on
        self._heard = 0  # bytes

    def await_stop(self, is_over: threading.Event, stop: Callable[[], None]) -> None:
        """Listen until the role is to end, or ``is_over``."""
        while not is_over.wait(_LOOK_S):
            self.look()
            if self._stop.exists():
                stop()
                return

    def look(self) -> None:
        """Pass on what is new."""
        if not (self._is_there() and self._news.exists()):
            return
        whole, end, _ = self._news.read_bytes()[self._heard :].rpartition(b"\n")
        self._heard += len(whole + end)
        for line in whole.splitlines():
            with suppress(msgspec.MsgspecError):
                fallen = msgspec.json.decode(line, type=TellFallen)
                if fallen.hearer == self._role:
                    self._pass_on(fallen)
