"""A contender's process as the runner holds it: what it answers, and its last words where it does not.

Guarantee: leaving the ``with`` block leaves no process behind, whatever happened inside.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping

from benchmarks.benchmark import Contender
from benchmarks.json_process import JsonProcess
from benchmarks.samples import Sample

PEER_PYTHON = "BENCHMARKS_PEER_PYTHON"
_DEADLINE_S = 120.0
_LAST_WORDS = 2000


class ContenderError(Exception):
    """A contender failed; the message has its own words."""


class ContenderProcess:
    """One contender, running ``python -m benchmarks.worker``."""

    def __init__(self, contender: Contender, environment: Mapping[str, str], python: str = ""):
        self.name = contender.name
        self.block = 1  # units that it does at a time
        self._words = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        self._heard = 0
        worker = "benchmarks.worker", contender.module
        if contender.is_held_here:
            environment, python = {**environment, **({PEER_PYTHON: python} if python else {})}, ""
        self._process = JsonProcess(
            *worker, environment=environment, deadline_s=_DEADLINE_S, words=self._words, python=python
        )

    def __enter__(self) -> ContenderProcess:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.end()
        self._words.close()

    def tell(self, request: Mapping[str, object]) -> None:
        """Send a request without waiting for its answer."""
        self._process.tell(request)

    def hear(self) -> dict[str, object]:
        """The answer to the request sent last."""
        answer = self._process.hear()
        if answer is None:
            raise ContenderError(f"{self.name}: its process ended with no answer\n{self._last_words()}")
        if "error" in answer:
            raise ContenderError(f"{self.name}: {answer['error']}{self._last_words()}")
        return answer

    def sample(self, count: int) -> Sample:
        """Do ``count`` units of the prepared work."""
        self.tell({"do": "run", "count": count})
        answer = self.hear()
        return Sample(answer["wall_s"], answer["cpu_s"])

    def check(self) -> int:
        """Have it look at what its last run left; returns the most bytes of memory that it had so far."""
        self.tell({"do": "check"})
        return int(self.hear()["peak"])

    def _last_words(self) -> str:
        """The end of what it printed. Read without seeking: it writes through the same open file."""
        size = os.fstat(self._words.fileno()).st_size
        start = max(self._heard, size - _LAST_WORDS)
        self._heard = size
        return os.pread(self._words.fileno(), size - start, start).decode(errors="replace")
