"""Options: what pservers are told before any trainer speaks. Plain data, checked; small to import."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["dense", "sparse"]

WORTH_BYTES = 1 << 20
"""A smaller gradient takes no turn: to announce it would cost more time than it spares memory."""


def snapshot_bytes(told_mib: int, limit_bytes: int, name: str = "--snapshot_memory") -> int | None:
    """What snapshots may take of ``limit_bytes``, as ``name`` tells it; None where that is -1. Raises
    ValueError where it leaves nothing for parameters."""
    if told_mib << 20 >= limit_bytes:
        raise ValueError(
            f"{name}={told_mib} leaves nothing for parameters: there are {limit_bytes >> 20} MiB for both "
            "(what this machine has, or --memory_limit of pservers). Give less, or 0."
        )
    return None if told_mib < 0 else told_mib << 20


def of_mib(flag: int) -> int | None:
    """``--gradient_memory`` in bytes; None where none is given, -1."""
    return None if flag < 0 else flag << 20


def in_mib(size_bytes: int, *, up: bool = False) -> str:
    """For people, to a tenth: what there is rounded down, what is needed rounded ``up``, so that they differ
    where one does not do for the other."""
    tenths = 10 * size_bytes
    whole, tenth = divmod(-(-tenths >> 20) if up else tenths >> 20, 10)
    return f"{whole}.{tenth} MiB" if tenth else f"{whole} MiB"


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotOptions:
    """Where a shard's snapshots lie, how many, and when they are written: at every version that ``period``
    divides, and every ``interval_s``. ``memory_bytes``: what one may take at most until it is written, for
    all shards together; None: half of what parameters and snapshots may need, and what those leave."""

    folder: str
    period: int = 1000
    interval_s: float = 600.0
    keep: int = 3
    memory_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.period < 1 or self.interval_s <= 0 or self.keep < 1:
            raise ValueError(
                "--snapshot_period and --snapshot_keep must be at least 1, --snapshot_interval above 0"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardOptions:
    """What one shard is told. ``serving``: the same for all processes that one `paddle pserver` starts, which
    serves one job, and for those of another one that takes its place in that job. ``memory_limit_bytes``:
    what parameters may need; ``cut_limit_bytes``: what a snapshot may. ``tables``: TableRows of sparse
    parameters by name, in the place of first values, and how many steps made them so; ``arrays``: the same of
    dense ones, whole: values, under "", and slots of the rule."""

    num_gradient_servers: int = 1
    min_trainers: int = 0
    roles: Set[Role] = frozenset({"dense", "sparse"})
    barrier_timeout_s: float = 600.0
    log_period_server: int = 500
    memory_limit_bytes: int = 1 << 62
    cut_limit_bytes: int = 1 << 62
    snapshots: SnapshotOptions | None = None
    is_shown: bool = False  # whether trainers of the machine may read dense values themselves
    serving: str = ""
    ends_with_all: bool = False  # where all trainers have failed before they began; else others may come
    tables: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    arrays: Mapping[str, tuple[Mapping[str, Any], int]] = field(default_factory=dict)
    gradient_bytes: int | None = None  # for gradients of trainers in step before their turn; None: of all
    claims: Any = None  # Claims of all shards of its process, under its name, where there are others
    name: str = ""

    def most_early(self, size_bytes: int) -> int | None:
        """How many gradients of so many bytes may be there before their turn (shard/turns.py); None where
        trainers take no turns: nothing would be spared by it."""
        if self.gradient_bytes is None or size_bytes < WORTH_BYTES:
            return None
        most = self.gradient_bytes // size_bytes
        return most if self.num_gradient_servers > 1 + most else None

    def cut_bytes(self, left_bytes: int) -> int:
        """What a snapshot may take now, where parameters leave so much of theirs."""
        is_bounded = self.snapshots is not None and self.snapshots.memory_bytes is not None
        return self.cut_limit_bytes + (0 if is_bounded else left_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """What ``paddle pserver`` is told; names and meanings as its flags."""

    addresses: tuple[str, ...]
    port: int = 7164
    ports_num: int = 1
    ports_num_for_sparse: int = 0
    num_gradient_servers: int = 1
    min_trainers: int = 0
    barrier_timeout_s: float = 600.0
    log_period_server: int = 500
    snapshots: SnapshotOptions | None = None  # its folder has one for each shard
    restarts: int = 3  # of a shard that was killed and has snapshots
    memory_limit_bytes: int = 0  # of all shards together; 0: what the machine has
    gradient_bytes: int | None = None  # of all shards together; see ShardOptions
    is_nearby: bool = True  # whether shards have a unix socket, too, for trainers of their machine
    serving: str = ""  # the job, where another pserver may serve it when this one is gone; see ShardOptions

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
        if not 0 <= self.min_trainers <= self.num_gradient_servers:
            raise ValueError("--min_trainers is at most --num_gradient_servers; 0: all of them")
        if self.gradient_bytes is not None and self.gradient_bytes < 0:
            raise ValueError("--gradient_memory is in MiB, at least 0; -1: of all gradients")
        if self.barrier_timeout_s <= 0 or self.log_period_server < 1:
            raise ValueError("barrier_timeout must be above 0, and --log_period_server at least 1")

    @property
    def gradient_bytes_of_each(self) -> int | None:
        """Of each shard that keeps dense parameters."""
        shards = sum(role == "dense" for _, _, role in self.places)
        return None if self.gradient_bytes is None else self.gradient_bytes // max(1, shards)

    @property
    def snapshot_folders(self) -> list[str]:
        """Of every shard its own, ``dense-0``, ``sparse-0``..., where snapshots are kept."""
        if self.snapshots is None:
            return []
        roles = [role for _, _, role in self.places]
        own = [f"{role}-{roles[:index].count(role)}" for index, role in enumerate(roles)]
        return [f"{self.snapshots.folder.rstrip('/')}/{name}" for name in own]

    @property
    def places(self) -> list[tuple[str, int, Role]]:
        """Address, port and role of every shard."""
        ports: list[tuple[int, Role]] = [
            *((self.port + i, "dense") for i in range(self.ports_num)),
            *((self.port + self.ports_num + i, "sparse") for i in range(self.ports_num_for_sparse)),
        ]
        return [(address, port, role) for address in self.addresses for port, role in ports]
