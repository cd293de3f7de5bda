"""Heralding: what failed on one machine of a job is told to the servers of all.

A process that fails tells the servers itself, if it has met them and if it still can. One that was killed, or
has not come that far, cannot, and servers of other machines would wait for it until their patience is over.
So its launcher says it, by a process of its own, before it stops the others: what was the cause comes first.
That process is there as long as the launcher is, and says what became of it, too, should it be killed.

It must never know a protocol. Guarantee: it delays the end of what runs here by no more than ``_FIRST_S``,
and the launcher's own by no more than ``_LAST_S`` (after a signal: not at all, and ``_HURRIED_S``).
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

_FIRST_S, _LAST_S, _HURRIED_S = 5.0, 10.0, 3.0
_LAUNCHER = "a launcher"


class Heralding:
    """Of the part of a job that is at ``here``. ``servers``: of the whole job; ``folder`` and ``environ``: as
    of its roles. To be entered before anything is started, and left when all has ended."""

    def __init__(
        self,
        python: str,
        runtime: Path,
        servers: Sequence[str],
        here: str,
        folder: Path,
        environ: Mapping[str, str],
    ) -> None:
        path = os.pathsep.join(filter(None, [str(runtime), environ.get("PYTHONPATH", "")]))
        self._argv = [python, "-P", "-m", "paddle._herald"]
        self._servers, self._here, self._folder = list(servers), here, folder
        self._environ = {**environ, "PYTHONPATH": path}
        self._process: subprocess.Popen[str] | None = None
        self._until = 0.0

    def __enter__(self) -> Self:
        # Where there is no room for another process, they wait until their patience is over.
        with suppress(OSError):
            self._process = subprocess.Popen(
                self._argv,
                stdin=subprocess.PIPE,
                cwd=self._folder,
                env=self._environ,
                text=True,
                start_new_session=True,  # Ctrl+C is the launcher's
            )
            self._write(f"the launcher at {self._here} was killed", None, _LAUNCHER, _LAST_S, insists=True)
        return self

    def __exit__(self, *_: object) -> None:
        """Wait until all are told, or the time is over."""
        try:
            self._wait(self._until - time.monotonic())
        finally:
            if self._process is not None:
                self._process.kill()
                self._process.communicate()

    def tell(
        self, text: str, trainer: int | None, other: str = "", *, has_met: bool, hurries: bool = False
    ) -> None:
        """Begin to tell what has fallen: ``trainer``, where it was one, ``other`` role, or the launcher; wait
        a while, unless it ``hurries``. ``has_met``: trainers have come to servers, so those that are not
        there are gone."""
        within_s = _HURRIED_S if hurries else _LAST_S
        self._until = time.monotonic() + within_s
        with suppress(OSError):  # somebody has ended it
            self._write(text, trainer, other or _LAUNCHER, within_s, insists=not has_met)
        if not hurries:
            self._wait(_FIRST_S)

    def _write(self, text: str, trainer: int | None, other: str, within_s: float, *, insists: bool) -> None:
        """The last line that was written is what is told: the first when there is no launcher any more, the
        second at once."""
        told = {
            "servers": self._servers,
            "text": text,
            "trainer": trainer,
            "other": other,
            "within_s": within_s,
            "insists": insists,
        }
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(json.dumps(told) + "\n")
            self._process.stdin.flush()

    def _wait(self, seconds: float) -> None:
        if self._process is not None and seconds > 0:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
