"""Snapshot: states of one shard on disk, the newest few of them. What the files are stands in archive.py.

It must never know how a disk fails: storage.py is where operations fail.

Guarantee: whenever this process or the machine stops, every snapshot that ``save`` returned for can be
loaded, until ``keep`` newer ones have been saved; one that is damaged or cut short is passed over and named,
and never taken for none: where nothing else is left, loading fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import msgspec
import xxhash

from paddle._pserver.errors import NoValidCheckpoint
from paddle._pserver.shard.state import Facts, State
from paddle._pserver.snapshots.archive import DATA, FORMAT, MANIFEST, NEW, Archive, Manifest, check_of, kept
from paddle._pserver.snapshots.snapshot_file import Arrays, decoded, encoded
from paddle._pserver.snapshots.storage import Storage


@dataclass(frozen=True, slots=True)
class Loaded:
    """The newest whole snapshot, if there is one, the versions of the others, newest first, and what was
    passed over: files, each with the reason."""

    state: State | None
    damaged: tuple[str, ...] = ()
    older: tuple[int, ...] = ()


class Snapshots:
    """See the module's text."""

    def __init__(self, storage: Storage, keep: int = 3, release: Callable[[], None] = lambda: None) -> None:
        self._storage, self._keep, self.release = storage, keep, release
        self._archive = Archive(storage)
        self._next = 1
        self._whole: dict[int, Manifest] = {}  # by number, of those that have a good one

    def load(self) -> Loaded:
        """The newest whole one. Raises NoValidCheckpoint where there are some and none is whole."""
        files = self._archive.files()
        numbers = sorted({number for number, _ in files}, reverse=True)
        self._next = max(numbers, default=0) + 1
        damaged: list[str] = []
        state = None
        for number in numbers:
            try:
                manifest = self._archive.manifest(number)
                if state is None:
                    state = self._state(number, manifest)
                self._whole[number] = manifest
            except (OSError, ValueError) as error:  # msgspec's are ValueErrors
                damaged.append(f"{number:06} ({error})")
        if state is None and numbers:
            self._begin_anew(files, damaged)
        self._whole = kept(self._whole)
        versions = sorted({manifest.version for manifest in self._whole.values()}, reverse=True)
        return Loaded(state, tuple(damaged), tuple(versions[1:]))

    def state_of(self, version: int) -> State:
        """What ``version`` was, of one of the ``older`` that were loaded. Raises OSError and ValueError."""
        whole = dict(self._whole)  # another thread may save meanwhile
        number = max(number for number, manifest in whole.items() if manifest.version == version)
        return self._state(number, whole[number])

    def _state(self, number: int, manifest: Manifest) -> State:
        read = self._archive.reader(number, manifest)
        return decoded(read, manifest.bytes, is_regular=manifest.is_regular)

    def _begin_anew(self, files: Sequence[tuple[int, str]], damaged: Sequence[str]) -> None:
        """The first snapshot is made before anything is trained: cut short, it is worth nothing."""
        if any(number > 1 or kind == MANIFEST for number, kind in files):
            raise NoValidCheckpoint(
                f"no snapshot in {self._storage.where} is whole: {'; '.join(damaged)}. To begin anew, and "
                "lose what was trained, move that folder away or name another --snapshot_dir"
            )
        for number, kind in files:
            self._storage.remove(f"{number:06}{kind}")
        self._next = 1

    def save(self, state: State) -> None:
        """Write a snapshot. When it returns, it lasts. Raises OSError; then those before still do."""
        self.write(state.facts, state.arrays, is_regular=state.is_regular)

    def write(self, facts: Facts, arrays: Arrays, *, is_regular: bool = True) -> None:
        """The same, of arrays that need not be in memory."""
        number = self._next
        self._next += 1
        try:
            self._whole = kept({**self._whole, number: self._written(number, facts, arrays, is_regular)})
        except Exception:
            self._clear(number)
            raise
        self._prune()

    def _written(self, number: int, facts: Facts, arrays: Arrays, is_regular: bool) -> Manifest:
        """Write it, and what promises that it is there."""
        digest, size = xxhash.xxh3_64(), 0

        def parts() -> Iterator[memoryview]:
            nonlocal size
            for part in encoded(facts, arrays):
                digest.update(part)
                size += part.nbytes
                yield part

        data = self._put(number, DATA, parts())
        self._storage.rename(data + NEW, data)
        self._storage.flush_names()
        manifest = Manifest(
            format=FORMAT, version=facts.version, is_regular=is_regular, bytes=size, xxh3=digest.hexdigest()
        )
        body = msgspec.json.encode(manifest)
        text = self._put(number, MANIFEST, iter([memoryview(check_of(body) + b"\n" + body)]))
        self._storage.rename(text + NEW, text)
        self._storage.flush_names()
        return manifest

    def _clear(self, number: int) -> None:
        """Give back the room of one that could not be written: a disk that is full would be fuller with each
        that is tried. What has its manifest stays: it may be whole."""
        with suppress(OSError):
            kinds = {kind for other, kind in self._archive.files() if other == number}
            for kind in kinds - ({DATA, MANIFEST} if MANIFEST in kinds else set()):
                self._storage.remove(f"{number:06}{kind}")

    def _put(self, number: int, kind: str, parts: Iterator[memoryview]) -> str:
        name = f"{number:06}{kind}"
        self._storage.write(name + NEW, parts)
        self._storage.flush(name + NEW)
        return name

    def _prune(self) -> None:
        """Keep the newest, and the newest regular ones; no manifest outlives what it promises."""
        newest = sorted(self._whole, reverse=True)
        regular = [number for number in newest if self._whole[number].is_regular]
        stay = {newest[0], *regular[: self._keep]}
        for number, kind in sorted(self._archive.files(), key=lambda file: (file[0], file[1] != MANIFEST)):
            if number not in stay and number < max(stay):
                self._storage.remove(f"{number:06}{kind}")
                self._whole.pop(number, None)
