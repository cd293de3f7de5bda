"""What a pod prints, followed as long as it is there, also past a stream that breaks.

It must never know what lines mean. Guarantee: lines come in their order and each once (heard.py); of one that
is longer than ``_MOST_LINE`` the parts are lines of their own, and lost is what comes of it after a break.
"""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import IO

from paddle._launch.errors import NodeError
from paddle._launch.kubernetes.heard import Heard
from paddle._launch.kubernetes.kubectl import Kubectl
from paddle._launch.machines.spool import Spool

_AGAIN_S = 1.0
_CHUNK = 1 << 16
_MOST_LINE = 1 << 21
_MOST_REST = 1000  # lines of a container of which none was heard


class Following:
    """Of the pod ``name``; ``is_over``: whether nothing more can come, asked when a stream has ended."""

    def __init__(self, kubectl: Kubectl, name: str, is_over: Callable[[], bool]) -> None:
        self._kubectl, self._name, self._is_over = kubectl, name, is_over
        self._heard = Heard()
        self._is_left = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None

    def lines(self) -> Iterator[list[str]]:
        """Give its lines, those together that came together; to be asked by a thread of its own."""
        while not self._is_left.is_set():
            was_over = self._is_over()
            with contextlib.suppress(NodeError):
                yield from self._of_one_stream()
            if was_over:
                return
            self._is_left.wait(_AGAIN_S)

    def rest(self, *, is_before: bool) -> list[str]:
        """Give what was not heard of a container that has ended, behind ``lines``; ``is_before``: another one
        has begun, or is to. Nothing where the cluster does not have it any more."""
        self._heard.begin()
        since = [f"--since-time={self._heard.since}"] if self._heard.since else [f"--tail={_MOST_REST}"]
        which = ["--previous"] if is_before else []
        try:
            said = self._kubectl.ask("logs", "--timestamps", self._name, *which, *since)
        except NodeError:
            return []
        return [text for line in said.split("\n") if line and (text := self._heard.take(line)) is not None]

    def leave(self) -> None:
        """Let go; from any thread."""
        self._is_left.set()
        if self._process is not None:
            self._process.kill()

    def _of_one_stream(self) -> Iterator[list[str]]:
        self._heard.begin()
        since = [f"--since-time={self._heard.since}"] if self._heard.since else []
        process = self._process = self._kubectl.begin("logs", "-f", "--timestamps", self._name, *since)
        if self._is_left.is_set():
            process.kill()
        assert process.stdout is not None
        assert process.stdin is not None
        process.stdin.close()
        try:
            yield from self._read(process.stdout)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def _read(self, stream: IO[bytes]) -> Iterator[list[str]]:
        spool, is_rest = Spool(), False
        while data := stream.read1(_CHUNK):  # type: ignore[attr-defined]
            spool.feed(data)
            lines: list[str | None] = []
            while (line := spool.line()) is not None:
                lines.append(self._text(line, is_rest=is_rest))
                is_rest = False
            if len(spool) > _MOST_LINE:
                lines.append(self._text(spool.take(len(spool)), is_rest=is_rest))
                is_rest = True
            if new := [line for line in lines if line is not None]:
                yield new

    def _text(self, line: bytes, *, is_rest: bool) -> str | None:
        """``is_rest``: of a line whose beginning was given already."""
        text = line.decode("utf-8", "replace")
        return text if is_rest else self._heard.take(text)
