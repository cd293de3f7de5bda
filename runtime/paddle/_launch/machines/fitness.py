"""Whether a node is fit for a job, judged by what it says of itself (agent/probe.py).

It must never know how a node is asked, and nothing it judges by is changed. Guarantee: a node that passes has
a Python and packages that the runtime runs on, the room and the right to make a workspace or a workspace that
is there, the network device of the job, and a pserver there is heard under the address that trainers use.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from paddle._launch.errors import NodeUnfit
from paddle._launch.machines import said
from paddle._launch.workspace import PROGRAM

Subject = Literal["packages", "disk", "network"]

# What the runtime needs on a node; what only launchers need is not among it, nor what only programs import.
PACKAGES: Mapping[str, str] = {
    "aiohttp": "3.9",
    "cryptography": "42",
    "msgspec": "0.18",
    "numba": "0.60",
    "numpy": "1.26",
    "xxhash": "3.4",
}


class Facts(msgspec.Struct, frozen=True):
    """What a node says of itself; see agent/probe.py."""

    python: said.Path
    version: tuple[said.Count, said.Count, said.Count]
    packages: dict[said.Text, said.Version | None]
    is_there: bool
    has_program: bool
    has_runtime: bool
    ground: said.Text
    is_writable: bool
    free: said.Count | None
    free_files: said.Count | None
    devices: dict[said.Text, said.Text]
    addresses: dict[said.Text, list[said.Text]]
    is_held: bool = False


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a job wants of a node. ``size``: bytes to send, None where the workspace is to be there;
    ``count``: files and folders to send; ``more``: both, of the runtime, where that is not there. ``others``:
    where its trainer, if it has one, looks for pservers; ``nics``: what a pserver there listens on, none
    where there is none. ``is_again``: the workspace is this job's, of an earlier life, whose agent may still
    have it."""

    workspace: Path
    size: int | None
    count: int = 0
    more: tuple[int, int] = (0, 0)
    address: str
    others: tuple[str, ...]
    nics: tuple[str, ...]
    runtime: Path
    is_again: bool = False
    program: str = PROGRAM


def order(wanted: Wanted) -> dict[str, Any]:
    """What the node is asked."""
    return {
        "workspace": str(wanted.workspace),
        "program": wanted.program,
        "runtime": str(wanted.runtime),
        "names": list(dict.fromkeys([wanted.address, *wanted.others])),
        "packages": list(PACKAGES),
        "is_again": wanted.is_again,
    }


def check(facts: Facts, wanted: Wanted) -> None:
    """Refuse a node that is not fit."""
    for _, text in lacks(facts, wanted):
        raise NodeUnfit(text)


def lacks(facts: Facts, wanted: Wanted) -> Iterator[tuple[Subject, str]]:
    """Say what it lacks, and of what kind that is."""
    yield from (("packages", text) for text in _packages(facts))
    yield from (("disk", text) for text in _place(facts, wanted))
    yield from (("network", text) for text in _network(facts, wanted))


def _packages(facts: Facts) -> Iterator[str]:
    lacking = [
        f"{name}>={least}" + (f" (has {has})" if has else "")
        for name, least in PACKAGES.items()
        if not (has := facts.packages.get(name)) or _release(has) < _release(least)
    ]
    if lacking:
        yield (
            f"its Python {facts.python} ({'.'.join(map(str, facts.version))}) lacks {', '.join(lacking)}. "
            "`fab install` brings them there; or name a Python that has them: NODE_PYTHON in conf.py."
        )


def _place(facts: Facts, wanted: Wanted) -> Iterator[str]:
    place = wanted.workspace
    if wanted.size is None:
        if not facts.has_program:
            what = f"{place} has no {wanted.program}" if facts.is_there else f"there is no {place}"
            yield (
                f"{what}: --job_workspace, and --resume, take a folder that every node has still. "
                "--job_dispatch_package sends one."
            )
        if facts.is_held:
            yield f"the agent that it had before still has {place}: it ends by its lease."
        return
    if facts.is_there:
        yield f"{place} exists already: another launch has just made it. Start this one again."
    if not facts.is_writable:
        yield (
            f"cannot make {place}: {facts.ground} is not a folder that its user can write to. --root_dir=DIR "
            "(ROOT_DIR in conf.py) puts JOB folders elsewhere."
        )
    size, count = wanted.size, wanted.count
    if not facts.has_runtime:
        size, count = size + wanted.more[0], count + wanted.more[1]
    if facts.free is not None and facts.free < size:
        yield (
            f"no room for {place}: it needs {size:,} bytes, {facts.ground} has {facts.free:,} left. "
            "Make room there, or put JOB folders elsewhere: --root_dir=DIR (ROOT_DIR in conf.py)."
        )
    if facts.free_files is not None and facts.free_files < count:
        look = f"`df -i {shlex.quote(facts.ground)}`"
        yield (
            f"no room for {place}: {count:,} files and folders are sent, and the disk of {facts.ground} "
            f"can take {facts.free_files:,} more, whatever room it has ({look}). Remove some there, or put "
            "JOB folders elsewhere: --root_dir=DIR (ROOT_DIR in conf.py)."
        )


def _network(facts: Facts, wanted: Wanted) -> Iterator[str]:
    having = ", ".join(f"{name} ({address})" for name, address in facts.devices.items())
    for name in [name for name in wanted.nics if name not in facts.devices]:
        yield (
            f"it has no network device {name!r} with an IPv4 address. It has {having or 'none'}. Name "
            "one that all nodes have: PADDLE_NIC in conf.py."
        )
    own_too = [wanted.address] if wanted.nics else []
    for name in dict.fromkeys([*own_too, *wanted.others]):
        if not facts.addresses.get(name):
            yield (
                f"its trainer would not find {name}: the name has no address there. Give all nodes all "
                "names (/etc/hosts, DNS), or write addresses in HOSTS."
            )
    own, bound = facts.addresses.get(wanted.address), _bound(facts, wanted)
    if own and bound and not is_heard(facts, wanted):
        yield (
            f"its pserver would not be heard: trainers look for it at {wanted.address} ({', '.join(own)}), "
            f"and {','.join(wanted.nics)} has {', '.join(bound)}. It has {having}. Name the device that has "
            "that address (PADDLE_NIC in conf.py), or write the address of that device in HOSTS."
        )


def is_heard(facts: Facts, wanted: Wanted) -> bool:
    """Whether a pserver listens at the address by which trainers know it."""
    return bool(set(facts.addresses.get(wanted.address) or ()) & set(_bound(facts, wanted)))


def _bound(facts: Facts, wanted: Wanted) -> list[str]:
    return [facts.devices[name] for name in wanted.nics if name in facts.devices]


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("+")[0])[:3])
