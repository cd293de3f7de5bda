"""What a node says of itself for `fab check`, as data; see agent/survey.py.

It must never judge. Guarantee: what is not understood is refused with its first words.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from paddle._launch.errors import NodeUnfit
from paddle._launch.machines import fitness
from paddle._launch.machines.fitness import Facts, Wanted

REAL = ("paddlepaddle", "paddlepaddle-gpu")  # by whose names others install
OURS = "paddle-fabric"
Said = TypeVar("Said")


class Port(msgspec.Struct, frozen=True):
    """A port that a job would listen on. ``state``: free, taken or refused; ``text``: by whom, or why."""

    address: str
    port: int
    state: str
    text: str
    pid: int


class Disk(msgspec.Struct, frozen=True):
    """The file system under ROOT_DIR."""

    total: int
    is_noexec: bool
    is_read_only: bool


class Memory(msgspec.Struct, frozen=True):
    """Bytes."""

    total: int
    available: int


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """All that a node says. ``network``: the same for two names of one machine. ``paddle``: where ``import
    paddle`` leads in its Python without us. ``outgoing``: from which port to which the kernel gives them to
    connections. ``jobs``: processes of jobs, id -> pid -> command."""

    facts: Facts
    user: str
    host: str
    network: str
    paddle: str
    shadows: list[str]
    disk: Disk
    memory: Memory
    cores: int
    load: float
    outgoing: tuple[int, int]
    ports: list[Port]
    jobs: dict[str, dict[int, str]]
    folders: int
    runtimes: list[str]


class Clock(msgspec.Struct, frozen=True):
    """Seconds since 1970 there."""

    now: float


class Dialled(msgspec.Struct, frozen=True):
    """What came of trying to reach another. ``state``: open, silent or closed; ``word``: what was heard."""

    name: str
    port: int
    state: str
    word: str
    text: str


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What a node is asked to look at. ``hosts``: to listen on, those of its devices where there are none."""

    wanted: Wanted
    root: Path
    hosts: tuple[str, ...]
    ports: tuple[int, ...]
    word: str


def look(asked: Asked) -> dict[str, Any]:
    """The order to look."""
    return {
        "do": "look",
        **fitness.order(asked.wanted),
        "packages": [*fitness.PACKAGES, *REAL, OURS],
        "root": str(asked.root),
        "hosts": asked.hosts,
        "nics": asked.wanted.nics,
        "ports": asked.ports,
        "word": asked.word,
    }


def dial(wanted: Sequence[tuple[str, int]], patience_s: float) -> dict[str, Any]:
    """The order to try to reach others."""
    return {"do": "dial", "wanted": wanted, "patience_s": patience_s}


def read(answer: bytes, kind: type[Said]) -> Said:
    """Read an answer."""
    try:
        return msgspec.json.decode(answer, type=kind)
    except msgspec.MsgspecError as error:
        raise NodeUnfit(f"it says of itself what is not understood ({error}): {answer[:200]!r}") from error
