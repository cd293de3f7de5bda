"""The field: nodes that know the runtime and the package by now, and launches on so many of them.

Nodes are namespaces of this machine (tests/lab), which takes root; their cables have a length.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from benchmarks.environment import ROOT, contender_environment
from benchmarks.launch.timeline import cut
from tests.lab.cluster import HEAD
from tests.lab.lab import Lab

_PACKAGE = Path(__file__).parent / "package"
_PATIENCE_S = 300.0
_ROOT_DIR = "/srv/jobs"


@dataclass(frozen=True, slots=True)
class Launched:
    """One launch: seconds of its phases, and of processor time that all of it took, to its end; ``head_s``:
    the launching machine's part of that."""

    phases: Mapping[str, float]
    cpu_s: float
    head_s: float

    @property
    def total_s(self) -> float:
        """From the command to the first step."""
        return sum(self.phases.values())


class Field:
    """So many nodes. Leave it by ``with``."""

    def __init__(self, nodes: int) -> None:
        self._stack = ExitStack()
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self._lab = self._stack.enter_context(Lab(nodes))
        self._delay_ms = 0.0
        self._port = 7164

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def lengthen(self, delay_ms: float) -> None:
        """Make every cable so long, each way."""
        if delay_ms != self._delay_ms:
            self._delay_ms = delay_ms
            for name in self._lab.names:
                self._lab.delay(name, delay_ms)

    def launch(self, nodes: int) -> Launched:
        """Launch on the first so many, to the end of the job."""
        hosts = [f"root@{name}" for name in self._lab.names[:nodes]]
        conf = self._folder / "conf.py"
        conf.write_text(
            f"HOSTS = {hosts}\nROOT_DIR = {_ROOT_DIR!r}\nPADDLE_NIC = 'eth0'\n"
            f"PADDLE_PORTS_NUM_FOR_SPARSE = 0\nNODE_PYTHON = {sys.executable!r}\n"
        )
        environ = contender_environment(os.environ)
        spent, by_head, began = self._cpu_s(), self._cpu_s(HEAD), time.time()
        done = self._run(
            *(sys.executable, ROOT / "paddle.py", f"--conf={conf}", "-p", self._package(), "--format=json"),
            environ={"PYTHONPATH": environ["PYTHONPATH"], "XDG_STATE_HOME": str(self._folder / "state")},
        )
        told = [json.loads(line) for line in done.splitlines()]
        return Launched(cut(began, told), self._cpu_s() - spent, self._cpu_s(HEAD) - by_head)

    def _package(self) -> Path:
        package = self._folder / "package"
        if not package.exists():
            package.mkdir()
            (package / "train.py").write_bytes((_PACKAGE / "train.py").read_bytes())
        return package

    def _run(self, *argv: str | Path, environ: Mapping[str, str]) -> str:
        """Run a program at the head; gives what it printed."""
        with self._lab.start(
            *argv,
            cwd=self._folder,
            environ=environ,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            try:
                said, complained = running.communicate(timeout=_PATIENCE_S)
            finally:
                running.kill()
        if running.returncode:
            raise RuntimeError(
                f"the launch ended with status {running.returncode}: {complained} {said[-2000:]}"
            )
        return str(said)

    def _cpu_s(self, place: str = "") -> float:
        """Of a place, or of all places."""
        lines: Sequence[str] = (self._lab.group.path / place / "cpu.stat").read_text().splitlines()
        return int(lines[0].split()[1]) / 1e6
