"""Growth: what was added to the .INFO files of a log folder since the last look.

It must never know who writes them. Guarantee: a look never waits, reads no more than ``_MOST`` bytes of a
file, follows no link, and never raises.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

_MOST = 1 << 17
_HOW = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class Growth:
    """Of one folder. ``is_told``: what is there already was looked at by another one."""

    def __init__(self, folder: Path, *, is_told: bool = False) -> None:
        self._folder = folder
        self._read: dict[str, int] = {}
        if is_told:
            with contextlib.suppress(OSError):
                self._read = {path.name: path.stat().st_size for path in folder.glob("*.INFO")}

    def look(self) -> Iterator[tuple[str, str]]:
        """Give the name of each file that has grown, and what was added: bytes that are no UTF-8 become
        surrogates, so that none is lost."""
        with contextlib.suppress(OSError):
            for path in sorted(self._folder.glob("*.INFO")):
                if added := self._added(path):
                    yield path.name, added.decode("utf-8", "surrogateescape")

    def _added(self, path: Path) -> bytes:
        try:
            file = os.open(path, _HOW)
        except OSError:
            return b""
        try:
            found = os.fstat(file)
            before = self._read.get(path.name, 0)
            if not stat.S_ISREG(found.st_mode):
                return b""
            before = before if before <= found.st_size else 0  # it was begun anew
            added = os.pread(file, _MOST, before)
        except OSError:
            return b""
        finally:
            os.close(file)
        self._read[path.name] = before + len(added)
        return added
