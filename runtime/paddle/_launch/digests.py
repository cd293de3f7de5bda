"""The digests of a package's files, and a cache of them, so that a second launch hashes nothing anew.

It must never know where files go. Guarantee: a digest is that of the bytes that a file had when it was asked
for. One is taken from the cache only for a file that has not been written to since: its size, its times and
its number are those under which it was kept, and none is kept of a file that changed so shortly before that
another change could have the same time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from paddle._launch.errors import DeliveryError, DeliveryStopped

_CHUNK = 1 << 20
_MOST = 1_000_000  # digests of other packages are kept, too, while they are fewer
_SETTLED_NS, _COARSE_NS = 20_000_000, 2_000_000_000  # what a clock of a file system takes to go on


class Digest(NamedTuple):
    """A file as it was when it was hashed."""

    mode: int
    mtime_ns: int
    size: int
    sha256: str


class DigestCache:
    """Keeps digests in the file ``path``; ``clock`` gives nanoseconds since 1970."""

    def __init__(self, path: Path, clock: Callable[[], int] = time.time_ns) -> None:
        self._path = path
        self._clock = clock
        self._kept: Mapping[str, list[object]] = _read(path)
        self._read: list[int] = []
        self._lock = threading.Lock()

    @property
    def hashed(self) -> int:
        """How many bytes had to be read."""
        return sum(self._read)

    def of_all(self, paths: Iterable[Path], is_stopped: Callable[[], bool]) -> dict[Path, Digest]:
        """Give the digest of every file, hashing several at once."""
        with self._lock:
            return self._of_all(list(dict.fromkeys(paths)), is_stopped)

    def _of_all(self, wanted: Sequence[Path], is_stopped: Callable[[], bool]) -> dict[Path, Digest]:
        kept: dict[str, list[object]] = {}
        with _naming_what_cannot_be_read():
            found = {path: self._found(path, kept) for path in wanted}
            new = [path for path, digest in found.items() if digest is None]
            if new:
                with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
                    hashed = pool.map(lambda path: self._of(path, kept, is_stopped), new)
                    found.update(zip(new, hashed, strict=True))
        if any(self._kept.get(path) != row for path, row in kept.items()):
            others = self._kept if len(self._kept) < _MOST else {}
            self._kept = {**others, **kept}
            self._keep()
        return {path: digest for path, digest in found.items() if digest}

    def _found(self, path: Path, kept: dict[str, list[object]]) -> Digest | None:
        """The digest of a file that was not written to since it was hashed; None where that is unsure."""
        status = path.stat()
        row = self._kept.get(name := str(path), [])
        if row[:4] != _note(status):
            return None
        kept[name] = row
        return _digest(status, str(row[4]))

    def _of(self, path: Path, kept: dict[str, list[object]], is_stopped: Callable[[], bool]) -> Digest:
        with path.open("rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            is_settled = self._is_settled(status)
            digest = self._hashed(file, is_stopped)
        if is_settled:
            kept[str(path)] = [*_note(status), digest]
        return _digest(status, digest)

    def _hashed(self, file: FileIO, is_stopped: Callable[[], bool]) -> str:
        hasher = hashlib.sha256()
        while data := file.read(_CHUNK):
            hasher.update(data)
            self._read.append(len(data))
            if is_stopped():
                raise DeliveryStopped(f"{file.name!r} was not read to its end: the launch was stopped.")
        return hasher.hexdigest()

    def _is_settled(self, status: os.stat_result) -> bool:
        changed = max(status.st_ctime_ns, status.st_mtime_ns)
        return self._clock() - changed > (_SETTLED_NS if changed % 1_000_000_000 else _COARSE_NS)

    def _keep(self) -> None:
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):  # then they are hashed again
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary.touch(mode=0o600)  # it tells what files there are
            temporary.write_text(json.dumps(self._kept))
            temporary.replace(self._path)


@contextlib.contextmanager
def _naming_what_cannot_be_read() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DeliveryError(
            f"cannot read {error.filename}: {error.strerror}. Fix it, or remove it from the package."
        ) from error


def _note(status: os.stat_result) -> list[object]:
    """By what a file is known not to have been written to."""
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _digest(status: os.stat_result, sha256: str) -> Digest:
    return Digest(status.st_mode & 0o777, status.st_mtime_ns, status.st_size, sha256)


def _read(path: Path) -> Mapping[str, list[object]]:
    try:
        read = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    is_sound = isinstance(read, dict) and all(
        isinstance(row, list) and len(row) == 5 for row in read.values()
    )
    return read if is_sound else {}
