"""Offline: what can be done with the snapshots of a job without its trainers and pservers.

It must never change what it reads. Guarantee: what it makes is there as a whole, or not at all.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from paddle._engine.checkpoint import lod_tensor, parameter_tar, sparse_text
from paddle._pserver.errors import CannotExport, CannotReshard
from paddle._pserver.options import Role
from paddle._pserver.snapshots.exporting import Exporting, config_of
from paddle._pserver.snapshots.gathering import Gathered, Notice, gather
from paddle._pserver.snapshots.resharding import Resharding
from paddle._pserver.snapshots.snapshot import Snapshots
from paddle._pserver.snapshots.soundness import sound
from paddle._pserver.snapshots.storage import Folder, flush

Layout = Literal["tar", "persistables", "combined"]


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
    _check_apart(to, folders)
    gathered = gather(folders, notice)
    _check_ports(gathered, cluster)
    notice(
        f"version {gathered.version} of {len(gathered.dense)} dense and {len(gathered.sparse)} sparse shards"
    )
    with sound(gathered), _making(to, is_folder=True) as part:
        resharding = Resharding(gathered)
        for folder, role, shard, shards in cluster.places:
            storage = Folder(part / folder)
            Snapshots(storage).write(resharding.facts(shard, shards), resharding.arrays(role, shard, shards))
            storage.close()
            notice(f"wrote {role} shard {shard} of {shards} to {to / folder}")


@contextlib.contextmanager
def _making(to: Path, *, is_folder: bool) -> Iterator[Path]:
    """A place beside ``to``, which becomes it when all is done, and else is gone."""
    to.parent.mkdir(parents=True, exist_ok=True)
    try:
        beside = Path(tempfile.mkdtemp(prefix=f".{to.name}.", dir=to.parent))
    except OSError as error:  # of a name that nobody has asked for
        raise OSError(error.errno, error.strerror, str(to)) from error
    try:
        part = beside / to.name
        if is_folder:
            part.mkdir()
        yield part
        for path in [part, *part.rglob("*")]:
            flush(path)
        part.replace(to)
        flush(to.parent)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _check_free(to: Path) -> None:
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise CannotReshard(f"{to} is there already: name one that is to be made")


def _check_apart(to: Path, folders: Sequence[Path]) -> None:
    """What is made must not be found where the job's own is looked for."""
    for folder in folders:
        if to.resolve().is_relative_to(folder.resolve()):
            raise CannotReshard(
                f"{to} is in {folder}, where it would be taken for a part of that job: name a place beside it"
            )


def _check_ports(gathered: Gathered, cluster: Cluster) -> None:
    for parameter in gathered.declaration.parameters:
        flag = "ports_num_for_sparse" if parameter.sparse else "ports_num"
        if not (cluster.ports_num_for_sparse if parameter.sparse else cluster.ports_num):
            kind = "sparse" if parameter.sparse else "dense"
            raise CannotReshard(f"parameter {parameter.name!r} is {kind}: give --{flag}=1 or more")


def export(
    folders: Sequence[Path], to: Path, layout: Layout, notice: Notice, *, is_averaged: bool = False
) -> None:
    """Write the newest parameters of the job in ``folders``, which may be running, to a new ``to``: a file of
    v2's ``Parameters.to_tar``, or a folder or one file of fluid's ``save_persistables``.

    Raises PserverError, and OSError where it cannot be written.
    """
    _check_free(to)
    gathered = gather(folders, notice, is_running=True)
    exporting = Exporting(gathered, is_averaged)
    if layout != "persistables":
        _check_heights(exporting, layout)
    with sound(gathered), _making(to, is_folder=layout == "persistables") as part:
        if layout == "persistables":
            _write_files(exporting, part)
        else:
            with part.open("wb") as file:
                (_write_tar if layout == "tar" else _write_combined)(exporting, file)
    notice(f"version {exporting.gathered.version} is in {to}")


def _check_heights(exporting: Exporting, layout: Layout) -> None:
    for table in exporting.open_tables:
        raise CannotExport(
            f"{table.name!r} is a table without a height, whose rows are not an array: the layout {layout} "
            "has no place for it. --format=persistables writes its rows by their ids"
        )


def _write_tar(exporting: Exporting, file: IO[bytes]) -> None:
    with parameter_tar.open_to_write(file) as tar:
        for parameter, pieces in exporting.parameters():
            parameter_tar.add(tar, config_of(parameter), parameter.size, pieces)


def _write_files(exporting: Exporting, folder: Path) -> None:
    """One file for each variable; of an open table a folder, with two for each sparse shard."""
    for parameter, pieces in exporting.parameters():
        path = _place(folder, parameter.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            lod_tensor.write(file, parameter.shape, pieces)
    for table in exporting.open_tables:
        place, blocks = _place(folder, table.name), len(exporting.gathered.sparse)
        widths, rows = exporting.columns_of(table), exporting.rows_of(table)
        sparse_text.write(place.parent, place.name, widths, blocks, rows)


def _place(folder: Path, name: str) -> Path:
    path = folder / name
    if "\0" in name or not path.resolve().is_relative_to(folder.resolve()) or path == folder:
        raise CannotExport(f"parameter {name!r} has a name that no file of the folder can have")
    return path


def _write_combined(exporting: Exporting, file: IO[bytes]) -> None:
    """All variables in one, in the order of their names, as the original sorts them."""
    for parameter, pieces in sorted(exporting.parameters(), key=lambda each: each[0].name):
        lod_tensor.write(file, parameter.shape, pieces)
