"""A caller at the desk of a launch, from another shell: asks, and listens.

It must never know what is done with the answers. Guarantee: no call waits longer than ``patience_s`` for a
launch that hangs; that one does not answer is ``NoAnswer``, and that its desk is not there is too.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import msgspec

from paddle._launch import bulletins
from paddle._launch.errors import JobError
from paddle._launch.jobs.desk import SOCKET
from paddle._launch.jobs.record import State

PATIENCE_S = 5.0


class NoAnswer(JobError):
    """A launch lives, but does not answer: it hangs or was paused, or it has just begun or ended."""


class Caller:
    """One visit; a context manager."""

    def __init__(self, folder: Path, patience_s: float = PATIENCE_S) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(patience_s)
        try:
            handle = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                self._socket.connect(f"/proc/self/fd/{handle}/{SOCKET}")
            finally:
                os.close(handle)
        except OSError as error:
            self._socket.close()
            raise NoAnswer(f"the launcher of {folder.name} does not answer: {error.strerror}.") from error
        self._lines = self._socket.makefile("rb")

    def __enter__(self) -> Caller:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()
        self._socket.close()

    def state(self) -> State:
        """Ask how the launch stands."""
        told = self._answer({"ask": "state"})
        return msgspec.convert(told.get("state"), State)

    def stop(self, *, grace_s: float | None, kill: bool, by: str) -> None:
        """Ask that the job be stopped; it was heard, which is not yet done."""
        self._answer({"ask": "stop", "grace_s": grace_s, "kill": kill, "by": by})

    def follow(self) -> Iterator[dict[str, Any]]:
        """Give the news of the launch from the first that is kept, to its end. Beats are given, too, so that
        who listens has a turn every second."""
        return self._listen("follow")

    def lines(self) -> Iterator[dict[str, Any]]:
        """Give what roles print likewise."""
        return self._listen("lines")

    def _listen(self, ask: str) -> Iterator[dict[str, Any]]:
        self._say({"ask": ask})
        while line := self._hear():
            yield bulletins.read(line)

    def _answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._say(asked)
        if not (line := self._hear()):
            raise NoAnswer("the launcher has ended, or does not speak with this user.")
        return bulletins.read(line)

    def _say(self, asked: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # heard as an end, then
            self._socket.sendall(bulletins.encoded(asked).encode() + b"\n")

    def _hear(self) -> bytes:
        try:
            return self._lines.readline()
        except ConnectionResetError:
            return b""
        except TimeoutError as error:
            patience = self._socket.gettimeout()
            raise NoAnswer(
                f"the launcher says nothing for {patience:g} s: it hangs, or it was paused."
            ) from error
