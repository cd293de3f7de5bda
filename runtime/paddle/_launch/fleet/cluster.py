"""The processes of a job, and which of them are this machine's.

It must never know what a process does. Which ports are free, and which addresses are this machine's, it is
told by functions given as arguments.

Guarantee: a process's number is its place in the list that all machines are given, so machines agree on it
without speaking to each other; it is never the order in which a machine looked.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from paddle._launch.errors import ClusterError, UsageError
from paddle._launch.fleet.call import DEFAULT_PORT, Call
from paddle._launch.fleet.ports import LOOPBACK

_FIRST_PORT = "FLAGS_START_PORT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A job. ``servers`` and ``workers``: all of them, by number; ``own_servers`` and ``own_workers``: the
    numbers of those that are here. ``here``: this machine's address in those lists. ``is_whole``: no other
    machine has a part in it. ``gloo``: where trainers could meet, and ``meets`` whether they do where nobody
    says it."""

    servers: tuple[str, ...]
    workers: tuple[str, ...]
    own_servers: tuple[int, ...]
    own_workers: tuple[int, ...]
    here: str
    is_whole: bool
    gloo: str
    meets: str = "0"


def settle(
    call: Call,
    environ: Mapping[str, str],
    free_ports: Callable[[int], list[int]],
    is_own: Callable[[str], bool],
) -> Cluster:
    """Say where the processes of ``call`` are."""
    lacking = (0 if call.servers else call.server_num) + (0 if call.workers else call.worker_num)
    ports = ports_of(lacking + 1, environ, free_ports)
    servers = call.servers or _loopback(ports, call.server_num)
    workers = call.workers or _loopback(ports, call.worker_num)
    hosts = list(dict.fromkeys(host_of(endpoint) for endpoint in (*servers, *workers)))
    is_whole = len(hosts) == 1
    # Each machine asks for itself, so what must be the same on all of them cannot be chosen by chance.
    usual = ports[0] if is_whole else DEFAULT_PORT + len(servers) + len(workers)
    here = hosts[0] if is_whole else _own(hosts, call.host, is_own)
    return Cluster(
        servers=servers,
        workers=workers,
        own_servers=_of(here, servers),
        own_workers=_of(here, workers),
        here=here,
        is_whole=is_whole,
        gloo=f"{host_of((servers or workers)[0])}:{call.http_port or usual}",
    )


def host_of(endpoint: str) -> str:
    """The host of ``host:port``."""
    return endpoint.rpartition(":")[0]


def is_own(host: str) -> bool:
    """Whether an address, or a name of one, is this machine's: only then can something listen there."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with closing(socket.socket(family, kind, protocol)) as listener:
            listener.bind(address)
    except OSError:
        return False
    return True


def _of(here: str, endpoints: Sequence[str]) -> tuple[int, ...]:
    return tuple(number for number, endpoint in enumerate(endpoints) if host_of(endpoint) == here)


def _loopback(ports: list[int], number: int) -> tuple[str, ...]:
    return tuple(f"{LOOPBACK}:{ports.pop(0)}" for _ in range(number))


def ports_of(number: int, environ: Mapping[str, str], free: Callable[[int], list[int]]) -> list[int]:
    """The ports of processes for which none was named: from where a variable says, or ``free`` ones."""
    text = environ.get(_FIRST_PORT, "").strip()
    if not text:
        return free(number)
    if not (text.isdecimal() and 1 <= int(text) <= 65536 - number):
        raise UsageError(
            f"{_FIRST_PORT} is {text!r}: it must be a port from which {number} in a row can be taken. "
            "Correct it, or unset it to have free ones."
        )
    return list(range(int(text), int(text) + number))


def _own(hosts: Sequence[str], told: str, is_own: Callable[[str], bool]) -> str:
    """Which of several machines this is."""
    listed = ", ".join(hosts)
    if told:
        if told in hosts:
            return told
        raise ClusterError(
            f"POD_IP, or --host, says that this machine is {told}, which is not among those of --servers and "
            f"--workers: {listed}. Correct one of them."
        )
    found = [host for host in hosts if is_own(host)]
    if len(found) == 1:
        return found[0]
    which = f"several of them: {', '.join(found)}" if found else "none of them"
    raise ClusterError(
        f"--servers and --workers name {len(hosts)} machines ({listed}), and this one has the address of "
        f"{which}. Set POD_IP to the one that is meant here."
    )
