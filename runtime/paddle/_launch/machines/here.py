"""This machine, spoken with as others are: programs of the agent run here, and nothing is sent anywhere.

It must never know what they do. Guarantee: a program that is let go of is gone.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import tempfile

from paddle._launch.errors import NodeLost
from paddle._launch.machines import refusals

_SILENCE_S = 600.0
_COMPLAINT = 1 << 14


class Process:
    """A program of this machine, as transport.Stream is one of another."""

    def __init__(self, command: str, *, errors_too: bool = False) -> None:
        self._errors = tempfile.TemporaryFile()  # a pipe could fill up  # noqa: SIM115  for its life
        self._program = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if errors_too else self._errors,
            bufsize=0,
            cwd="/",
            start_new_session=True,  # Ctrl+C is for this process
        )
        assert self._program.stdin and self._program.stdout
        self._input, self._output = self._program.stdin, self._program.stdout

    def send(self, data: bytes | memoryview) -> None:
        """Send all of ``data``."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._input.fileno(), rest) :]
        except OSError as error:
            raise NodeLost(f"it listens no more: {error.strerror}.") from error

    def offer(self, data: bytes) -> None:
        """Send all of ``data`` to a program that may have ended; then its status says why."""
        with contextlib.suppress(NodeLost):
            self.send(data)

    def receive(self, most: int) -> bytes:
        """What it has printed, at most so many bytes of it; empty where nothing more will come."""
        if not select.select([self._output], [], [], _SILENCE_S)[0]:
            raise refusals.silent(_SILENCE_S)
        return os.read(self._output.fileno(), most)

    def complaint(self) -> str:
        """The last line that it wrote to standard error."""
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - _COMPLAINT))
        return refusals.last_line(self._errors.read())

    def status(self) -> int:
        """Its exit status, once it has printed all; less than 0 where it was killed."""
        return self._program.wait()

    def close(self) -> None:
        """Let go of it."""
        self._program.kill()
        with contextlib.suppress(OSError), self._program:  # what it was not told any more
            self._errors.close()


class Here:
    """This machine, as a node that is reached."""

    def __init__(self) -> None:
        self._begun: list[Process] = []

    def begin(self, command: str, *, errors_too: bool = False) -> Process:
        """Begin a program."""
        self._begun.append(Process(command, errors_too=errors_too))
        return self._begun[-1]

    def close(self) -> None:
        """Let go of all that runs."""
        for process in self._begun:
            process.close()
