"""What earlier dispatches brought to a node: files by the digest of their bytes, in ``.paddle`` of ROOT_DIR.

It must never know a workspace's paths or a network. A file may be in a workspace and in the store at once, as
two names of one file, which costs neither time nor room. Jobs may write to their files, so there are rules:

1. A file is in one workspace at most. Where another one holds it, it is copied, which on file systems that
   share blocks costs next to nothing.
2. A file is what its name says while it has the size, the times and the number under which it was noted when
   it was known. Whatever else is met, be it noted or not, is copied and hashed before it is used.
3. A note is made when nobody can write to the file but through a workspace that no job has yet, and after
   the clock of the file system has moved on, so that every later change is seen.
4. What was begun and cut off is kept, and goes on where it ended. What another dispatch still receives, one
   perhaps that was cut and has not noticed, is copied as far as it is there.
5. Beyond a limit the files that were not used for longest go, but for those that a workspace has anyway.

Guarantee: a reader gets the bytes that it named or none. The notes may be lost at any time; then all is
hashed again. Dispatches that run at once share a store without harm.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from .manifest import Refused
from .part import CHUNK, Part, drop_free, is_held, number_of, size_of

_CLOCK_OF_FILES = 5  # CLOCK_REALTIME_COARSE, for which Python has no name
_PATIENCE_S = 0.05  # clocks of file systems tick in at most a hundredth of a second
_NO_LINKS = {errno.EMLINK, errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS}
_NO_RANGES = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF, errno.EPERM}
OWN = ".paddle"
AGAIN = "again"
Note = list[int]


class Changed(Exception):
    """A file changed while it was copied."""


def own_folder(root: Path) -> Path:
    """Make what dispatches keep under ``root``, for this user alone."""
    home = root / OWN
    with contextlib.suppress(FileExistsError):
        home.mkdir(0o700)
    status = home.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise Refused(
            f"{home} is not a folder that only this user writes to. Remove it, or give another ROOT_DIR"
        )
    return home


class Store:
    """The files in ``home``, which is a dispatch's own folder."""

    def __init__(self, home: Path) -> None:
        self._objects, self._parts = home / "objects", home / "parts"
        for folder in (self._objects, self._parts):
            folder.mkdir(exist_ok=True)
        self._notes_path = home / "notes"
        self._lock_path = home / "lock"
        self._notes = self._read_notes()
        self._known: dict[str, tuple[int, int]] = {}  # in this dispatch: size and time of change
        self._linked: dict[str, int] = {}  # to the workspace of this dispatch: the file's number
        self._brought: set[str] = set()
        self._begun = _begun(self._parts)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """For a moment no other dispatch links, removes or notes anything."""
        descriptor = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def has(self, digest: str) -> bool:
        """Whether the bytes of this digest are here, and are that."""
        if digest in self._known:
            return True
        path = self._objects / digest
        try:
            status = path.lstat()
        except FileNotFoundError:
            return False
        is_noted = self._notes.get(digest, [])[:4] == note(status)
        sure = status if is_noted else self._renewed(digest)
        if sure is None:
            return False
        self._known[digest] = (sure.st_size, sure.st_mtime_ns)
        return True

    def put(self, digest: str, place: Path, mode: int, mtime_ns: int, old: Path | None = None) -> bool:
        """Put a file that is here in its place in a workspace; False where it turns out not to be here.

        ``old``: where the workspace that is replaced may have it.
        """
        source = self._objects / digest
        try:
            if self._linked_to(source, place, mode, mtime_ns, old):
                self._known[digest] = (self._known[digest][0], mtime_ns)
            else:
                _check(copy(source, place), self._known[digest])
        except (FileNotFoundError, Changed):
            if not place.parent.is_dir():
                raise
            with contextlib.suppress(FileNotFoundError):
                place.unlink()
            del self._known[digest]
            return False
        finish(place, mode, mtime_ns)
        return True

    def begun(self, digest: str, size: int) -> Part | None:
        """Open the most of what is here of a file that was begun; None where nothing is."""
        most = max(self._begun.get(digest, ()), key=size_of, default=None)
        if most is None or size_of(most) <= 0:
            return None
        part = Part(most)
        try:
            if part.path != most:
                part.adopt(most)
            part.catch_up(size)
        except OSError:
            part.drop()
            raise
        return part

    def part(self, digest: str) -> Part:
        """Begin a file anew."""
        part = Part(self._parts / digest)
        os.ftruncate(part.descriptor, 0)
        return part

    def take(self, digest: str, part: Part, place: Path, mode: int, mtime_ns: int) -> bool:
        """Put a part that is whole in its place in a workspace, and keep it; False where it is not what its
        digest says, and then it is gone."""
        if part.digest() != digest:
            part.drop()
            return False
        try:
            os.link(part.path, place)
            self._linked[digest] = os.fstat(part.descriptor).st_ino
        except OSError as error:
            if error.errno not in _NO_LINKS:
                part.drop()
                raise
            copy(part.path, place)
        finish(place, mode, mtime_ns)
        status = part.move(self._objects / digest)
        self._known[digest] = (status.st_size, status.st_mtime_ns)
        self._brought.add(digest)
        return True

    def forget_brought(self) -> None:
        """Remove what this dispatch brought: the disk is full."""
        for digest in self._brought:
            with contextlib.suppress(OSError):
                (self._objects / digest).unlink()

    def note_all(self, limit: int, now: float) -> None:
        """Note what was used, and remove what was not used for longest beyond ``limit`` bytes."""
        with self.locked():
            self._notes = {**self._read_notes(), **self._fresh_notes(int(now))}
            self._evict(limit)
            self._drop_superseded()
            temporary = self._notes_path.with_name("notes.new")
            temporary.write_text(json.dumps(self._notes))
            temporary.replace(self._notes_path)

    def _read_notes(self) -> dict[str, Note]:
        try:
            notes = json.loads(self._notes_path.read_bytes())
            return {str(digest): [int(number) for number in numbers] for digest, numbers in notes.items()}
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return {}

    def _fresh_notes(self, now: int) -> dict[str, Note]:
        fresh: dict[str, Note] = {}
        for digest in self._known:
            with contextlib.suppress(FileNotFoundError):
                status = (self._objects / digest).lstat()
                if status.st_nlink == 1 or self._linked.get(digest) == status.st_ino:
                    fresh[digest] = [*note(status), now]
                elif digest in self._notes:
                    fresh[digest] = [*self._notes[digest][:4], now]
        moved_on = _moved_on(max((numbers[2] for numbers in fresh.values()), default=0))
        return fresh if moved_on else {}

    def _linked_to(self, source: Path, place: Path, mode: int, mtime_ns: int, old: Path | None) -> bool:
        try:
            with self.locked():
                status = source.lstat()
                is_free = status.st_nlink == 1
                if not is_free and status.st_nlink == 2 and old and number_of(old) == status.st_ino:
                    # The old workspace stays as it is until it is replaced: nothing of the file may change.
                    is_free = (stat.S_IMODE(status.st_mode), status.st_mtime_ns) == (mode, mtime_ns)
                if is_free:
                    os.link(source, place)
                    self._linked[source.name] = status.st_ino
                return is_free
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return False

    def _renewed(self, digest: str) -> os.stat_result | None:
        """Replace a file that is not known for sure by a copy that is; None where it is something else."""
        path = self._objects / digest
        part = self.part(f"{digest}.{AGAIN}")
        try:
            with path.open("rb") as reader:
                while data := reader.read(CHUNK):
                    part.write(memoryview(data))
        except OSError:
            part.drop()
            raise
        if part.digest() != digest:
            part.drop()
            path.unlink(missing_ok=True)
            return None
        return part.move(path)

    def _drop_superseded(self) -> None:
        """Remove what was begun of files that are here by now."""
        for digest, paths in self._begun.items():
            if (self._objects / digest).exists():
                for path in paths:
                    drop_free(path)

    def _evict(self, limit: int) -> None:
        lone = sorted(self._alone())
        excess = sum(size for _, size, _ in lone) - limit
        for _, size, path in lone:
            if excess <= 0:
                break
            if path.parent == self._objects or not is_held(path):
                path.unlink(missing_ok=True)
                self._notes.pop(path.name, None)
                excess -= size

    def _alone(self) -> Iterator[tuple[int, int, Path]]:
        """When it was used, size and path of every file that no workspace has."""
        for entry in [entry for folder in (self._objects, self._parts) for entry in os.scandir(folder)]:
            with contextlib.suppress(FileNotFoundError):  # a part that has become an object
                status = entry.stat(follow_symlinks=False)
                if status.st_nlink == 1:
                    used = self._notes.get(entry.name, [0, 0, 0, 0, int(status.st_mtime)])[4]
                    yield used, status.st_size, Path(entry.path)


def _begun(parts: Path) -> dict[str, list[Path]]:
    """What was begun, by digest; not what was only being hashed anew."""
    found: dict[str, list[Path]] = {}
    for path in parts.iterdir():
        digest, _, rest = path.name.partition(".")
        if not rest.startswith(AGAIN):
            found.setdefault(digest, []).append(path)
    return found


def note(status: os.stat_result) -> Note:
    """By what a file is known to be the one that was seen."""
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def copy(source: Path, place: Path) -> tuple[int, int]:
    """Copy a file's bytes; gives its size, and the time of its last change, as they were at the end."""
    with source.open("rb") as reader, place.open("xb") as writer:
        try:
            _copy_bytes(reader.fileno(), writer.fileno())
        except OSError as error:
            error.filename = str(place)
            raise
        status = os.fstat(reader.fileno())
    return status.st_size, status.st_mtime_ns


def _check(found: tuple[int, int], known: tuple[int, int]) -> None:
    if found != known:
        raise Changed


def finish(place: Path, mode: int, mtime_ns: int) -> None:
    """Give a file that is whole its mode and its time."""
    place.chmod(mode)
    os.utime(place, ns=(mtime_ns, mtime_ns))


def _copy_bytes(source: int, place: int) -> None:
    with contextlib.suppress(_NoRanges):
        while _copied_range(source, place):
            pass
        return
    while os.sendfile(place, source, None, CHUNK):
        pass


class _NoRanges(Exception):
    """The file system cannot copy, or share, ranges of files by itself."""


def _copied_range(source: int, place: int) -> int:
    try:
        return os.copy_file_range(source, place, 1 << 30)
    except OSError as error:
        if error.errno in _NO_RANGES:
            raise _NoRanges from error
        raise


def _moved_on(changed_ns: int) -> bool:
    """Wait until a change that comes now has a later time than ``changed_ns``; False where it does not."""
    end = time.monotonic() + _PATIENCE_S
    while (
        has_moved := time.clock_gettime_ns(_CLOCK_OF_FILES) > changed_ns
    ) is False and time.monotonic() < end:
        time.sleep(0.001)
    return has_moved
