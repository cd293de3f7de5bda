"""Preparation: a program of the package makes what is in it, once, on this machine, before anything is sent.

It must never know what is made, nor where the package goes.

Guarantee: however ``run`` is left, even by kill -9, no process of the preparation is left. Signals are
answered in all of that time: there is no moment in which one is lost.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import paddle._launch.agent as agent
from paddle._launch.agent.processes import sweep
from paddle._launch.agent.role import die_with_parent
from paddle._launch.errors import PreparationFailed, UsageError, WorkspaceError
from paddle._launch.job import JobSpec
from paddle._launch.plan import preparation
from paddle._launch.signals import Stopped, heard

_PATIENCE_S = 2.0  # an errand that is called off ends in half of that


def check(spec: JobSpec) -> None:
    """Refuse a preparation that cannot be."""
    script = spec.settings["job_prepare"]
    if script and spec.package is None:
        raise UsageError(
            f"--job_prepare={script} prepares a package that is sent, and --job_workspace sends none. "
            "Leave one of the two out."
        )
    if script and not (spec.home / script).is_file():
        raise WorkspaceError(
            f"--job_prepare={script}: {spec.home} has no such program. Give the path of one in that folder, "
            "or --job_prepare= where nothing is to be prepared."
        )


def run(spec: JobSpec, *, python: str, runtime: Path) -> None:
    """Prepare the package if that was asked for; a signal ends it and raises ``Stopped``."""
    command = preparation(spec, python)
    if not command:
        return
    script = command[-1]
    environ = {**os.environ, "SPLIT_COUNT": _parts(spec)}
    environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(runtime), environ.get("PYTHONPATH"))))
    signals = heard()
    held = signal.pthread_sigmask(signal.SIG_BLOCK, (*signals, signal.SIGCHLD))
    try:
        prints = (
            sys.stderr.fileno() if spec.settings["format"] == "json" else None
        )  # where JSON is, it is alone
        status = _wait(_start(command, spec.home, environ, prints), signals, script)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
    if status:
        raise PreparationFailed(
            f"{script} ended with status {status}, so nothing was sent or started. What it printed is above. "
            f"By hand: {by_hand(spec)}",
            status,
        )


def by_hand(spec: JobSpec) -> str:
    """How a user prepares the package."""
    folder, script = shlex.quote(str(spec.home)), shlex.quote(str(spec.settings["job_prepare"]))
    return f"cd {folder} && SPLIT_COUNT={_parts(spec)} python {script}"


def _parts(spec: JobSpec) -> str:
    return str(len(spec.settings.places.trainers))


def _start(
    command: Iterable[str], folder: Path, environ: dict[str, str], prints: int | None
) -> subprocess.Popen[bytes]:
    launcher = os.getpid()
    errand = (sys.executable, "-I", "-S", str(Path(agent.__file__).parent))

    def begin() -> None:
        if not die_with_parent(launcher, signal.SIGTERM):
            os._exit(1)

    return subprocess.Popen(
        (*errand, *command),
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=prints,
        preexec_fn=begin,
    )


def _wait(errand: subprocess.Popen[bytes], signals: Iterable[signal.Signals], script: str) -> int:
    """Wait for its end, and give its status. A signal calls it off."""
    while (signum := signal.sigwait((*signals, signal.SIGCHLD))) == signal.SIGCHLD:
        if (status := errand.poll()) is not None:
            return status if status >= 0 else 128 - status
    errand.terminate()
    try:
        errand.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        sweep(errand.pid)
        errand.kill()
        errand.wait()
    raise Stopped(signum, f" while {script} ran; nothing was sent or started")
