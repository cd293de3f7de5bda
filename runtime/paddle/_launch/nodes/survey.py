"""What a node says of itself for `fab check`, as data; see agent/survey.py.

It must never judge, nor know how it is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from paddle._launch.machines import fitness
from paddle._launch.machines.fitness import Facts, Wanted
from paddle._launch.machines.said import Count, Number, Real, Text

REAL = ("paddlepaddle", "paddlepaddle-gpu")  # by whose names others install
OURS = "paddle-fabric"


class Port(msgspec.Struct, frozen=True):
    """A port that a job would listen on. ``state``: free, taken or refused; ``text``: by whom, or why."""

    address: Text
    port: Count
    state: Text
    text: Text
    pid: Count


class Disk(msgspec.Struct, frozen=True):
    """The file system under ROOT_DIR."""

    total: Count
    is_noexec: bool
    is_read_only: bool


class Memory(msgspec.Struct, frozen=True):
    """Bytes."""

    total: Count
    available: Number


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """All that a node says. ``network``: the same for two names of one machine. ``paddle``: where ``import
    paddle`` leads in its Python without us. ``outgoing``: from which port to which the kernel gives them to
    connections. ``jobs``: processes of jobs, id -> pid -> command."""

    facts: Facts
    user: Text
    host: Text
    network: Text
    paddle: Text
    shadows: list[Text]
    disk: Disk
    memory: Memory
    cores: Count
    load: Real
    outgoing: tuple[Count, Count]
    ports: list[Port]
    jobs: dict[Text, dict[Count, Text]]
    folders: Count
    runtimes: list[Text]


class Clock(msgspec.Struct, frozen=True):
    """Real since 1970 there."""

    now: Real


class Dialled(msgspec.Struct, frozen=True):
    """What came of trying to reach another. ``state``: open, silent or closed; ``word``: what was heard."""

    name: Text
    port: Count
    state: Text
    word: Text
    text: Text


class Dials(msgspec.Struct, frozen=True):
    """What came of all of them."""

    dialled: list[Dialled]


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
