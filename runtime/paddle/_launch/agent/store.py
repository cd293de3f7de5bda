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
from collections import namedtuple
from collections.abc import Iterator, Sequence

from .manifest import Refused
from .part import CHUNK, Part, drop_free, is_held, number_of, size_of

_CLOCK_OF_FILES = 5  # CLOCK_REALTIME_COARSE, for which Python has no name
_PATIENCE_S = 0.05  # clocks of file systems tick in at most a hundredth of a second
_NO_LINKS = {errno.EMLINK, errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS}
_NO_RANGES = {errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF, errno.EPERM}
OWN = ".paddle"
AGAIN = "again"
_AT_ONCE = 500  # files that are linked while others wait
_NUMBERS = [int] * 5  # of a note, and when the file was used
_NO_NOTE: list[int] = []
Note = list[int]


class Changed(Exception):
    """A file changed while it was copied."""


# A file that is to be in a workspace. ``old``: where the workspace that is replaced may have it, or None.
Wanted = namedtuple("Wanted", ("digest", "place", "mode", "mtime_ns", "old"))


def own_folder(root: str | os.PathLike[str]) -> str:
    """Make what dispatches keep under ``root``, for this user alone."""
    home = os.path.join(root, OWN)
    with contextlib.suppress(FileExistsError):
        os.mkdir(home, 0o700)
    status = os.lstat(home)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o022:
        raise Refused(
            f"{home} is not a folder that only this user writes to. Remove it, or give another ROOT_DIR"
        )
    return home


class Store:
    """The files in ``home``, which is a dispatch's own folder."""

    def __init__(self, home: str | os.PathLike[str]) -> None:
        self._objects, self._parts = f"{home}/objects", f"{home}/parts"
        for folder in (self._objects, self._parts):
            os.makedirs(folder, exist_ok=True)
        self._notes_path = f"{home}/notes"
        self._lock_path = f"{home}/lock"
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

    def link(self, wanted: Sequence[Wanted]) -> list[Wanted]:
        """Put those files in their places that are here for sure, and in no workspace; gives the others."""
        left = []
        for start in range(0, len(wanted), _AT_ONCE):
            with self.locked():
                left += [one for one in wanted[start : start + _AT_ONCE] if not self._link(one)]
        return left

    def put(self, wanted: Wanted) -> bool:
        """Put a file in its place if it is here, whatever that takes; False where it is not, or turns out not
        to be."""
        digest, place = wanted.digest, wanted.place
        if digest not in self._known and not os.path.exists(f"{self._objects}/{digest}"):
            return False
        try:
            if digest in self._known or not self._renew_and_link(wanted):
                _check(copy(f"{self._objects}/{digest}", place), self._known[digest])
                finish(place, wanted.mode, wanted.mtime_ns)
        except (FileNotFoundError, Changed):
            if not os.path.isdir(os.path.dirname(place)):
                raise
            with contextlib.suppress(FileNotFoundError):
                os.unlink(place)
            self._known.pop(digest, None)
            return False
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
        part = Part(f"{self._parts}/{digest}")
        os.ftruncate(part.descriptor, 0)
        return part

    def take(self, digest: str, part: Part, place: str, mode: int, mtime_ns: int) -> bool:
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
        status = part.move(f"{self._objects}/{digest}")
        self._known[digest] = (status.st_size, status.st_mtime_ns)
        self._brought.add(digest)
        return True

    def forget_brought(self) -> None:
        """Remove what this dispatch brought: the disk is full."""
        for digest in self._brought:
            with contextlib.suppress(OSError):
                os.unlink(f"{self._objects}/{digest}")

    def note_all(self, limit: int, now: float) -> None:
        """Note what was used, and remove what was not used for longest beyond ``limit`` bytes."""
        with self.locked():
            found = _statuses(self._objects)
            self._notes = {**self._read_notes(), **self._fresh_notes(found, int(now))}
            self._evict(found, limit)
            self._drop_superseded()
            temporary = f"{self._notes_path}.new"
            with open(temporary, "w", encoding="utf-8") as file:
                file.write(json.dumps(self._notes))
            os.replace(temporary, self._notes_path)

    def _read_notes(self) -> dict[str, Note]:
        try:
            with open(self._notes_path, "rb") as file:
                notes = json.loads(file.read())
            is_sound = all(list(map(type, row)) == _NUMBERS for row in notes.values())
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return {}
        return notes if is_sound else {}

    def _fresh_notes(self, found: dict[str, os.stat_result], now: int) -> dict[str, Note]:
        fresh: dict[str, Note] = {}
        for digest in self._known.keys() & found.keys():
            status = found[digest]
            if status.st_nlink == 1 or self._linked.get(digest) == status.st_ino:
                fresh[digest] = [*note(status), now]
            elif digest in self._notes:
                fresh[digest] = [*self._notes[digest][:4], now]
        moved_on = _moved_on(max((numbers[2] for numbers in fresh.values()), default=0))
        return fresh if moved_on else {}

    def _link(self, wanted: Wanted) -> bool:
        """Put a file that is here in its place, unless another workspace has it; others are locked out."""
        digest, place, mode, mtime_ns, old = wanted
        source = f"{self._objects}/{digest}"
        try:
            status = os.lstat(source)
            seen = (status.st_size, status.st_mtime_ns)
            if digest not in self._known and self._notes.get(digest, _NO_NOTE)[:4] != note(status):
                return False
            if self._known.setdefault(digest, seen) != seen:
                return False
            is_as_wanted = (stat.S_IMODE(status.st_mode), status.st_mtime_ns) == (mode, mtime_ns)
            # An old workspace stays as it is until it is replaced: nothing of the file may change.
            is_olds = status.st_nlink == 2 and old and is_as_wanted and number_of(old) == status.st_ino
            if status.st_nlink != 1 and not is_olds:
                return False
            os.link(source, place)
        except FileNotFoundError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return False
        self._linked[digest] = status.st_ino
        if not is_as_wanted:
            finish(place, mode, mtime_ns)
            self._known[digest] = (status.st_size, mtime_ns)
        return True

    def _renew_and_link(self, wanted: Wanted) -> bool:
        """Do it with a file of which it is not known what it is, once that is known. False where it cannot
        be linked; raises FileNotFoundError where it turns out not to be here."""
        status = self._renewed(wanted.digest)
        self._known[wanted.digest] = (status.st_size, status.st_mtime_ns)
        with self.locked():
            return self._link(wanted)

    def _renewed(self, digest: str) -> os.stat_result:
        """Replace a file that is not known for sure by a copy that is; raises FileNotFoundError where it is
        something else."""
        path = f"{self._objects}/{digest}"
        with open(path, "rb", buffering=0) as reader:
            part = self.part(f"{digest}.{AGAIN}")
            try:
                while data := reader.read(CHUNK):
                    part.write(memoryview(data))
            except OSError:
                part.drop()
                raise
        if part.digest() != digest:
            part.drop()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return part.move(path)

    def _drop_superseded(self) -> None:
        """Remove what was begun of files that are here by now."""
        for digest, paths in self._begun.items():
            if os.path.exists(f"{self._objects}/{digest}"):
                for path in paths:
                    drop_free(path)

    def _evict(self, found: dict[str, os.stat_result], limit: int) -> None:
        """Remove what no workspace has, but for the newest ``limit`` bytes. ``found``: all files here."""
        lone = {
            f"{folder}/{name}": status
            for folder, statuses in ((self._objects, found), (self._parts, _statuses(self._parts)))
            for name, status in statuses.items()
            if status.st_nlink == 1
        }
        excess = sum(status.st_size for status in lone.values()) - limit
        if excess <= 0:
            return
        for _, path in sorted((self._used(path, status), path) for path, status in lone.items()):
            if excess <= 0:
                break
            if path.startswith(self._objects) or not is_held(path):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)
                self._notes.pop(os.path.basename(path), None)
                excess -= lone[path].st_size

    def _used(self, path: str, status: os.stat_result) -> int:
        """When a file was used last."""
        return self._notes.get(os.path.basename(path), [0, 0, 0, 0, int(status.st_mtime)])[4]


def _statuses(folder: str) -> dict[str, os.stat_result]:
    found = {}
    for entry in os.scandir(folder):
        with contextlib.suppress(FileNotFoundError):  # it is gone, or a part that has become an object
            found[entry.name] = entry.stat(follow_symlinks=False)
    return found


def _begun(parts: str) -> dict[str, list[str]]:
    """What was begun, by digest; not what was only being hashed anew."""
    found: dict[str, list[str]] = {}
    for name in os.listdir(parts):
        digest, _, rest = name.partition(".")
        if not rest.startswith(AGAIN):
            found.setdefault(digest, []).append(f"{parts}/{name}")
    return found


def note(status: os.stat_result) -> Note:
    """By what a file is known to be the one that was seen."""
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def copy(source: str, place: str) -> tuple[int, int]:
    """Copy a file's bytes; gives its size, and the time of its last change, as they were at the end."""
    reader = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
    try:
        _copy_to(place, reader)
        status = os.fstat(reader)
    finally:
        os.close(reader)
    return status.st_size, status.st_mtime_ns


def _copy_to(place: str, reader: int) -> None:
    writer = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        _copy_bytes(reader, writer)
    except OSError as error:
        error.filename = place
        raise
    finally:
        os.close(writer)


def _check(found: tuple[int, int], known: tuple[int, int]) -> None:
    if found != known:
        raise Changed


def finish(place: str, mode: int, mtime_ns: int) -> None:
    """Give a file that is whole its mode and its time."""
    os.chmod(place, mode)
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
