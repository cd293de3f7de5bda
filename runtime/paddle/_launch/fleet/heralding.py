"""Heralding: what failed on one machine of a job is told to the servers of all.

A process that fails tells the servers itself, if it has met them and if it still can. One that was killed, or
has not come that far, cannot, and servers of other machines would wait for it until their patience is over.
So its launcher says it, by a process of its own, before it stops the others: what was the cause comes first.

It must never know a protocol. Guarantee: it delays the end of what runs here by no more than ``_FIRST_S``,
and the launcher's own by no more than ``_LAST_S`` (after a signal: not at all, and ``_HURRIED_S``).
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

_FIRST_S, _LAST_S, _HURRIED_S = 5.0, 10.0, 3.0


class Heralding:
    """Of one machine's part. ``servers``: of the whole job; ``folder`` and ``environ``: as of its roles."""

    def __init__(
        self, python: str, runtime: Path, servers: Sequence[str], folder: Path, environ: Mapping[str, str]
    ) -> None:
        path = os.pathsep.join(filter(None, [str(runtime), environ.get("PYTHONPATH", "")]))
        self._argv = [python, "-P", "-m", "paddle._herald"]
        self._servers, self._folder = list(servers), folder
        self._environ = {**environ, "PYTHONPATH": path}
        self._process: subprocess.Popen[str] | None = None
        self._until = 0.0

    def tell(self, text: str, trainer: int | None, *, has_met: bool, hurries: bool = False) -> None:
        """Begin to tell what has fallen: ``trainer``, where it was one; wait a while, unless it ``hurries``.
        ``has_met``: trainers have come to servers, so those that are not there are gone."""
        within_s = _HURRIED_S if hurries else _LAST_S
        self._until = time.monotonic() + within_s
        told = {
            "servers": self._servers,
            "text": text,
            "trainer": trainer,
            "within_s": within_s,
            "insists": not has_met,
        }
        try:
            self._process = subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE,
                cwd=self._folder,
                env=self._environ,
                text=True,
                start_new_session=True,  # Ctrl+C is the launcher's
            )
            assert self._process.stdin is not None
            self._process.stdin.write(json.dumps(told) + "\n")
            self._process.stdin.flush()
        except OSError:  # there is no room for another process: they wait until their patience is over
            return
        if not hurries:
            self._wait(_FIRST_S)

    def finish(self) -> None:
        """Wait until all are told, or the time is over."""
        try:
            self._wait(self._until - time.monotonic())
        finally:
            if self._process is not None:
                self._process.kill()
                self._process.communicate()

    def _wait(self, seconds: float) -> None:
        if self._process is not None and seconds > 0:
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                return
