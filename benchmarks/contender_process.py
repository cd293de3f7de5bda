"""A contender's process as the runner holds it: asks, waits with a deadline, ends it.

Guarantee: leaving the ``with`` block leaves no process behind, whatever happened inside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from contextlib import suppress

from benchmarks.benchmark import Contender
from benchmarks.environment import ROOT
from benchmarks.samples import Sample

_DEADLINE_S = 120.0
_GOODBYE_S = 10.0
_LAST_WORDS = 2000


class ContenderError(Exception):
    """A contender failed; the message has its own words."""


class ContenderProcess:
    """One contender, running ``python -m benchmarks.worker``."""

    def __init__(self, contender: Contender, environment: Mapping[str, str]):
        self.name = contender.name
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._heard = 0
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "benchmarks.worker", contender.module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._words,
            env=dict(environment),
            cwd=ROOT,
            text=True,
            bufsize=1,
        )

    def __enter__(self) -> ContenderProcess:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.stdin.close()
        try:
            self._process.wait(_GOODBYE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._words.close()

    def tell(self, request: Mapping[str, object]) -> None:
        """Send a request without waiting for its answer."""
        with suppress(BrokenPipeError):  # the missing answer will tell it, with the process's last words
            print(json.dumps(request), file=self._process.stdin, flush=True)

    def hear(self) -> dict[str, object]:
        """The answer to the request sent last."""
        leash = threading.Timer(_DEADLINE_S, self._process.kill)
        leash.start()
        try:
            line = self._process.stdout.readline()
        finally:
            leash.cancel()
        if not line:
            raise ContenderError(f"{self.name}: its process ended with no answer\n{self._last_words()}")
        answer = json.loads(line)
        if "error" in answer:
            raise ContenderError(f"{self.name}: {answer['error']}{self._last_words()}")
        return answer

    def sample(self, count: int) -> Sample:
        """Do ``count`` units of the prepared work."""
        self.tell({"do": "run", "count": count})
        answer = self.hear()
        return Sample(answer["wall_s"], answer["cpu_s"])

    def _last_words(self) -> str:
        """The end of what it printed. Read without seeking: it writes through the same open file."""
        size = os.fstat(self._words.fileno()).st_size
        start = max(self._heard, size - _LAST_WORDS)
        self._heard = size
        return os.pread(self._words.fileno(), size - start, start).decode(errors="replace")
