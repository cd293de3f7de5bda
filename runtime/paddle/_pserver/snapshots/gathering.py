"""Gathering: the snapshots of all shards of one job, wherever its pservers kept them.

1.  A shard's folder is called ``dense-N`` or ``sparse-N``; it is looked for in every folder that is named,
    and a few levels below: that of one pserver, of all of them, or of a whole job.
2.  All shards of the job must be there, each once, and of one model.
3.  Where trainers are in step the state is that of the newest version which all shards have whole; else of
    each shard's newest, since their versions tell nothing of each other.
4.  A snapshot that does not read is passed over, and told.

It must never write. Guarantee: what is gathered is one job's whole state, each byte of it checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from paddle._pserver.errors import NotOneJob, NoValidCheckpoint, SnapshotsInUse
from paddle._pserver.options import Role
from paddle._pserver.protocol.messages import Declare
from paddle._pserver.snapshots.archive import Archive, Manifest
from paddle._pserver.snapshots.snapshot_file import Opened, opened
from paddle._pserver.snapshots.storage import FolderToRead

_SHARD = re.compile(r"(dense|sparse)-\d+")
_DEPTH = 5  # JOB/node-0, a --snapshot_dir of up to three folders in it, dense-0
_NAME = "name the --snapshot_dir of every pserver of the job, or the job's folder"
_TRIES = 5  # to read what a running pserver takes away when it has newer ones
Notice = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Gathered:
    """A job's state: its shards of each role in their order."""

    dense: tuple[Opened, ...]
    sparse: tuple[Opened, ...]

    @property
    def shards(self) -> tuple[Opened, ...]:
        """All of them."""
        return (*self.dense, *self.sparse)

    @property
    def declaration(self) -> Declare:
        """The model."""
        return self.shards[0].facts.declaration

    @property
    def version(self) -> int:
        """Steps applied; where shards differ, by the one that has most."""
        return max(shard.facts.version for shard in self.shards)


@dataclass(frozen=True, slots=True)
class _Source:
    """One shard's folder: ``whole`` are the snapshots that it has."""

    role: Role
    path: Path
    archive: Archive
    whole: dict[int, Manifest]
    looked_at: dict[int, Opened] = field(default_factory=dict)

    @property
    def versions(self) -> set[int]:
        return {manifest.version for manifest in self.whole.values()}

    def open(self, version: int) -> Opened:
        number = max(number for number, manifest in self.whole.items() if manifest.version == version)
        try:
            if number not in self.looked_at:
                self.looked_at[number] = opened(self.archive.view(number, self.whole[number]))
        except (OSError, ValueError) as error:
            del self.whole[number]
            raise ValueError(f"snapshot {number:06} in {self.path} ({error})") from error
        return self.looked_at[number]


def gather(folders: Sequence[Path], notice: Notice, *, is_running: bool = False) -> Gathered:
    """Gather what is in ``folders``. ``is_running``: its pservers may be; else that is an error.

    Raises NotOneJob, NoValidCheckpoint and SnapshotsInUse.
    """
    for _ in range(_TRIES - 1 if is_running else 0):
        try:
            return _gathered(folders, notice, is_running=True)
        except NoValidCheckpoint as error:
            if not any(FolderToRead(path).is_in_use() for path in _shards_in(folders)):
                raise  # what nobody writes to stays as it is
            notice(f"looks again: {error}")
    return _gathered(folders, notice, is_running=is_running)


def _gathered(folders: Sequence[Path], notice: Notice, *, is_running: bool) -> Gathered:
    paths = _shards_in(folders)
    if not paths:
        listed = ", ".join(str(folder) for folder in folders)
        raise NotOneJob(f"no snapshots of shards are in {listed}: {_NAME}")
    sources = [_source(path, notice, is_running=is_running) for path in paths]
    while True:
        try:
            states = _opened(sources)
        except ValueError as error:
            notice(f"passes over {error}")
        else:
            return _joined(sources, states)


def _shards_in(folders: Sequence[Path]) -> list[Path]:
    return list(dict.fromkeys(path for folder in folders for path in _shards_below(folder)))


def _shards_below(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        raise NotOneJob(f"{folder} is not a folder: {_NAME}")
    yield from _walk(folder.resolve(), _DEPTH)


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    if _SHARD.fullmatch(folder.name) and any(folder.glob("*.safetensors")):
        yield folder
    elif depth:
        for below in sorted(folder.iterdir()):
            if below.is_dir() and not below.is_symlink():
                yield from _walk(below, depth - 1)


def _source(path: Path, notice: Notice, *, is_running: bool) -> _Source:
    storage = FolderToRead(path)
    if not is_running and storage.is_in_use():
        raise SnapshotsInUse(f"{path} is in use by a pserver: end its job first")
    archive = Archive(storage)
    survey = archive.survey()
    for damaged in survey.damaged:
        notice(f"passes over snapshot {damaged} in {path}")
    return _Source("dense" if path.name.startswith("dense") else "sparse", path, archive, dict(survey.whole))


def _opened(sources: Sequence[_Source]) -> list[Opened]:
    """The states to take (rule 3). Raises ValueError where one does not read."""
    for source in sources:
        if not source.whole:
            raise NoValidCheckpoint(f"no snapshot in {source.path} is whole")
    first = sources[0].open(max(sources[0].versions))
    if not first.facts.declaration.update.mode.is_in_step:
        return [source.open(max(source.versions)) for source in sources]
    common = set.intersection(*(source.versions for source in sources))
    if not common:
        have = "; ".join(f"{source.path}: {sorted(source.versions)}" for source in sources)
        raise NoValidCheckpoint(f"the shards have no version in common, which training goes on from: {have}")
    return [source.open(max(common)) for source in sources]


def _joined(sources: Sequence[_Source], states: Sequence[Opened]) -> Gathered:
    """The job of which these are all shards (rule 2)."""
    places: dict[tuple[Role, int], tuple[Path, Opened]] = {}
    for source, state in zip(sources, states, strict=True):
        declared = state.facts.declaration
        place = source.role, declared.shard
        if place in places:
            raise _twice(source.role, declared.shard, places[place][0], source.path)
        if _model(state) != _model(states[0]):
            raise NotOneJob(f"{sources[0].path} and {source.path} have snapshots of different models")
        places[place] = source.path, state
    gathered = Gathered(
        tuple(state for (role, _), (_, state) in sorted(places.items()) if role == "dense"),
        tuple(state for (role, _), (_, state) in sorted(places.items()) if role == "sparse"),
    )
    _check_complete("dense", gathered.dense, gathered.declaration)
    _check_complete("sparse", gathered.sparse, gathered.declaration)
    return gathered


def _twice(role: Role, shard: int, one: Path, other: Path) -> NotOneJob:
    what = f"{one} and {other} are both {role} shard {shard}"
    if one.parent == other.parent:
        return NotOneJob(
            f"{what}: a program of several optimizers, or rates, has shards for each, which are not put "
            "together here. It goes on with as many servers as it had; its model is what the program saves"
        )
    return NotOneJob(f"{what}: name the folders of one job")


def _model(state: Opened) -> Declare:
    """What all shards of a job agree on."""
    return msgspec.structs.replace(state.facts.declaration, shard=0, shards=1)


def _check_complete(role: Role, states: Sequence[Opened], declared: Declare) -> None:
    if not states:
        if any(parameter.sparse is (role == "sparse") for parameter in declared.parameters):
            raise NotOneJob(f"the job has {role} parameters, and no {role} shard is among these folders")
        return
    count = max(state.facts.declaration.shards for state in states)
    missing = sorted(set(range(count)) - {state.facts.declaration.shard for state in states})
    if missing:
        raise NotOneJob(
            f"the job had {count} {role} shards, and {role} shard {missing[0]} is not among these folders: "
            "name those of all its pservers"
        )
