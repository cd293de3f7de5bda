"""Where a secret would lie open to others of a machine: command lines, environments, and files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path


def everywhere() -> Iterator[tuple[str, bytes]]:
    """Command lines and environments of all processes that this user may look into."""
    for process in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "environ"):
            try:
                yield f"{process}/{name}", (process / name).read_bytes()
            except OSError:
                continue


def files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """In the order of their names; of what is replaced meanwhile, what is there by then."""
    for path in sorted(folder.rglob("*")):
        with contextlib.suppress(FileNotFoundError):
            if path.is_file() and not path.is_symlink():
                yield str(path), path.read_bytes()


def showing(secret: bytes, places: Iterable[tuple[str, bytes]]) -> list[str]:
    """The places where a secret can be read, or half of it."""
    half = secret[:32]
    return [place for place, content in places if half in content]
