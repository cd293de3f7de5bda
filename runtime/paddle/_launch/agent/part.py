"""A part: a file that arrives, and of which not all is here.

It must never know what the file is for. Guarantee: a part is one dispatch's alone, which holds a lock on it
for as long as it lives; who finds it held has one of its own.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os

CHUNK = 1 << 20


class Part:
    """A file that arrives. ``offset``: how much of it is here."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._hash = hashlib.sha256()
        self.descriptor = self._open(path)
        self.offset = 0

    def catch_up(self, size: int) -> None:
        """Hash what is there already; forget it where that is more than ``size`` bytes."""
        with os.fdopen(os.dup(self.descriptor), "rb", buffering=0) as reader:
            while data := reader.read(CHUNK):
                self._hash.update(data)
                self.offset += len(data)
        if self.offset > size:
            os.ftruncate(self.descriptor, 0)
            os.lseek(self.descriptor, 0, os.SEEK_SET)
            self._hash, self.offset = hashlib.sha256(), 0

    def adopt(self, other: str) -> None:
        """Take over what is there of another one, which may be growing."""
        with contextlib.suppress(FileNotFoundError), open(other, "rb", buffering=0) as reader:
            while data := reader.read(CHUNK):
                self._append(memoryview(data))
        os.lseek(self.descriptor, 0, os.SEEK_SET)

    def _open(self, path: str) -> int:
        """Open it alone: where another dispatch receives the same file, this one begins its own."""
        how = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(path, how, 0o600)
        if _is_ours(path, descriptor):
            return descriptor
        os.close(descriptor)
        self.path = f"{path}.{os.urandom(8).hex()}"
        descriptor = os.open(self.path, how | os.O_EXCL, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return descriptor

    def write(self, data: memoryview) -> None:
        """Append ``data``."""
        self._hash.update(data)
        self._append(data)
        self.offset += len(data)

    def _append(self, data: memoryview) -> None:
        try:
            while data:
                data = data[os.write(self.descriptor, data) :]
        except OSError as error:
            error.filename = self.path
            raise

    def digest(self) -> str:
        """The digest of all that is there."""
        return self._hash.hexdigest()

    def move(self, place: str) -> os.stat_result:
        """Give it its name in the store."""
        os.rename(self.path, place)
        status = os.fstat(self.descriptor)
        os.close(self.descriptor)
        return status

    def close(self) -> None:
        """Leave it as it is, for the next dispatch."""
        os.close(self.descriptor)

    def drop(self) -> None:
        """Remove it."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        os.close(self.descriptor)


def drop_free(path: str) -> None:
    """Remove a part that nobody has."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        if _is_ours(path, descriptor):
            os.unlink(path)
    finally:
        os.close(descriptor)


def size_of(path: str) -> int:
    """The size of a file; -1 where there is none any more."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return -1


def is_held(path: str | os.PathLike[str]) -> bool:
    """Whether another process has a file, or a folder, for itself."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def number_of(path: str) -> int | None:
    """By what the file system knows a file; None where there is none."""
    try:
        return os.lstat(path).st_ino
    except OSError:
        return None


def _is_ours(path: str, descriptor: int) -> bool:
    """Whether nobody else has the file, which is still the one of that name; from now on nobody gets it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return number_of(path) == os.fstat(descriptor).st_ino
