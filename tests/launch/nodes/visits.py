"""A visit to a node on which all is well, to be made worse."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec.structs import replace

from paddle._launch.machines import fitness
from paddle._launch.machines.refusals import Door
from paddle._launch.machines.transport import About
from paddle._launch.nodes.diagnosis import Visit
from paddle._launch.nodes.survey import Asked, Disk, Memory, Port, Seen

AS_IT_IS: Mapping[str, Any] = MappingProxyType({})
FACTS = fitness.Facts(
    python="/usr/bin/python3",
    version=(3, 11, 2),
    packages={name: f"{least}.1" for name, least in fitness.PACKAGES.items()},
    is_there=False,
    has_program=False,
    has_runtime=False,
    ground="/srv",
    is_writable=True,
    free=1 << 34,
    free_files=1 << 20,
    devices={"lo": "127.0.0.1", "eth0": "10.0.0.1", "eth1": "10.1.0.1"},
    addresses={"n1": ["10.0.0.1"], "n2": ["10.0.0.2"]},
)
WANTED = fitness.Wanted(
    workspace=Path("/srv/jobs/JOB<date>"),
    size=1000,
    address="n1",
    others=("n2",),
    nics=("eth0",),
    runtime=Path("/srv/jobs/.paddle/runtime-1"),
)
ASKED = Asked(wanted=WANTED, root=Path("/srv/jobs"), hosts=(), ports=(7164, 7165), word="w1")
SEEN = Seen(
    facts=FACTS,
    user="root",
    host="n1",
    network="boot net:[1]",
    paddle="",
    shadows=[],
    disk=Disk(1 << 38, False, False),
    memory=Memory(1 << 36, 1 << 35),
    cores=8,
    load=0.5,
    outgoing=(32768, 60999),
    ports=[Port("10.0.0.1", port, "free", "", 0) for port in (7164, 7165)],
    jobs={},
    folders=0,
    runtimes=[],
)
ABOUT = About(Door(user="root", host="10.0.0.1", port=22), "ssh-ed25519", "SHA256:x")


def visit(
    node: int = 0,
    *,
    name: str = "n1",
    facts: Mapping[str, Any] = AS_IT_IS,
    wanted: Mapping[str, Any] = AS_IT_IS,
    asked: Mapping[str, Any] = AS_IT_IS,
    seen: Mapping[str, Any] = AS_IT_IS,
    clock_s: tuple[float, float] = (-0.01, 0.01),
    live: frozenset[str] = frozenset(),
    is_local: bool = False,
) -> Visit:
    """One, changed so."""
    return Visit(
        node=node,
        name=name,
        asked=replace(ASKED, **{"wanted": replace(WANTED, **wanted), **asked}),
        seen=replace(SEEN, **{"facts": replace(FACTS, **facts), **seen}),
        live=live,
        clock_s=clock_s,
        about=None if is_local else ABOUT,
        took_s=0.05,
    )
