"""Snapshot: states of one shard on disk, the newest few of them.

    000012.safetensors   the arrays; the facts are its metadata
    000012.json          the manifest: its own checksum on a line, then size and xxh3 of the other file
    000012.*.new         a file that is being written

The manifest is written last, so that it promises what is there. Snapshots are numbered in the order in which
they were made; one of a lower number and a higher version is of a past that the job went back behind, and is
given up. It must never know how a disk fails: storage.py is where operations fail.

Guarantee: whenever this process or the machine stops, every snapshot that ``save`` returned for can be
loaded, until ``keep`` newer ones have been saved; one that is damaged or cut short is passed over and named,
and never taken for none: where nothing else is left, loading fails.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import xxhash
from safetensors.numpy import load

from paddle._pserver.errors import NoValidCheckpoint
from paddle._pserver.state import Facts, State
from paddle._pserver.storage import Storage

_FORMAT = 1
_NEW = ".new"
_DATA, _MANIFEST = ".safetensors", ".json"
_NAME = re.compile(r"(\d+)(\.safetensors|\.json)(\.new)?")
_DTYPES = {"float32": "F32", "float64": "F64", "int64": "I64"}
_PART_BYTES = 1 << 20


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of a snapshot beside it."""

    format: int
    version: int
    is_regular: bool
    bytes: int
    xxh3: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """The newest whole snapshot, if there is one, the versions of the others, newest first, and what was
    passed over: files, each with the reason."""

    state: State | None
    damaged: tuple[str, ...] = ()
    older: tuple[int, ...] = ()


class Snapshots:
    """See the module's text."""

    def __init__(self, storage: Storage, keep: int = 3) -> None:
        self._storage, self._keep = storage, keep
        self._next = 1
        self._whole: dict[int, Manifest] = {}  # by number, of those that have a good one

    @property
    def where(self) -> str:
        """The folder, for people."""
        return self._storage.where

    def load(self) -> Loaded:
        """The newest whole one. Raises NoValidCheckpoint where there are some and none is whole."""
        files = self._files()
        numbers = sorted({number for number, _ in files}, reverse=True)
        self._next = max(numbers, default=0) + 1
        damaged: list[str] = []
        state = None
        for number in numbers:
            try:
                manifest = self._manifest(number)
                if state is None:
                    state = self._state(number, manifest)
                self._whole[number] = manifest
            except (OSError, ValueError) as error:  # msgspec's are ValueErrors
                damaged.append(f"{number:06} ({error})")
        if state is None and numbers:
            self._begin_anew(files, damaged)
        self._give_up()
        versions = sorted({manifest.version for manifest in self._whole.values()}, reverse=True)
        return Loaded(state, tuple(damaged), tuple(versions[1:]))

    def state_of(self, version: int) -> State:
        """What ``version`` was, of one of the ``older`` that were loaded. Raises OSError and ValueError."""
        kept = dict(self._whole)  # another thread may save meanwhile
        number = max(number for number, manifest in kept.items() if manifest.version == version)
        return self._state(number, kept[number])

    def _give_up(self) -> None:
        """The newest tells how far the job has come: where it went back, what came after that is no part of
        it any more."""
        reached = self._whole[max(self._whole)].version if self._whole else 0
        self._whole = {n: manifest for n, manifest in self._whole.items() if manifest.version <= reached}

    def _begin_anew(self, files: Sequence[tuple[int, str]], damaged: Sequence[str]) -> None:
        """The first snapshot is made before anything is trained: cut short, it is worth nothing."""
        if any(number > 1 or kind == _MANIFEST for number, kind in files):
            raise NoValidCheckpoint(
                f"no snapshot in {self.where} is whole: {'; '.join(damaged)}. To begin anew, and lose what "
                "was trained, move that folder away or name another --snapshot_dir"
            )
        for number, kind in files:
            self._storage.remove(f"{number:06}{kind}")
        self._next = 1

    def save(self, state: State) -> None:
        """Write a snapshot. When it returns, it lasts. Raises OSError; then those before still do."""
        number = self._next
        self._next += 1
        digest, size = xxhash.xxh3_64(), 0

        def parts() -> Iterator[memoryview]:
            nonlocal size
            for part in _encoded(state):
                digest.update(part)
                size += part.nbytes
                yield part

        data = self._put(number, _DATA, parts())
        self._storage.rename(data + _NEW, data)
        self._storage.flush_names()
        manifest = Manifest(
            format=_FORMAT,
            version=state.facts.version,
            is_regular=state.is_regular,
            bytes=size,
            xxh3=digest.hexdigest(),
        )
        body = msgspec.json.encode(manifest)
        text = self._put(number, _MANIFEST, iter([memoryview(_check(body) + b"\n" + body)]))
        self._storage.rename(text + _NEW, text)
        self._storage.flush_names()
        self._whole[number] = manifest
        self._give_up()
        self._prune()

    def _put(self, number: int, kind: str, parts: Iterator[memoryview]) -> str:
        name = f"{number:06}{kind}"
        self._storage.write(name + _NEW, parts)
        self._storage.flush(name + _NEW)
        return name

    def _prune(self) -> None:
        """Keep the newest, and the newest regular ones; no manifest outlives what it promises."""
        newest = sorted(self._whole, reverse=True)
        regular = [number for number in newest if self._whole[number].is_regular]
        kept = {newest[0], *regular[: self._keep]}
        for number, kind in sorted(self._files(), key=lambda file: (file[0], file[1] != _MANIFEST)):
            if number not in kept and number < max(kept):
                self._storage.remove(f"{number:06}{kind}")
                self._whole.pop(number, None)

    def _files(self) -> list[tuple[int, str]]:
        """Number and kind of all files here that are ours."""
        matches = (_NAME.fullmatch(name) for name in self._storage.names())
        return [(int(match[1]), match[2] + (match[3] or "")) for match in matches if match]

    def _manifest(self, number: int) -> Manifest:
        if (number, _MANIFEST) not in self._files():
            raise ValueError("it was cut short while it was written")
        check, _, body = self._storage.read(f"{number:06}{_MANIFEST}").partition(b"\n")
        if check != _check(body):
            raise ValueError("its manifest is damaged")
        manifest = msgspec.json.decode(body, type=Manifest)
        if manifest.format != _FORMAT:
            raise ValueError(f"it is of format {manifest.format}; this release reads {_FORMAT}")
        return manifest

    def _state(self, number: int, manifest: Manifest) -> State:
        data = self._storage.read(f"{number:06}{_DATA}")
        if len(data) != manifest.bytes:
            raise ValueError(f"it has {len(data)} bytes, and should have {manifest.bytes}")
        if xxhash.xxh3_64_hexdigest(data) != manifest.xxh3:
            raise ValueError("its checksum is wrong")
        return _decoded(data, manifest.is_regular)


def _check(body: bytes) -> bytes:
    return str(xxhash.xxh3_64_hexdigest(body)).encode("ascii")


def _encoded(state: State) -> Iterator[memoryview]:
    """A safetensors file, without another copy of the arrays."""
    header: dict[str, object] = {
        "__metadata__": {"facts": base64.b64encode(msgspec.msgpack.encode(state.facts)).decode("ascii")}
    }
    at = 0
    for name, array in state.arrays.items():
        header[name] = {
            "dtype": _DTYPES[array.dtype.name],
            "shape": list(array.shape),
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    yield memoryview(len(text).to_bytes(8, "little") + text)
    for array in state.arrays.values():
        raw = np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
        for start in range(0, raw.nbytes, _PART_BYTES):
            yield raw[start : start + _PART_BYTES]


def _decoded(data: bytes, is_regular: bool) -> State:
    """What ``_encoded`` made of it; any complaint is a ValueError."""
    try:
        arrays = load(data)
        length = int.from_bytes(data[:8], "little")
        metadata = json.loads(data[8 : 8 + length])["__metadata__"]
        facts = msgspec.msgpack.decode(base64.b64decode(metadata["facts"]), type=Facts)
    except Exception as error:  # safetensors' own is derived from Exception alone
        raise ValueError(f"it does not decode: {error}") from error
    return State(facts, arrays, is_regular)
