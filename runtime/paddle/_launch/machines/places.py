"""Places: which nodes have a parameter server and which a trainer, and in which order.

PSERVER_HOSTS and TRAINER_HOSTS name nodes of HOSTS, as HOSTS writes them, by the host alone, or by their
number; what is not given is all of HOSTS. The place in such a list is the rank. It must never know a process.

Guarantee: every node has something to do, and of each kind at most one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from paddle._launch.errors import SettingsError

_ALONE = {
    "pserver": "a node has one parameter server, of several processes where PADDLE_PORTS_NUM says so",
    "trainer": "a node has one trainer, of several threads where --trainer_count says so",
}


@dataclass(frozen=True, slots=True)
class Places:
    """The nodes of all parameter servers and of all trainers, by rank."""

    pservers: tuple[int, ...]
    trainers: tuple[int, ...]


def places(
    hosts: Sequence[str],
    pservers: Sequence[str] | None,
    trainers: Sequence[str] | None,
    written: tuple[str, str] = ("PSERVER_HOSTS", "TRAINER_HOSTS"),
) -> Places:
    """Find the nodes that are named among ``hosts``, as HOSTS writes them; None stands for all. ``written``:
    how the user wrote the two lists."""
    found = Places(
        _nodes(hosts, pservers, "pserver", written[0]), _nodes(hosts, trainers, "trainer", written[1])
    )
    idle = sorted(set(range(len(hosts))) - {*found.pservers, *found.trainers})
    if idle:
        raise SettingsError(
            f"node {idle[0]} ({hosts[idle[0]]}) of HOSTS has neither a parameter server nor a trainer. Name "
            f"it in {written[0]} or {written[1]}, or take it out of HOSTS."
        )
    return found


def _nodes(hosts: Sequence[str], names: Sequence[str] | None, kind: str, written: str) -> tuple[int, ...]:
    if names is None:
        return tuple(range(len(hosts)))
    if not names:
        raise SettingsError(f"{written} names no node. Give at least one, or leave it out for all of HOSTS.")
    nodes = tuple(_node(hosts, name, written) for name in names)
    twice = next((node for place, node in enumerate(nodes) if node in nodes[:place]), None)
    if twice is not None:
        raise SettingsError(f"{written} names node {twice} ({hosts[twice]}) twice: {_ALONE[kind]}.")
    return nodes


def _node(hosts: Sequence[str], name: str, written: str) -> int:
    if name.isdecimal() and int(name) < len(hosts):
        return int(name)
    meant = [node for node, host in enumerate(hosts) if name == host]
    meant = meant or [node for node, host in enumerate(hosts) if name == _machine(host)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        numbers = ", ".join(map(str, meant))
        raise SettingsError(
            f"{written}: {name!r} is each of nodes {numbers} of HOSTS. Give the number of one."
        )
    listed = ", ".join(hosts[:4]) + (", ..." if len(hosts) > 4 else "")
    raise SettingsError(
        f"{written}: {name!r} is not a node of HOSTS ({listed}). Name one as HOSTS does, or by its number, "
        f"0 to {len(hosts) - 1}."
    )


def _machine(host: str) -> str:
    """The name of a machine in ``user@host:sshport``."""
    return host.rpartition("@")[2].partition(":")[0]
