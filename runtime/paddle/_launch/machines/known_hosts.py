"""The files in which ssh remembers the keys of hosts: read as ssh reads them, added to as it would.

It must never know how a key was come by, nor who said that it is the right one.

Guarantee: a file is at any time what it was, or that and all that was to be added; no line of it is lost,
also where several write at once. What is there already is not added again. A new file is its user's alone.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import hmac
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from paddle._launch.errors import LaunchError

_TRIES = 20
_NONE = "none"  # what ssh's configuration calls no file
_REVOKED = "@revoked"


@dataclass(frozen=True, slots=True)
class HostKey:
    """A host's key. ``key``: its bytes in base64."""

    kind: str
    key: str

    @property
    def fingerprint(self) -> str:
        """As ssh shows it; of no key at all where a file has something else in its place."""
        with contextlib.suppress(ValueError):
            digest = hashlib.sha256(base64.b64decode(self.key, validate=True)).digest()
            return f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"
        return "no key"

    def __str__(self) -> str:
        return f"{self.kind} {self.fingerprint}"


@dataclass(frozen=True, slots=True)
class Known:
    """What a line of a file says of a host. ``is_revoked``: that this key is not to be believed."""

    key: HostKey
    file: Path
    is_revoked: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """A key that a host is to be known by. ``name``: ``host`` or ``[host]:port``."""

    name: str
    key: HostKey

    def line(self, *, hashed: bool) -> str:
        """It as a line. ``hashed``: so that who reads the file does not learn the names of hosts."""
        return f"{hashed_name(self.name) if hashed else self.name} {self.key.kind} {self.key.key}\n"


def find(files: Iterable[Path], name: str) -> tuple[Known, ...]:
    """All that is said of a host. Lines of authorities are passed over: what they sign is not asked for."""
    return tuple(known for file in files for known in _said(file, name.lower()))


def _said(file: Path, name: str) -> Iterator[Known]:
    for line in file.read_text("utf-8", "replace").splitlines():
        mark, *fields = line.split() if line.startswith("@") else ("", *line.split())
        if len(fields) >= 3 and mark in ("", _REVOKED) and _is_meant(fields[0], name):
            yield Known(HostKey(*fields[1:3]), file, mark == _REVOKED)


def _is_meant(names: str, name: str) -> bool:
    if names.startswith("|1|"):
        return _is_hash_of(names, name)
    patterns = names.lower().split(",")
    is_excepted = any(_fits(one[1:], name) for one in patterns if one.startswith("!"))
    return not is_excepted and any(_fits(one, name) for one in patterns)


def _fits(pattern: str, name: str) -> bool:
    special = {"*": ".*", "?": "."}
    return bool(re.fullmatch("".join(special.get(one, re.escape(one)) for one in pattern), name))


def _is_hash_of(written: str, name: str) -> bool:
    try:
        salt = base64.b64decode(written.split("|")[2], validate=True)
    except (IndexError, ValueError):
        return False
    return hmac.compare_digest(hashed_name(name, salt).encode(), written.encode())


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
        new = [one for one in entries if not before or Known(one.key, place) not in find([place], one.name)]
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
