"""`fab clean`: what this project has put on nodes and nobody needs, and its removal.

It must never decide what is ours: a node's own program does, by marks (agent/belongings.py), and it looks
again before it removes. Guarantee: nothing is removed that was not listed, by its path and number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from paddle._launch.errors import LaunchError
from paddle._launch.machines.conversation import converse, first_fit
from paddle._launch.machines.crowd import Bytes, Say, crowd
from paddle._launch.machines.here import Here
from paddle._launch.machines.reader import WORK_S
from paddle._launch.machines.said import Count, Real, Text
from paddle._launch.machines.transport import Line, Transport
from paddle._launch.settings import Host

_MOST = 1 << 22  # bytes that a node says: it may have thousands of old jobs


class Belonging(msgspec.Struct, frozen=True, kw_only=True):
    """Something of ours on a node; see agent/belongings.py."""

    kind: Literal["job", "venv", "runtime", "wheels", "store", "remains"]
    path: Text
    number: int
    size: Count
    used_s: Real
    need: Literal["", "run", "wait", "next"]
    who: Text
    holds: tuple[Text, ...]


class _Answer(msgspec.Struct, frozen=True):
    """What a cleaner says; see agent/cleaner.py."""

    belonging: Belonging | None = None
    strange: Text | None = None
    removed: Text | None = None
    size: Count = 0
    left: Text | None = None
    why: Text = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """What is on a node. ``goes``: to be removed; ``stays``: is needed; ``strange``: left alone, and why."""

    goes: tuple[Belonging, ...]
    stays: tuple[Belonging, ...]
    strange: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes that are to be removed."""
        return sum(one.size for one in self.goes)


@dataclass(frozen=True, slots=True)
class Removal:
    """What was removed from a node, in bytes, and what stays there against the plan: path and why."""

    removed: tuple[str, ...]
    size: int
    left: tuple[tuple[str, str], ...]


class Cleaning:
    """One. ``root``: ROOT_DIR of the nodes; ``runtimes``: those that the next launch uses; ``is_all``: also
    what the next launch uses, but not what runs."""

    def __init__(
        self,
        root: Path,
        hosts: Sequence[Host],
        host_keys: str,
        *,
        runtimes: Sequence[str],
        pythons: Sequence[str],
        is_all: bool,
        hear: Callable[[int, str | Bytes], None],
    ) -> None:
        self._order: dict[str, Any] = {"root": str(root), "runtimes": list(runtimes)}
        # Local nodes have one ROOT_DIR, so there is one place to look at.
        self._hosts = dict(enumerate(hosts[:1] if hosts[0].is_local else hosts))
        self._transport = Transport(host_keys)
        self._pythons = pythons
        self._is_all = is_all
        self._hear = hear

    def look(self) -> dict[int, Listing | LaunchError]:
        """Find out what there is on all nodes."""
        return crowd({node: partial(self._look, host) for node, host in self._hosts.items()}, self._hear)

    def remove(self, listings: Mapping[int, Listing]) -> dict[int, Removal | LaunchError]:
        """Remove it."""
        tasks = {node: partial(self._remove, self._hosts[node], one) for node, one in listings.items()}
        return crowd(tasks, self._hear)

    def _look(self, host: Host, say: Say) -> Listing:
        said = self._ask(host, {**self._order, "remove": None})
        listed = [answer.belonging for answer in said if answer.belonging]
        goes = tuple(one for one in listed if not one.need or (self._is_all and one.need == "next"))
        strange = tuple(answer.strange for answer in said if answer.strange)
        return Listing(goes, tuple(one for one in listed if one not in goes), strange)

    def _remove(self, host: Host, listing: Listing, say: Say) -> Removal:
        order = {"remove": [[one.path, one.number] for one in listing.goes], "all": self._is_all}
        said = self._ask(host, {**self._order, **order})
        removed = [answer for answer in said if answer.removed is not None]
        left = [(answer.left, answer.why) for answer in said if answer.left is not None]
        left += [("", answer.strange) for answer in said if answer.strange]
        return Removal(
            tuple(answer.removed or "" for answer in removed),
            sum(answer.size for answer in removed),
            tuple(left),
        )

    def _ask(self, host: Host, order: Mapping[str, Any]) -> list[_Answer]:
        reached = Here() if host.is_local else self._transport.line(host).open()
        with closing(reached):
            pythons = (sys.executable,) if host.is_local else self._pythons
            return first_fit(pythons, partial(_answers, reached, order))


def _answers(reached: Here | Line, order: Mapping[str, Any], python: str) -> list[_Answer]:
    with converse(reached, (python,), "agent.cleaner", most=_MOST) as talk:
        talk.tell(order)
        return list(talk.answers(_Answer, WORK_S))
