"""Storage: one folder of files, by the few operations from which state that lasts is made.

It must never know what the files hold. Every operation may raise OSError, or be the last thing that this
process, or this machine, ever does.

Guarantee of :class:`Folder`: one process at a time has it, until that process ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Protocol

from paddle._pserver.errors import SnapshotsInUse

Read = Callable[[int, int], bytes]
"""Reads so many bytes, or what there is of them, from a place on. Raises OSError."""

_LOCK = "lock"


class Readable(Protocol):
    """What does not change anything. ``where``: the folder, for people."""

    where: str

    def names(self) -> list[str]:
        """The files there are."""
        ...

    def read(self, name: str) -> bytes:
        """All of a file."""
        ...

    def view(self, name: str) -> memoryview:
        """All of a file, of which only what is looked at comes into memory."""
        ...

    def reader(self, name: str) -> Read:
        """To read a part of a file at a time, also once it has no name any more."""
        ...


class Storage(Readable, Protocol):
    """See the module's text."""

    def write(self, name: str, parts: Iterable[memoryview]) -> None:
        """Make the file ``name`` of these parts; it replaces what was half made before."""
        ...

    def flush(self, name: str) -> None:
        """What is in the file lasts from now on, once its name does."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Give a file another name, at once or not at all."""
        ...

    def remove(self, name: str) -> None:
        """Take a file away."""
        ...

    def flush_names(self) -> None:
        """What files there are, and their names, lasts from now on."""
        ...


class FolderToRead:
    """A folder of the file system, whoever has it."""

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        self._path = path

    def names(self) -> list[str]:
        """See Readable."""
        return sorted(entry.name for entry in self._path.iterdir() if entry.name != _LOCK)

    def read(self, name: str) -> bytes:
        """See Readable."""
        return (self._path / name).read_bytes()

    def view(self, name: str) -> memoryview:
        """See Readable."""
        with (self._path / name).open("rb") as file:
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))

    def reader(self, name: str) -> Read:
        """See Readable."""
        file = (self._path / name).open("rb", buffering=0)

        def read(first: int, size: int) -> bytes:
            parts = list[bytes]()
            while size and (part := os.pread(file.fileno(), size, first)):
                parts.append(part)
                first, size = first + len(part), size - len(part)
            return b"".join(parts)

        return read

    def is_in_use(self) -> bool:
        """Whether a process has it for itself."""
        try:
            with (self._path / _LOCK).open("rb") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except FileNotFoundError:
            return False
        return False


class Folder(FolderToRead):
    """A folder of the file system, made if it is not there. Raises SnapshotsInUse."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        path.mkdir(parents=True, exist_ok=True)
        self._lock: IO[bytes] = (path / _LOCK).open("wb")
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._lock.close()
            raise SnapshotsInUse(
                f"{path} is in use by another pserver: give every `paddle pserver` its own --snapshot_dir"
            ) from None

    def close(self) -> None:
        """Leave the folder to another process; the end of this one does so too."""
        self._lock.close()

    def write(self, name: str, parts: Iterable[memoryview]) -> None:
        """See Storage."""
        with _named(self._path / name), (self._path / name).open("wb") as file:
            for part in parts:
                file.write(part)

    def flush(self, name: str) -> None:
        """See Storage."""
        flush(self._path / name)

    def rename(self, old: str, new: str) -> None:
        """See Storage."""
        (self._path / old).replace(self._path / new)

    def remove(self, name: str) -> None:
        """See Storage."""
        (self._path / name).unlink()

    def flush_names(self) -> None:
        """See Storage."""
        flush(self._path)


def flush(path: Path) -> None:
    """Have a file, or the names in a folder, last. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with _named(path):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _named(path: Path) -> Iterator[None]:
    """What a disk refuses names no file by itself: not what is written to one that is open."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise
