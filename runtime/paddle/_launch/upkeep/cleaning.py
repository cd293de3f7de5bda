"""`fab clean`: what this project has put on nodes and nobody needs, and its removal.

It must never decide what is ours: a node's own program does, by marks (agent/belongings.py), and it looks
again before it removes. Guarantee: nothing is removed that was not listed, by its path and number.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from paddle._launch.errors import LaunchError, NodeUnfit
from paddle._launch.machines.crowd import Say, Sending, crowd
from paddle._launch.machines.transport import Transport
from paddle._launch.settings import Host
from paddle._launch.upkeep.visit import LocalVisit, SshVisit, Visit, first_fit


class Belonging(msgspec.Struct, frozen=True, kw_only=True):
    """Something of ours on a node; see agent/belongings.py."""

    kind: Literal["job", "venv", "runtime", "wheels", "store", "remains"]
    path: str
    number: int
    size: int
    used_s: float
    need: Literal["", "run", "wait", "next"]
    who: str
    holds: tuple[str, ...]


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
        hear: Callable[[int, str | Sending], None],
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
        listed: list[Belonging] = []
        strange: list[str] = []
        for answer in self._ask(host, {**self._order, "remove": None}):
            match answer:
                case {"belonging": told}:
                    listed.append(_read(told))
                case {"strange": str(text)}:
                    strange.append(text)
        goes = tuple(one for one in listed if not one.need or (self._is_all and one.need == "next"))
        return Listing(goes, tuple(one for one in listed if one not in goes), tuple(strange))

    def _remove(self, host: Host, listing: Listing, say: Say) -> Removal:
        removed: list[str] = []
        left: list[tuple[str, str]] = []
        size = 0
        order = {"remove": [[one.path, one.number] for one in listing.goes], "all": self._is_all}
        for answer in self._ask(host, {**self._order, **order}):
            match answer:
                case {"removed": str(path), "size": int(bytes_)}:
                    removed.append(path)
                    size += bytes_
                case {"left": str(path), "why": str(why)}:
                    left.append((path, why))
                case {"strange": str(text)}:
                    left.append(("", text))
        return Removal(tuple(removed), size, tuple(left))

    def _ask(self, host: Host, order: Mapping[str, Any]) -> Iterator[Any]:
        visit: Visit = (
            LocalVisit() if host.is_local else SshVisit(self._transport, host, "NODE_PYTHON in conf.py")
        )
        try:
            answer = first_fit(visit, self._pythons, "agent.cleaner", order)
        finally:
            visit.close()
        for line in answer.splitlines():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):  # a login shell's greeting
                continue


def _read(told: object) -> Belonging:
    try:
        return msgspec.convert(told, Belonging)
    except msgspec.ValidationError as error:
        raise NodeUnfit(f"it says of what it has what is not understood ({error}): {told!r:.200}") from error
