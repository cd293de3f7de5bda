"""A process that is asked in lines of JSON on its standard input and answers so, as its asker holds it.

Guarantee: one that does not answer in time is ended, and after ``end`` it is gone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import IO, Any

from benchmarks.environment import ROOT

_GOODBYE_S = 10.0


_ELSEWHERE = """
import runpy, sys
sys.path.append(sys.argv.pop(1))
module = sys.argv.pop(1)
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


def command(*arguments: str, python: str = "") -> list[str]:
    """``python -m`` with these ``arguments``: of this Python, or of another one, as JsonProcess says."""
    if python:
        return [python, "-I", "-c", _ELSEWHERE, str(ROOT), *arguments]
    return [sys.executable, "-P", "-m", *arguments]


class JsonProcess:
    """``python -m`` with these ``arguments``; ``words``: where it complains, if not where its asker does.

    Another ``python`` than this one has this project behind its own packages: its ``paddle`` is its own.
    """

    def __init__(
        self,
        *arguments: str,
        environment: Mapping[str, str],
        deadline_s: float,
        words: IO[bytes] | None = None,
        python: str = "",
    ) -> None:
        self._deadline_s = deadline_s
        self._process = subprocess.Popen(
            command(*arguments, python=python),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=words,
            env=dict(environment),
            cwd=ROOT,
            text=True,
            bufsize=1,
        )

    def end(self) -> None:
        """Let it end, or else kill it."""
        self._process.stdin.close()
        try:
            self._process.wait(_GOODBYE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def tell(self, request: Mapping[str, Any]) -> None:
        """Send a request without waiting for its answer."""
        with suppress(BrokenPipeError):  # the missing answer will tell it
            print(json.dumps(request), file=self._process.stdin, flush=True)

    def hear(self) -> dict[str, Any] | None:
        """The answer to the request sent last; None: it ended without one."""
        leash = threading.Timer(self._deadline_s, self._process.kill)
        leash.start()
        try:
            line = self._process.stdout.readline()
        finally:
            leash.cancel()
        return json.loads(line) if line else None
