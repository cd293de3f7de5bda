"""What a node sends of its files, put in a folder here. The node may be anybody's: nothing it says is
believed.

It must never know what carries the bytes. Guarantee, by five rules:

1. Nothing is written but below the folder that was named, which this makes.
2. A path is relative, without ``..``, and lies in a folder that was made by this same arrival. So no link
   that arrived is ever gone through.
3. Nothing that is there is replaced: what comes twice is refused.
4. A link that may lead out of the folder is left out, and that is told.
5. A file brings no more bytes than it announced, and none is begun for which the disk has no room.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from paddle._launch.agent.sender import BROKEN
from paddle._launch.errors import DeliveryError
from paddle._launch.machines.reader import Reader

MOST_ENTRIES = 1_000_000
MOST_WORDS = 1 << 28  # bytes of what it says of them
_LONGEST_LINE = 1 << 16
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LONGEST_PIECE = 1 << 20
_TOLD = 10  # of what is left out
_ENDED = "the node ended before it had sent all."


def receive(read: Callable[[int], bytes], place: Path, tell: Callable[[str], None]) -> bool:
    """Make ``place`` of what comes; False where the node has no such folder, and then nothing is made."""
    reader = Reader(read, most=MOST_WORDS, longest=_LONGEST_LINE)
    arrival: _Arrival | None = None
    for _ in range(MOST_ENTRIES):
        match reader.answer():
            case {"kind": "none", **other} if arrival is None:
                if path := other.get("instead"):
                    tell(f"{path} is not collected: it is no folder")
                return False
            case {"kind": "end"}:
                arrival = arrival or _Arrival(place, tell)
                arrival.finish()
                return True
            case {"path": str(path)} as entry:
                arrival = arrival or _Arrival(place, tell)
                arrival.take(path, entry, reader)
            case None:
                raise DeliveryError(_ENDED)
            case _:
                break
    raise DeliveryError("what the node sends is not a list of files, or has too many.")


class _Arrival:
    """One folder that is being made."""

    def __init__(self, place: Path, tell: Callable[[str], None]) -> None:
        place.mkdir()
        self._place = place
        self._tell = tell
        self._left_out = 0
        self._folders: dict[PurePosixPath, tuple[int, int]] = {PurePosixPath(): (0o755, -1)}

    def take(self, path: str, entry: dict[str, Any], reader: Reader) -> None:
        """Take an entry, and what comes behind it."""
        inner = self._checked(path)
        match entry:
            case {"kind": "folder", "mode": int(mode), "mtime_ns": int(mtime_ns)}:
                (self._place / inner).mkdir(mode=0o700)
                self._folders[inner] = mode & 0o777 | 0o700, mtime_ns
            case {"kind": "file", "mode": int(mode), "mtime_ns": int(mtime_ns), "size": int(size)}:
                self._file(self._place / inner, size, reader)
                os.chmod(self._place / inner, mode & 0o777)  # noqa: PTH101
                _set_time(self._place / inner, mtime_ns)
            case {"kind": "link", "target": str(target)}:
                self._link(inner, target)
            case {"kind": "special"}:
                self._leave_out(f"{path} is not collected: it is neither file nor folder")
            case _:
                raise DeliveryError(f"what the node sends of {path!r} is not understood.")

    def finish(self) -> None:
        """Give the folders the modes and times that they had, and say how much was left out unsaid."""
        if (more := self._left_out - _TOLD) > 0:
            self._tell(f"and {more:,} more are not collected")
        for inner, (mode, mtime_ns) in reversed(self._folders.items()):
            if mtime_ns >= 0:
                os.chmod(self._place / inner, mode)  # noqa: PTH101
                _set_time(self._place / inner, mtime_ns)

    def _leave_out(self, text: str) -> None:
        """Say it of the first: a node could have a million of them."""
        self._left_out += 1
        if self._left_out <= _TOLD:
            self._tell(text)

    def _checked(self, path: str) -> PurePosixPath:
        inner = PurePosixPath(path)
        is_plain = "\0" not in path and all(part not in ("", ".", "..") for part in path.split("/"))
        if not is_plain or inner.parent not in self._folders:
            raise DeliveryError(f"the node sends {path!r:.200}, which is not below what it was asked for.")
        return inner

    def _file(self, place: Path, size: int, reader: Reader) -> None:
        free = shutil.disk_usage(self._place).free
        if not 0 <= size <= free:
            raise DeliveryError(f"{place} has {size:,} bytes, and there is room for {free:,}.")
        with os.fdopen(os.open(place, _NEW_FILE, 0o600), "wb") as file:
            while length := int.from_bytes(_exactly(reader, 4), "big"):
                if length == BROKEN:
                    raise DeliveryError(f"{place.name} could not be read on the node.")
                size -= length
                if size < 0 or length > _LONGEST_PIECE:
                    raise DeliveryError(f"{place.name} brings more bytes than the node announced.")
                file.write(_exactly(reader, length))

    def _link(self, inner: PurePosixPath, target: str) -> None:
        if not _stays(inner, target):
            self._leave_out(
                f"{inner} is not collected: it is a link that leads elsewhere, to {target!r:.200}"
            )
            return
        (self._place / inner).symlink_to(target)


def _stays(link: PurePosixPath, target: str) -> bool:
    """Whether a link leads to what is in the folder: up first, no further than that, and then by names only.

    So whatever other links are on its way, they stay in it, too.
    """
    parts = target.split("/")
    while parts and parts[0] == "..":
        del parts[0]
    ups = target.count("/") + 1 - len(parts)
    return ups < len(link.parts) and "\0" not in target and all(part not in ("", "..") for part in parts)


def _set_time(place: Path, mtime_ns: int) -> None:
    if 0 <= mtime_ns < 1 << 62:
        os.utime(place, ns=(mtime_ns, mtime_ns))


def _exactly(reader: Reader, size: int) -> bytes:
    if (data := reader.exactly(size)) is None:
        raise DeliveryError(_ENDED)
    return data
