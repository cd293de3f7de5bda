"""State file: the queue on disk, so that a killed master goes on.

One line with the version and a checksum, then the state as JSON. It must never know what the state means.

Guarantee: the file is wholly the state before a ``save`` or wholly the one after it, whenever the process or
the machine stops; a damaged one is named and never taken for none. One process at a time has it.
"""

from __future__ import annotations

import fcntl
import os
import zlib
from pathlib import Path
from typing import IO

import msgspec

from paddle._pserver.tasks.errors import StateNotSaved
from paddle._pserver.tasks.messages import State

_HEAD = "paddle-master-state 1 {:08x}\n"


class StateFile:
    """The file at ``path``, from ``open`` to ``close``."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self._lock: IO[bytes] | None = None

    def open(self) -> State | None:
        """Take the file, and give the state in it, if there is one. Raises StateNotSaved."""
        try:
            self._lock = self.path.with_name(self.path.name + ".lock").open("wb")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            text = self.path.read_bytes()
        except FileNotFoundError as error:
            if self._lock is None:
                raise StateNotSaved(f"the folder of the state file {self.path} is not there") from error
            return None
        except BlockingIOError:
            raise StateNotSaved(
                f"the state file {self.path} is another master's: give each its own"
            ) from None
        except OSError as error:
            raise StateNotSaved(f"the state file cannot be used: {error}") from error
        head, _, body = text.partition(b"\n")
        try:
            if head + b"\n" != _head(body):
                raise ValueError("it is not whole, or no state file")
            return msgspec.json.decode(body, type=State)
        except (ValueError, msgspec.DecodeError) as error:
            raise StateNotSaved(
                f"the state file {self.path} is damaged: {error}. Move it away to begin anew with pass 0"
            ) from None

    def close(self) -> None:
        """Leave the file to another master; the end of the process does so too."""
        if self._lock:
            self._lock.close()
            self._lock = None

    def save(self, state: State) -> None:
        """Put ``state`` in place of what is there. Raises StateNotSaved; then the old one is there."""
        body = msgspec.json.encode(state)
        new = self.path.with_name(self.path.name + ".new")
        try:
            with new.open("wb") as file:
                file.write(_head(body) + body)
                file.flush()
                os.fsync(file.fileno())
            new.replace(self.path)
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise StateNotSaved(f"the state of the queue cannot be saved: {error}") from error


def _head(body: bytes) -> bytes:
    return _HEAD.format(zlib.crc32(body)).encode("ascii")
