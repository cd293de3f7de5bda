"""A contender of ``ctr``: whose launcher starts which program, and that job as work to be measured."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.contender_process import PEER_PYTHON
from benchmarks.ctr.job import Job, Process, peak_bytes
from benchmarks.transport.exchange import free_port
from benchmarks.worker import Work

PROGRAMS = Path(__file__).resolve().parent / "programs"
WORKERS = 2


@dataclass(frozen=True, slots=True)
class Way:
    """A program, and the module that launches it: ``python -m MODULE OPTIONS PROGRAM``.

    ``settings``: more of the environment. ``{port}`` in either is a port that nobody listens on. Where there
    are no ``servers`` workers find each other themselves.
    """

    program: str
    module: str = ""
    options: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    servers: int = 1

    def begin(self, told: Mapping[str, str], folder: Path) -> list[Process]:
        """Start it; ``told`` is added to the environment."""
        port = str(free_port())  # of each job another: they are there at the same time
        environ = {**os.environ, **told, **{k: v.replace("{port}", port) for k, v in self.settings.items()}}
        python = environ.pop(PEER_PYTHON, sys.executable)
        if PEER_PYTHON in os.environ:
            del environ["PYTHONPATH"]  # its ``paddle`` is its own
        program = str(PROGRAMS / self.program)
        options = [option.replace("{port}", port) for option in self.options]
        if self.module:
            return [_started([python, "-m", self.module, *options, program], environ, folder, "launcher")]
        return [
            _started([python, program], {**environ, "RANK": str(rank)}, folder, f"worker{rank}")
            for rank in range(WORKERS)
        ]


def work(way: Way, settings: Mapping[str, Any]) -> Work:
    """A job that trains as it is ordered; or, for ``start``, one after the other to its first step."""
    if settings["is_start"]:
        return _starts(way, told(settings))
    job = Job(WORKERS + way.servers, way.begin, told(settings))
    try:
        costs = [said["ready"] for said in job.ready()]
        facts = job.first[0]["facts"]
        return Work(
            lambda count: job.train(count),
            sum(costs) / len(costs),
            beside=job.settled_cpu_s,
            close=job.close,
            peak=lambda: peak_bytes(job.workers),
            facts={**facts, "server MB": _megabytes(job.servers)},
            block=WORKERS * settings["block"],
        )
    except BaseException:
        job.close()
        raise


def told(settings: Mapping[str, Any]) -> dict[str, str]:
    """What of a case programs hear by their environment."""
    return {
        "CTR_MODE": settings["mode"],
        "CTR_FEEDS": settings["feeds"],
        "CTR_BLOCK": str(settings["block"]),
    }


def _starts(way: Way, environ: Mapping[str, str]) -> Work:
    """Jobs to their first step, each ended before the next begins."""
    jobs, spent, last, most = ExitStack(), [0.0], [0.0], [0]

    def run(_: int) -> None:
        job = Job(WORKERS + way.servers, way.begin, environ)
        jobs.callback(job.close)
        spent[0] += job.cpu_s()
        most[0] = max(most[0], peak_bytes(job.workers))
        last[0] = sum(said["first"] for said in job.first) / WORKERS

    run(1)
    ended = {"ready": jobs.close, "close": jobs.close}
    return Work(run, last[0], beside=lambda: spent[0], peak=lambda: most[0], **ended)


def _started(command: list[str], environ: Mapping[str, str], folder: Path, name: str) -> Process:
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(
            command, env=environ, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )


def _megabytes(pids: list[int]) -> str:
    return f"{peak_bytes(pids) / 1e6:.0f}" if pids else "none"
