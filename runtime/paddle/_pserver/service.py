"""Service: all pservers of one node. One process for every (address, port): real cores, no shared lock.

On every address, the dense shards have ports ``port`` to ``port + ports_num - 1`` and the sparse ones the
``ports_num_for_sparse`` ports that follow. It must never know a parameter.

Guarantee: either all ports are served or none; no process is left when ``serve`` returns.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from paddle._pserver.children import Children
from paddle._pserver.ports import listen


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """What ``paddle pserver`` is told; names and meanings as its flags."""

    addresses: tuple[str, ...]
    port: int = 7164
    ports_num: int = 1
    ports_num_for_sparse: int = 0
    num_gradient_servers: int = 1
    barrier_timeout_s: float = 600.0
    log_period_server: int = 500

    def __post_init__(self) -> None:
        if not self.addresses:
            raise ValueError("a pserver needs at least one address")
        if (
            self.ports_num < 0
            or self.ports_num_for_sparse < 0
            or not self.ports_num + self.ports_num_for_sparse
        ):
            raise ValueError("a pserver needs at least one port: see --ports_num and --ports_num_for_sparse")
        if self.num_gradient_servers < 1:
            raise ValueError("--num_gradient_servers is the number of trainers, at least 1")
        if self.barrier_timeout_s <= 0 or self.log_period_server < 1:
            raise ValueError("barrier_timeout must be above 0, and --log_period_server at least 1")

    @property
    def places(self) -> list[tuple[str, int, Literal["dense", "sparse"]]]:
        """Address, port and role of every shard."""
        ports: list[tuple[int, Literal["dense", "sparse"]]] = [
            *((self.port + i, "dense") for i in range(self.ports_num)),
            *((self.port + self.ports_num + i, "sparse") for i in range(self.ports_num_for_sparse)),
        ]
        return [(address, port, role) for address in self.addresses for port, role in ports]


def serve(options: ServerOptions, on_ready: Callable[[list[tuple[str, int]]], None]) -> int:
    """Serve until the job is over; returns the exit status: 0 only if all went well.

    To be called in the main thread. ``on_ready`` gets all (address, port), once all are served. Raises
    PortInUse before anything is served. SIGINT, SIGTERM and SIGHUP end all processes.
    """
    listeners: list[socket.socket] = []
    try:
        for address, port, _ in options.places:
            listeners.append(listen(address, port))
    except BaseException:
        for listener in listeners:
            listener.close()
        raise
    children = Children()
    for index, (address, port, _) in enumerate(options.places):
        children.fork(f"{address}:{port}", partial(_shard, options, index, listeners))
    for listener in listeners:
        listener.close()
    return children.wait(lambda: on_ready([(address, port) for address, port, _ in options.places]))


def _shard(
    options: ServerOptions, index: int, listeners: Sequence[socket.socket], ready: Callable[[], None]
) -> int:
    """The life of shard number ``index`` of this node, in its own process."""
    for other in listeners:
        if other is not listeners[index]:
            other.close()
    # Loaded here, so that the parent stays small and forks no threads of a numeric library.
    from paddle._pserver.process import run
    from paddle._pserver.shard import ShardOptions

    address, port, role = options.places[index]
    shard = ShardOptions(
        num_gradient_servers=options.num_gradient_servers,
        roles=frozenset({role}),
        barrier_timeout_s=options.barrier_timeout_s,
        log_period_server=options.log_period_server,
        memory_limit_bytes=os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
    )
    return run(shard, listeners[index], f"{role} shard at {address}:{port}", ready)
