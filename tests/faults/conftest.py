"""Real agents and launchers for tests that break them, and sight of every process that they start."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pytest

from paddle._launch.agent.processes import look_up
from tests.cluster.by_hand import free_port
from tests.pretenders import PSERVER, READY, RUNAWAY
from tests.waiting import PATIENCE_S, until

ROOT = Path(__file__).resolve().parents[2]
AGENT = ROOT / "runtime" / "paddle" / "_launch" / "agent"
MARK = "LAUNCH_TEST_MARK"
PROMISED_S = 5.0  # in which all of a job is gone, whatever ended it (docs/reliability.md)


class Marked:
    """Processes that carry a mark in their environment, whoever their parents are by now."""

    process: subprocess.Popen[Any]

    def __init__(self) -> None:
        self.mark = uuid.uuid4().hex
        self.environ = {
            **{
                name: value for name, value in os.environ.items() if not name.startswith(("PADDLE_", "OMPI_"))
            },
            MARK: self.mark,
            "PYTHONPATH": str(ROOT / "runtime"),
        }

    def pids(self) -> dict[int, str]:
        """Every living one: pid -> command line."""
        mark = f"{MARK}={self.mark}".encode()
        found = {}
        for entry in Path("/proc").iterdir():
            try:
                if (
                    entry.name.isdigit()
                    and mark in (entry / "environ").read_bytes()
                    and look_up(int(entry.name))
                ):
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
        return found

    def all_gone(self, patience_s: float) -> None:
        """Wait until none is left."""
        end = time.monotonic() + patience_s
        while left := self.pids():
            assert time.monotonic() < end, f"still there after {patience_s} s: {left}"
            threading.Event().wait(0.02)

    def clean_up(self) -> None:
        """Leave no process and no pipe."""
        self._kill_all()
        with contextlib.suppress(ValueError, BrokenPipeError), self.process:
            pass  # closes its pipes and waits

    def _kill_all(self) -> None:
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


class RunningAgent(Marked):
    """An agent whose launcher is the test."""

    RUNAWAY = RUNAWAY
    until = staticmethod(until)
    secrets: ClassVar[dict[str, str]] = {"token": "secret"}

    def __init__(self, workspace: Path, begin: Callable[[], None] | None = None) -> None:
        super().__init__()
        self.workspace = workspace
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(AGENT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self.environ,
            preexec_fn=begin,
        )

    def say(self, **order: object) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(order).encode() + b"\n")
        self.process.stdin.flush()

    def plan(self, lease_s: float = 60.0, log: str = "log/train.log", life: int = 1, **programs: str) -> None:
        """Give it roles that run pieces of Python."""
        roles = {
            name: {"argv": [sys.executable, "-u", "-c", text], "env": {}, "prepend": {}, "log": log}
            for name, text in programs.items()
        }
        self.say(
            do="plan",
            node=3,
            workspace=str(self.workspace),
            life=life,
            lease_s=lease_s,
            secrets=self.secrets,
            roles=roles,
        )

    def hear(self, event: str) -> dict[str, Any]:
        """Read frames up to the next of a kind."""
        assert self.process.stdout
        for line in self.process.stdout:
            frame: dict[str, Any] = json.loads(line)
            if frame["event"] == event:
                return frame
            assert frame["event"] != "failed", frame
        raise AssertionError(f"the agent ended without saying {event}")

    def start(self, role: str) -> None:
        """Start a role, and wait until it printed ``family``."""
        self.say(do="start", role=role)
        while "family" not in self.hear("lines")["lines"]:
            pass

    def halves(self) -> tuple[int, int]:
        """Pids of the outer and the inner half."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return self.process.pid, int(children[0])

    def log(self) -> str:
        return (self.workspace / "log" / "agent.log").read_text()


class RunningLauncher(Marked):
    """A launcher in a folder of its own; its pservers only pretend, or are real where none is given."""

    READY = READY
    until = staticmethod(until)

    def __init__(
        self,
        folder: Path,
        train: str,
        pserver: str | None,
        nodes: int,
        argv: list[str],
        ignored: Sequence[int],
    ) -> None:
        super().__init__()
        self.folder = folder
        self.package = folder / "package"
        runtime = ROOT / "runtime" if pserver is None else _pretended(folder / "runtime", pserver)
        if pserver is None:
            hosts = [f"127.0.0.{1 + node}" for node in range(nodes)]
            argv = [*argv, f"--port={free_port(hosts)}"]
        self.package.mkdir(exist_ok=True)
        (self.package / "train.py").write_text(train)
        (folder / "conf.py").write_text(f"HOSTS = {['local'] * nodes}\n")
        entry = (
            "import sys; from pathlib import Path; from paddle._launch.cli import main; "
            f"sys.exit(main(sys.argv[1:], runtime=Path({str(runtime)!r})))"
        )

        def begin() -> None:  # as a shell starts it, whatever the tests themselves were started with
            for signum in (signal.SIGINT, signal.SIGHUP):
                signal.signal(signum, signal.SIG_IGN if signum in ignored else signal.SIG_DFL)

        self.output: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-c", entry, f"--conf={folder / 'conf.py'}", "-p", str(self.package), *argv],
            cwd=folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=begin,
        )

    def wait_for(self, words: str) -> None:
        """Read its output up to a line with ``words``."""
        assert self.process.stdout
        for line in self.process.stdout:
            self.output.append(line)
            if words in line:
                return
        raise AssertionError(f"it ended without saying {words!r}: {self.output} {self.process.stderr.read()}")

    def end(self) -> tuple[int, str, str]:
        """Wait for its end; gives status, output and error output."""
        rest, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, "".join(self.output) + rest, errors

    def jobs(self) -> list[Path]:
        return list((self.folder / "jobs").glob("JOB*"))

    def node(self, node: int) -> Path:
        """The workspace of a node."""
        (job,) = self.jobs()
        return job / f"node-{node}"

    def wait_until_trained(self, nodes: int = 2) -> None:
        """Wait until every trainer has printed ``family``."""
        self.wait_for("starting 2 trainers" if nodes == 2 else "starting 1 trainer")
        for node in range(nodes):
            log = self.node(node) / "log" / "train.log"
            until(lambda log=log: log.exists() and "family\n" in log.read_text(), f"words in {log}")


def _pretended(runtime: Path, pserver: str) -> Path:
    """A runtime whose ``python -m paddle`` is ``pserver``."""
    (runtime / "paddle").mkdir(parents=True, exist_ok=True)
    (runtime / "paddle" / "__init__.py").write_text("")
    (runtime / "paddle" / "__main__.py").write_text(pserver)
    return runtime


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[RunningAgent]:
    """A running agent; whatever it leaves is removed in the end."""
    running = RunningAgent(tmp_path)
    yield running
    running.clean_up()


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[..., RunningLauncher]]:
    """Start a launcher: ``launch(train=..., pserver=..., nodes=2, argv=[], ignored=())``."""
    started: list[RunningLauncher] = []

    def start(
        train: str = RUNAWAY,
        pserver: str | None = PSERVER,
        nodes: int = 2,
        argv: list[str] | None = None,
        ignored: Sequence[int] = (),
    ) -> RunningLauncher:
        started.append(RunningLauncher(tmp_path, train, pserver, nodes, argv or [], ignored))
        return started[-1]

    start.READY = READY  # type: ignore[attr-defined]
    yield start
    for running in started:
        running.clean_up()
