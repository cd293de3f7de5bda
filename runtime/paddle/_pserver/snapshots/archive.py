"""Archive: which snapshots a folder holds, and whether they are whole. It reads, and changes nothing.

    000012.safetensors   the state (snapshot_file.py)
    000012.json          the manifest: its own checksum on a line, then size and xxh3 of the other file
    000012.*.new         a file that is being written

The manifest is written last, so that it promises what is there. Snapshots are numbered in the order in which
they were made; one of a lower number and a higher version is of a past that the job went back behind, and is
given up.

It must never know how a disk fails: storage.py is where operations fail. Guarantee: what is given out has the
size and the checksum that its manifest says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
import xxhash

from paddle._pserver.snapshots.storage import Read, Readable

FORMAT = 1
NEW = ".new"
DATA, MANIFEST = ".safetensors", ".json"
_NAME = re.compile(r"(\d+)(\.safetensors|\.json)(\.new)?")
_LOOK_BYTES = 1 << 20


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What is said of a snapshot beside it."""

    format: int
    version: int
    is_regular: bool
    bytes: int
    xxh3: str


@dataclass(frozen=True, slots=True)
class Survey:
    """Manifests by number, and what was passed over: files, each with the reason."""

    whole: Mapping[int, Manifest]
    damaged: tuple[str, ...]


class Archive:
    """See the module's text."""

    def __init__(self, storage: Readable) -> None:
        self._storage = storage

    @property
    def where(self) -> str:
        """The folder, for people."""
        return self._storage.where

    def files(self) -> list[tuple[int, str]]:
        """Number and kind of all files here that are a snapshot's."""
        matches = (_NAME.fullmatch(name) for name in self._storage.names())
        return [(int(match[1]), match[2] + (match[3] or "")) for match in matches if match]

    def survey(self) -> Survey:
        """By their manifests alone: what they promise is looked at when it is read."""
        whole: dict[int, Manifest] = {}
        damaged: list[str] = []
        for number in sorted({number for number, _ in self.files()}, reverse=True):
            try:
                whole[number] = self.manifest(number)
            except (OSError, ValueError) as error:  # msgspec's are ValueErrors
                damaged.append(f"{number:06} ({error})")
        return Survey(kept(whole), tuple(damaged))

    def manifest(self, number: int) -> Manifest:
        """That of one snapshot. Raises OSError and ValueError."""
        if (number, MANIFEST) not in self.files():
            raise ValueError("it was cut short while it was written")
        check, _, body = self._storage.read(f"{number:06}{MANIFEST}").partition(b"\n")
        if check != check_of(body):
            raise ValueError("its manifest is damaged")
        manifest = msgspec.json.decode(body, type=Manifest)
        if manifest.format != FORMAT:
            raise ValueError(f"it is of format {manifest.format}; this release reads {FORMAT}")
        return manifest

    def reader(self, number: int, manifest: Manifest) -> Read:
        """To read a part of it at a time. Raises OSError and ValueError."""
        read = self._storage.reader(f"{number:06}{DATA}")
        _check(read, manifest)
        return read

    def view(self, number: int, manifest: Manifest) -> memoryview:
        """All of it, to look at a part at a time. Raises OSError and ValueError."""
        self.reader(number, manifest)
        return self._storage.view(f"{number:06}{DATA}")


def kept(whole: Mapping[int, Manifest]) -> dict[int, Manifest]:
    """The newest tells how far the job has come: where it went back, what came after that is no part of it
    any more."""
    reached = whole[max(whole)].version if whole else 0
    return {number: manifest for number, manifest in whole.items() if manifest.version <= reached}


def check_of(body: bytes) -> bytes:
    """What stands before the body of a manifest."""
    return str(xxhash.xxh3_64_hexdigest(body)).encode("ascii")


def _check(read: Read, manifest: Manifest) -> None:
    digest, size = xxhash.xxh3_64(), 0
    while part := read(size, _LOOK_BYTES):
        digest.update(part)
        size += len(part)
    if size != manifest.bytes:
        raise ValueError(f"it has {size} bytes, and should have {manifest.bytes}")
    if digest.hexdigest() != manifest.xxh3:
        raise ValueError("its checksum is wrong")
