"""Alone: the meeting (meeting.py) of a process that meets no other. A sum is its own part, and nobody is
waited for, as in the original without gloo.

It must never know an environment variable's value. Guarantee: where others are in the job, the first call
says that they are not heard, and what would change that.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from paddle._fleet.errors import FleetError

_WORLDS = ("worker", "server", "all")
_MODES = ("sum", "max", "min")


class Alone:
    """``others``: how many more processes the job has."""

    def __init__(self, others: int = 0) -> None:
        self._is_unsaid = others > 0

    def all_reduce(self, given: Any, mode: str = "sum", comm_world: str = "worker") -> Any:
        """Its own part."""
        check_mode(mode)
        self._say("all_reduce", comm_world, "is this process's own part alone")
        return given

    def all_gather(self, given: Any, comm_world: str = "worker") -> Any:
        """Its own part, which is no list."""
        self._say("all_gather", comm_world, "is this process's own part alone")
        return given

    def all_to_all(self, parts: list[bytes], comm_world: str = "worker") -> list[bytes] | None:
        """None: there is nobody to give a part to."""
        self._say("global_shuffle", comm_world, "leaves samples with the worker that has read them")
        return None

    def barrier(self, comm_world: str = "worker") -> None:
        """At once."""
        self._say("barrier", comm_world, "waits for nobody")

    def close(self) -> None:
        """There is nothing to leave."""

    def _say(self, call: str, comm_world: str, what: str) -> None:
        check_world(comm_world)
        if self._is_unsaid:
            self._is_unsaid = False
            warnings.warn(
                f"fleet: {call} {what}: gloo is not initialized, the processes of this job do not meet. "
                "Launch it with PADDLE_WITH_GLOO=1 in the environment, or give all role makers "
                "UserDefinedRoleMaker(init_gloo=True, path=FOLDER), a folder that all of them see.",
                stacklevel=5,
            )


def check_mode(mode: str) -> None:
    """Raise FleetError for a way of adding up that there is not."""
    _check(mode, _MODES, "mode")


def check_world(comm_world: str) -> None:
    """Raise FleetError for processes that there are not."""
    _check(comm_world, _WORLDS, "comm_world")


def _check(given: str, known: Sequence[str], name: str) -> None:
    if given not in known:
        raise FleetError(f"fleet: {name} is one of {', '.join(known)}, and not {given!r}")
