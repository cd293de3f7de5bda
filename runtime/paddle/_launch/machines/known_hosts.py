"""The file in which ssh remembers the keys of hosts, added to as ssh itself would.

It must never know how a key was come by, nor who said that it is the right one.

Guarantee: the file is at any time what it was, or that and all that was to be added; no line of it is lost,
also where several write at once. What is there already is not added again. A new file is its user's alone.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import hmac
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from paddle._launch.errors import LaunchError

_TRIES = 20
_NONE = "none"  # what ssh's configuration calls no file


@dataclass(frozen=True, slots=True)
class Entry:
    """A key of a host. ``name``: ``host`` or ``[host]:port``; ``key``: its bytes in base64."""

    name: str
    kind: str
    key: str

    def line(self, *, hashed: bool) -> str:
        """It as a line. ``hashed``: so that who reads the file does not learn the names of hosts."""
        return f"{hashed_name(self.name) if hashed else self.name} {self.kind} {self.key}\n"


def hashed_name(name: str, salt: bytes = b"") -> str:
    """A name as only who knows it finds it again."""
    salt = salt or os.urandom(hashlib.sha1().digest_size)
    digest = hmac.digest(salt, name.encode(), "sha1")
    return f"|1|{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


def file_to_write(configured: str) -> Path:
    """The first of the files that ``UserKnownHostsFile`` names, links followed; ssh adds to that one."""
    first = (configured.split() or ["~/.ssh/known_hosts"])[0]
    if first == _NONE:
        raise LaunchError(
            "UserKnownHostsFile is none in your ssh configuration, so there is no file in which host keys "
            "could be kept. Take that line out, or name a file there."
        )
    return Path(os.path.realpath(Path(first).expanduser()))


def add(place: Path, entries: Iterable[Entry], *, hashed: bool) -> int:
    """Add those that are not in the file yet; gives how many these are."""
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with _alone(place.parent):
            return _add(place, tuple(dict.fromkeys(entries)), hashed=hashed)
    except OSError as error:
        raise LaunchError(
            f"cannot write {place}: {error.strerror}. Nothing was added to it. Give this user the right to "
            "write it, or make room."
        ) from error


def _add(place: Path, entries: tuple[Entry, ...], *, hashed: bool) -> int:
    for _ in range(_TRIES):
        before = _stamp(place)
        text = place.read_bytes() if before else b""
        new = [entry for entry in entries if not _has(text, entry)]
        if not new:
            return 0
        if text and not text.endswith(b"\n"):
            text += b"\n"
        added = "".join(entry.line(hashed=hashed) for entry in new).encode()
        with _replacement(place, text + added) as whole:
            if _stamp(place) == before:  # else ssh, which takes no lock, has added something meanwhile
                whole.replace(place)
                return len(new)
    raise LaunchError(f"{place} is being written by another program again and again. Try again.")


def _has(text: bytes, entry: Entry) -> bool:
    """Whether a line says so, in plain words or not."""
    for line in text.splitlines():
        fields = line.decode("utf-8", "replace").split()
        if fields[1:3] == [entry.kind, entry.key] and any(
            _means(name, entry.name) for name in fields[0].split(",")
        ):
            return True
    return False


def _means(written: str, name: str) -> bool:
    if not written.startswith("|1|"):
        return written == name
    salt = written.split("|")[2]
    try:
        return hmac.compare_digest(hashed_name(name, base64.b64decode(salt, validate=True)), written)
    except ValueError:  # no base64
        return False


@contextlib.contextmanager
def _replacement(place: Path, content: bytes) -> Iterator[Path]:
    """The file as it is to be, whole and on the disk; removed where it does not take its place."""
    descriptor, name = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, place.stat().st_mode & 0o777 if place.exists() else 0o600)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else who asks for it does the same meanwhile. The folder is the lock: no file stays behind."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _stamp(place: Path) -> tuple[int, int, int] | None:
    try:
        status = place.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
