"""A process that begins, does one step of a model, or imports what one is written with, and ends, as work to
be measured."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from benchmarks.environment import ROOT
from benchmarks.json_process import command
from benchmarks.worker import Work


def work(module: str, imports: str, settings: Mapping[str, Any]) -> Work:
    """``module``: the contender of ``models`` that the process is. Its sources are compiled, like peers'.
    ``imports``: what it imports, where that is all that is asked for; there is no answer then."""
    python = sys.executable if sys.flags.isolated else ""
    if settings.get("imports"):
        words = command("benchmarks.start.imported", imports, python=python)
    else:
        words = command(
            "benchmarks.start.once", f"benchmarks.models.{module}", json.dumps(settings), python=python
        )

    environ = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def once() -> float | None:
        done = subprocess.run(words, cwd=ROOT, env=environ, stdout=subprocess.PIPE, check=True, text=True)
        said = done.stdout.split()
        return float(said[-1]) if said else None

    def run(count: int) -> None:
        for _ in range(count):
            once()

    return Work(run, once(), beside=_of_children)


def _of_children() -> float:
    """Processor time of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
