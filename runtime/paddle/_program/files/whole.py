"""A file that is written whole or not at all.

It must never know what is in it. Guarantee: whatever ends the process or the disk, the path holds what it
held before or all that was written, and once ``write_whole`` has returned, it outlasts a cut of power. An
error of the disk names the path. Of several who write it at the same time, in one process, on one machine
or on several that share a folder, the last one's stays, whole.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Have ``write`` fill a new file, and put it in the place of ``path``; folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        _write(path, write)
        settle(path.parent)
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _write(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    fresh = path.with_name(f".{path.name}.{os.urandom(8).hex()}.new")
    try:
        with fresh.open("xb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise


def settle(folder: Path) -> None:
    """Have the names in a folder outlast a cut of power."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
