"""Places: where the shards of a job are, as a trainer was told.

Two ways of telling it. Hosts that share their ports: on each, ``ports_num`` dense shards from ``port`` on and
then ``ports_num_for_sparse`` sparse ones. Or endpoints ``host:port``, each of which serves a shard of either
kind behind one port (endpoint.py), any ports, several on one host.

It must never know a connection. Guarantee: shards have the order in which they were named, which is what
says which values are whose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paddle._engine.errors import ExchangeError
from paddle._pserver.protocol.paths import MOST_GROUPS, SESSION_PATH, prefix

_HIGHEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Where:
    """A shard's ``host`` and ``port``, and the ``path`` of its sessions there."""

    host: str
    port: int
    path: str = SESSION_PATH


@dataclass(frozen=True, slots=True)
class Places:
    """Of all shards of a job. ``are_endpoints``: a port is one of each kind, and its sparse one ends with the
    dense one where no trainer ever came to it."""

    dense: tuple[Where, ...]
    sparse: tuple[Where, ...]
    are_endpoints: bool = False


def places_of(
    pservers: Sequence[str], port: int | None, ports_num: int, ports_num_for_sparse: int, group: int = 0
) -> Places:
    """Those of ``pservers``: hosts that share ``port`` and those after it; endpoints where that is None.
    ``group``: see at_endpoints."""
    if port is None:
        return at_endpoints(pservers, group)
    return on_hosts(pservers, port, ports_num, ports_num_for_sparse)


def on_hosts(hosts: Sequence[str], port: int, ports_num: int, ports_num_for_sparse: int) -> Places:
    """Those of hosts that share their ports."""
    return Places(
        tuple(Where(host, port + i) for host in hosts for i in range(ports_num)),
        tuple(Where(host, port + ports_num + i) for host in hosts for i in range(ports_num_for_sparse)),
    )


def at_endpoints(endpoints: Sequence[str], group: int = 0) -> Places:
    """Those of endpoints, for the parameters of a ``group``: 0, 1... of those that have one rule. Raises
    ExchangeError for an endpoint that is none, or is named twice."""
    if not 0 <= group < MOST_GROUPS:
        raise ExchangeError(
            f"parameters are updated in more than {MOST_GROUPS} groups, each by a rule or a rate of its own: "
            f"an endpoint serves {MOST_GROUPS}. Use fewer optimizers"
        )
    parsed = list(map(parse_endpoint, endpoints))
    if not parsed:
        raise ExchangeError("no parameter server is named: give their endpoints, host:port")
    for twice in _repeated(parsed):
        raise ExchangeError(
            f"the parameter server {twice[0]}:{twice[1]} is named twice in {', '.join(endpoints)}: each "
            "keeps one part of the parameters, so each is named once"
        )
    return Places(
        tuple(Where(host, port, prefix("dense", group) + SESSION_PATH) for host, port in parsed),
        tuple(Where(host, port, prefix("sparse", group) + SESSION_PATH) for host, port in parsed),
        are_endpoints=True,
    )


def parse_endpoint(endpoint: str) -> tuple[str, int]:
    """Host and port of ``host:port``, with brackets around an IPv6 address."""
    host, colon, port = endpoint.strip().rpartition(":")
    host = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    if not (colon and host and port.isascii() and port.isdigit() and 0 < int(port) <= _HIGHEST_PORT):
        raise ExchangeError(
            f"{endpoint!r} is not an endpoint of a parameter server: write host:port, such as 127.0.0.1:6174"
        )
    return host, int(port)


def _repeated(places: Sequence[tuple[str, int]]) -> Iterator[tuple[str, int]]:
    return (place for index, place in enumerate(places) if place in places[:index])
