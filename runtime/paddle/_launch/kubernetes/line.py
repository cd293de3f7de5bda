"""A line into a pod: programs there, by ``kubectl exec``, as transport.py has them by SSH.

It must never know what they are for. Guarantee: every call that speaks with one ends with what it said or a
typed error, and who is silent for ``_SILENCE_S`` is given up.
"""

from __future__ import annotations

import select
import subprocess
import tempfile
from typing import IO

from paddle._launch.errors import NodeLost
from paddle._launch.kubernetes.kubectl import Kubectl

_SILENCE_S = 60.0
_ENDING_S = 5.0
_MOST_COMPLAINT = 1 << 14


class PodLine:
    """To the pod ``name``."""

    def __init__(self, kubectl: Kubectl, name: str) -> None:
        self._kubectl, self._name = kubectl, name

    def begin(self, command: str, *, errors_too: bool = False) -> PodStream:
        """Begin a program there."""
        said = tempfile.TemporaryFile()  # noqa: SIM115  for its life
        words = ("exec", "-i", self._name, "--", "sh", "-c", command)
        return PodStream(self._kubectl.begin(*words, errors=said), said)

    def close(self) -> None:
        """There is nothing to let go of: every program has a connection of its own."""


class PodStream:
    """A program in a pod; see transport.Stream."""

    def __init__(self, process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
        self._process, self._said = process, said

    def send(self, data: bytes | memoryview) -> None:
        """Send something."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(data)
            self._process.stdin.flush()
        except OSError as error:
            raise NodeLost(f"its connection broke: {self.complaint() or error.strerror}.") from error

    def offer(self, data: bytes) -> None:
        """Send something short, whether it is still read or not: what it says tells more."""
        try:
            self.send(data)
        except NodeLost:
            return

    def receive(self, most: int) -> bytes:
        """Give the next bytes; none when it has said all."""
        stdout = self._process.stdout
        assert stdout is not None
        if not select.select([stdout], [], [], _SILENCE_S)[0]:
            self.close()
            raise NodeLost(f"nothing was heard from it for {_SILENCE_S:.0f} s.")
        return bytes(stdout.read1(most))  # type: ignore[attr-defined]

    def complaint(self) -> str:
        """What was said on standard error."""
        self._said.seek(0)
        return self._said.read(_MOST_COMPLAINT).decode("utf-8", "replace").strip()

    def status(self) -> int:
        """How it ended; -1 where that is not known."""
        try:
            return self._process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            return -1

    def close(self) -> None:
        """Let go."""
        self._process.kill()
