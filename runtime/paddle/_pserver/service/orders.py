"""Orders: what one shard is told, of what its server was, whether that has a process for each (service.py) or
one for all (endpoint.py).

It must never know a parameter. Guarantee: shards of one server differ in role, folder and memory alone.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from paddle._pserver.memory import memory
from paddle._pserver.options import Role, ShardOptions, SnapshotOptions


class Told(Protocol):
    """What servers of both kinds are."""

    @property
    def barrier_timeout_s(self) -> float: ...
    @property
    def log_period_server(self) -> int: ...
    @property
    def memory_limit_bytes(self) -> int: ...
    @property
    def snapshots(self) -> SnapshotOptions | None: ...
    @property
    def is_nearby(self) -> bool: ...


def memory_for(told: Told, parts: int = 1) -> int:
    """Bytes for the parameters of each of so many parts of a server."""
    limit_bytes = told.memory_limit_bytes or memory.limit_bytes()
    if told.snapshots is None:
        return limit_bytes // parts
    if told.snapshots.memory_bytes is not None:
        return max(0, limit_bytes - told.snapshots.memory_bytes) // parts
    return limit_bytes // (2 * parts)  # a snapshot may come to copy all that a shard keeps


def cut_memory_for(told: Told, parts: int = 1) -> int:
    """Bytes for a snapshot of each of them, besides the parameters."""
    given = told.snapshots.memory_bytes if told.snapshots is not None else None
    return memory_for(told, parts) if given is None else given // parts


def orders(
    told: Told, role: Role, folder: Path | str, trainers: int, memory_bytes: int, **own: Any
) -> ShardOptions:
    """Those of one shard. ``folder``: of its snapshots, where any are kept: as anybody finds it, since
    whoever asks for one (demand.py) is told of it. ``own``: the rest of ShardOptions."""
    kept = told.snapshots
    return ShardOptions(
        num_gradient_servers=trainers,
        roles=frozenset({role}),
        barrier_timeout_s=told.barrier_timeout_s,
        log_period_server=told.log_period_server,
        memory_limit_bytes=memory_bytes,
        snapshots=None if kept is None else replace(kept, folder=str(Path(folder).absolute())),
        is_shown=told.is_nearby,
        **own,
    )
