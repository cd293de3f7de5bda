"""``sh run.sh``, with its real pservers and trainers, interrupted as users interrupt it: nothing is left."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cluster.by_hand import free_port
from tests.faults.conftest import Marked
from tests.fresh import copy_to, share_venv, venv_is_current
from tests.pretenders import RUNAWAY
from tests.waiting import until

pytestmark = pytest.mark.faults

CTRL_C = b"\x03"
IN_THE_BACKGROUND = 'sh run.sh "$@" & echo "pid $!"; wait $!'


class Phase(NamedTuple):
    """How to get into it, what is shown when it is reached, the logs that are there afterwards. ``alone``:
    what it is sent behind ``&``."""

    argv: list[str]
    words: str
    logs: set[str]
    alone: signal.Signals


PATIENCE_S = 90.0  # for three programs that load themselves on a busy machine
PREPARED = "--job_prepare="  # in place of the one in run.sh
PHASES = {
    "preparing": Phase(["--job_prepare=slow.py"], "family", set(), signal.SIGINT),
    "starting": Phase([PREPARED], "starting 2 pservers", {"agent.log"}, signal.SIGTERM),
    "training": Phase([PREPARED], "samples/s", {"agent.log", "server.log", "train.log"}, signal.SIGINT),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project whose data are prepared, and a preparation that never ends."""
    if not venv_is_current():
        pytest.skip("the project's .venv is absent or older than pyproject.toml; sh test.sh renews it")
    copy = share_venv(copy_to(tmp_path_factory.mktemp("fresh") / "project"))
    package = copy / "workspace_template"
    (package / "slow.py").write_text(RUNAWAY)
    by_hand = {**Marked().environ, "SPLIT_COUNT": "2", "PADDLE_DATASET_LOCAL": "1", "HOME": str(copy)}
    subprocess.run([copy / ".venv/bin/python", "prepare.py"], cwd=package, env=by_hand, check=True)
    return copy


class RunningScript(Marked):
    """A shell with ``sh run.sh``: at a terminal, with a pipe, or with a pipe behind ``&``."""

    def __init__(self, project: Path, how: str, argv: list[str]) -> None:
        super().__init__()
        self.package = project / "workspace_template"
        argv = [*argv, f"--port={free_port(['127.0.0.1', '127.0.0.2'])}"]
        command = ["sh", "-c", IN_THE_BACKGROUND, "sh", *argv] if how == "&" else ["sh", "run.sh", *argv]
        self.screen, output = pty.openpty() if how == "terminal" else os.pipe()
        self.shown = ""

        def begin() -> None:
            for signum in (signal.SIGINT, signal.SIGHUP):
                signal.signal(signum, signal.SIG_DFL)
            if how == "terminal":
                fcntl.ioctl(output, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen(
            command,
            cwd=project,
            env={**self.environ, "TERM": "xterm"},
            stdin=output if how == "terminal" else subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
            preexec_fn=begin,
        )
        os.close(output)
        self.pid = int(self.wait_for(r"pid (\d+)\n")[1]) if how == "&" else self.process.pid

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Read what is shown until it matches."""
        while not (found := re.search(pattern, self.shown, re.DOTALL)):
            assert self._read(), f"it ended without saying {pattern!r}: {self.shown}"
        return found

    def has_logged(self, name: str) -> bool:
        """Whether there is something in this log of both nodes of its job."""
        job = max((self.package.parent / "jobs").iterdir())
        return all((log := job / f"node-{i}/log/{name}").exists() and log.stat().st_size for i in (0, 1))

    def end(self) -> int:
        """Wait for its end, reading what it says; gives its exit status."""
        while self.screen >= 0 and self._read():
            pass
        return self.process.wait(PATIENCE_S)

    def hang_up(self) -> None:
        """Close its terminal."""
        os.close(self.screen)
        self.screen = -1

    def clean_up(self) -> None:
        super().clean_up()
        if self.screen >= 0:
            os.close(self.screen)

    def _read(self) -> bool:
        assert select.select([self.screen], [], [], PATIENCE_S)[0], f"nothing new is shown after {self.shown}"
        try:
            data = os.read(self.screen, 1 << 16)
        except OSError:  # of a terminal that no process has open any more
            return False
        self.shown += data.decode(errors="replace")
        return bool(data)


@pytest.fixture
def run_sh(project: Path) -> Iterator[Callable[[str, list[str]], RunningScript]]:
    started: list[RunningScript] = []

    def start(how: str, argv: list[str]) -> RunningScript:
        started.append(RunningScript(project, how, argv))
        return started[-1]

    yield start
    for running in started:
        running.clean_up()


@pytest.fixture(params=PHASES)
def phase(request: pytest.FixtureRequest, project: Path) -> Phase:
    """A phase to be interrupted; no logs of an earlier test are left."""
    shutil.rmtree(project / "workspace_template" / "log", ignore_errors=True)
    return PHASES[request.param]


def stopped(running: RunningScript, phase: Phase, interrupt: Callable[[], object]) -> int:
    """Interrupt it in a phase; gives the status with which all of it ended, in time."""
    running.wait_for(phase.words)
    until(
        lambda: all(running.has_logged(name) for name in phase.logs - {"agent.log"}),
        "everybody to say something",
    )
    began = time.monotonic()
    interrupt()
    status = running.end()
    assert time.monotonic() - began < 5.0
    assert running.pids() == {}, "processes of the job are left"
    for node in (0, 1):
        collected = running.package / "log" / f"node-{node}"
        assert phase.logs <= {path.name for path in collected.glob("*") if path.stat().st_size}
    return status


def test_ctrl_c_at_a_terminal(run_sh, phase) -> None:
    running = run_sh("terminal", phase.argv)
    status = stopped(running, phase, lambda: os.write(running.screen, CTRL_C))
    assert status == 128 + signal.SIGINT
    assert "stopped by SIGINT" in running.shown


def test_a_terminal_that_is_closed(run_sh, phase) -> None:
    running = run_sh("terminal", phase.argv)
    assert stopped(running, phase, running.hang_up) == 128 + signal.SIGHUP


def test_a_signal_to_it_alone_behind_an_ampersand(run_sh, phase) -> None:
    running = run_sh("&", phase.argv)
    assert stopped(running, phase, lambda: os.kill(running.pid, phase.alone)) == 128 + phase.alone
    assert f"stopped by {phase.alone.name}" in running.shown


def test_on_a_terminal_progress_is_a_table_of_all_roles_that_is_drawn_anew(run_sh) -> None:
    running = run_sh("terminal", [PREPARED])
    gap = r"(?:\s|\x1b\[[\d;]*m)+"  # spaces and colours
    rows = [
        gap.join([rank, r"127\.0\.0\.\d", "trainer", rank, "trains", "0", r"\d+", r"\d+\.\d+", r"[\d,]+"])
        for rank in ("0", "1")
    ]
    both = ".*?".join(rows)
    drawn_anew = rf"{both}.*?\r(\x1b\[\w+)+.*?{both}"
    running.wait_for(drawn_anew)
    os.write(running.screen, CTRL_C)
    assert running.end() == 128 + signal.SIGINT
