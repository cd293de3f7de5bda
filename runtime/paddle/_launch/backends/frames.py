"""What an agent says, understood: bytes from its standard output become events and news.

It must never know what carried the bytes. Guarantee: bytes may be cut anywhere; what is no frame, or none of
the known ones, or speaks of roles of another node, is told to the user and does no harm, however long it is.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from paddle._launch.agent.processes import Process
from paddle._launch.events import (
    Answered,
    Barred,
    Event,
    Heard,
    JobBroke,
    NodeFailed,
    RoleExited,
    RoleJoined,
    RoleMeets,
    RoleReady,
    ShardRestarted,
)
from paddle._launch.machines.spool import Spool
from paddle._launch.news import Grown, News, Printed, Progress, Told, Waiting
from paddle._launch.phases import Phase
from paddle._launch.plan import role_name

LONGEST = 1 << 21  # bytes of a frame: 64 KiB of lines, each of their bytes written as six, are far less


class FrameReader:
    """Reads one agent's output. ``roles``: of its node, by name. ``last_words``: why it ended, ``agent``: its
    outer half, once it said so."""

    def __init__(self, node: int, roles: Collection[str]) -> None:
        self._node = node
        self._roles = frozenset(roles)
        self._spool = Spool()
        self.last_words = ""
        self.agent: Process | None = None

    def feed(self, data: bytes) -> Iterator[Event | News]:
        """Take the next bytes; gives what is whole now."""
        self._spool.feed(data)
        while (line := self._spool.line()) is not None:
            yield from self._hear(line)
        if len(self._spool) > LONGEST:
            yield from self._hear(self._spool.take(len(self._spool)))

    def _hear(self, line: bytes) -> Iterator[Event | News]:
        yield Heard(self._node)
        yield from self._understand(line)

    def _understand(self, line: bytes) -> Iterator[Event | News]:
        match frame := _parsed(line):
            case {"role": role} if not (isinstance(role, str) and role in self._roles):
                yield self._strange(line)
            case {"event": "beat" | "started"}:
                pass
            case {"event": "begun", "pid": int(pid), "start": int(start)}:
                self.agent = Process(pid, start)
            case {"event": "up"}:
                yield Answered(self._node, Phase.OPEN)
            case {"event": "report", "role": str(role), "report": report}:
                yield _reported(role, report)
            case {"event": "lines", "role": str(role), "lines": [*texts]}:
                yield Printed(role, (*_lost(frame), *(str(text) for text in texts)))
            case {"event": "grown", "file": str(file), "text": str(text)}:
                yield Grown(self._node, file, text)
            case {"event": "exit", "role": str(role), "status": int(status)}:
                yield RoleExited(role, status)
            case {"event": "trouble", "text": str(text)}:
                yield Told(f"node {self._node}", text)
            case {"event": "failed", "text": str(text)}:
                yield NodeFailed(self._node, text)
            case {"event": "ended", "why": str(why)}:
                self.last_words = why
            case _:
                yield self._strange(line)

    def _strange(self, line: bytes) -> Told:
        text = line[:200].decode("utf-8", "replace")
        return Told(f"node {self._node}", f"its agent sent a malformed message: {text}")


def _reported(role: str, report: object) -> Event | News:
    try:
        return _known(role, report)
    except OverflowError:  # a whole number may be larger than any float
        return Told(role, "reported a number that cannot be")


def _known(role: str, report: object) -> Event | News:
    match report:
        case {"report": "ready"}:
            return RoleReady(role)
        case {"report": "joined"}:
            return RoleJoined(role)
        case {"report": "meets", "finds_nobody": bool(finds_nobody)}:
            return RoleMeets(role, finds_nobody)
        case {"report": "waiting", "trainers": [*ids], "seconds": float(seconds) | int(seconds)}:
            return Waiting(_trainers(ids), float(seconds))
        case {
            "report": "barred",
            "shard": str(shard),
            "ever": [*ever],
            "until_pass_ends": [*until],
            "left": [*left],
        }:
            return Barred(role, shard, _trainers(ever), _trainers(until), _trainers(left))
        case {
            "report": "broken",
            "reason": str(reason),
            "trainers": [*ids],
            "is_own": bool(is_own),
            "other": str(other),
        }:
            others = (other,) if other else ()
            return JobBroke(role, (role,) if is_own else _trainers(ids) or others, reason)
        case {
            "report": "progress",
            "pass_id": int(pass_id),
            "batch_id": int(batch_id),
            "cost": float(cost) | int(cost),
            "samples_per_s": float(rate) | int(rate),
        }:
            return Progress(role, pass_id, batch_id, float(cost), float(rate))
        case {"report": "restarted", "shard": str(shard), "text": str(text)}:
            return ShardRestarted(role, shard, text)
        case {"report": "message", "text": str(text)}:
            return Told(role, text)
    return Told(role, f"reported what is not understood: {report!r:.200}")


def _lost(frame: dict[str, object]) -> tuple[str, ...]:
    """What stands in place of lines that nobody took in time."""
    lost = frame.get("lost", 0)
    return (
        (f"... {lost} lines are left out here: they came too fast",) if isinstance(lost, int) and lost else ()
    )


def _trainers(ids: list[object]) -> tuple[str, ...]:
    return tuple(role_name("trainer", id) for id in ids if isinstance(id, int))


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)  # which takes NaN for a number: a cost may be NaN, and then it should be seen
    except (ValueError, RecursionError):
        return None
