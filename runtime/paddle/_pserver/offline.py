"""Offline: what can be done with the snapshots of a job without its trainers and pservers.

It must never change what it reads. Guarantee: what it makes is there as a whole, or not at all.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from paddle._pserver.errors import CannotReshard
from paddle._pserver.gathering import Gathered, gather
from paddle._pserver.options import Role
from paddle._pserver.resharding import Resharding
from paddle._pserver.snapshot import Snapshots
from paddle._pserver.storage import Folder

Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """As many pservers as the next job has: ``nodes``, each with so many ports."""

    nodes: int
    ports_num: int
    ports_num_for_sparse: int

    @property
    def places(self) -> list[tuple[str, Role, int, int]]:
        """Folder, role, number and count of every shard; folders as a launched job looks for them."""
        roles: list[tuple[Role, int]] = [("dense", self.ports_num), ("sparse", self.ports_num_for_sparse)]
        return [
            (f"node-{node}/{role}-{port}", role, node * ports + port, self.nodes * ports)
            for node in range(self.nodes)
            for role, ports in roles
            for port in range(ports)
        ]


def reshard(folders: Sequence[Path], to: Path, cluster: Cluster, notice: Notice) -> None:
    """Write the newest state of the job in ``folders`` to a new folder ``to``, as snapshots of ``cluster``.

    Raises PserverError, and OSError where it cannot be written.
    """
    _check_free(to)
    gathered = gather(folders, notice)
    _check_ports(gathered, cluster)
    resharding = Resharding(gathered)
    notice(
        f"version {gathered.version} of {len(gathered.dense)} dense and {len(gathered.sparse)} sparse shards"
    )
    to.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{to.name}.", dir=to.parent))
    try:
        for folder, role, shard, shards in cluster.places:
            storage = Folder(part / folder)
            Snapshots(storage).write(resharding.facts(shard, shards), resharding.arrays(role, shard, shards))
            storage.close()
            notice(f"wrote {role} shard {shard} of {shards} to {to / folder}")
        part.chmod(0o777 & ~_umask())
        part.replace(to)
        _flush(to.parent)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise


def _check_free(to: Path) -> None:
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise CannotReshard(f"{to} is there already: name a folder that is to be made")


def _check_ports(gathered: Gathered, cluster: Cluster) -> None:
    for parameter in gathered.declaration.parameters:
        flag = "ports_num_for_sparse" if parameter.sparse else "ports_num"
        if not (cluster.ports_num_for_sparse if parameter.sparse else cluster.ports_num):
            kind = "sparse" if parameter.sparse else "dense"
            raise CannotReshard(f"parameter {parameter.name!r} is {kind}: give --{flag}=1 or more")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _flush(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
