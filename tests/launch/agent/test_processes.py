"""Who is killed is gone, with all that it holds, before anything of it is touched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from paddle._launch.agent import killer, processes
from paddle._launch.agent.processes import Process, look_up
from paddle._launch.backends.local import LocalMachine

HUNG, ANOTHER = Process(7, 100), Process(7, 200)
HOLDS = """
import fcntl, signal
much = b"." * (64 << 20)  # it is let go before the log is
log = open("log/agent.log", "ab")
fcntl.flock(log, fcntl.LOCK_EX)
print("has it", flush=True)
signal.pause()
"""


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """What stands still and has the log of its workspace."""
    (tmp_path / "log").mkdir()
    command = [sys.executable, "-I", "-S", "-c", HOLDS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=tmp_path) as started:
        assert started.stdout and started.stdout.readline() == b"has it\n"
        os.kill(started.pid, signal.SIGSTOP)
        yield started
        started.kill()


@pytest.mark.parametrize("last", [None, (1, ANOTHER)], ids=["gone", "its number is another's"])
def test_who_is_killed_is_waited_for_and_nobody_else(monkeypatch: pytest.MonkeyPatch, last: object) -> None:
    seen, sent = [(1, HUNG), (1, HUNG), (1, HUNG), last], []
    monkeypatch.setattr(processes, "look_up", lambda pid: seen.pop(0))
    monkeypatch.setattr(processes, "send_signal", lambda *of: sent.append(of))
    processes.kill(HUNG)
    assert (seen, sent) == ([], [(HUNG, signal.SIGKILL)] * 3)


@pytest.mark.parametrize("how", ["here", "by another"])
def test_the_log_of_an_agent_that_is_killed_is_ended(
    agent: subprocess.Popen[bytes], tmp_path: Path, how: str
) -> None:
    if how == "here":
        plan: Any = SimpleNamespace(workspace=tmp_path)
        machine = LocalMachine(plan, plan, plan)
        machine._promise = SimpleNamespace(runner=SimpleNamespace(process=agent))
        machine.kill(None)
    else:
        found = look_up(agent.pid)
        assert found
        killer.end_by_force(found[1])
        killer.bury(tmp_path)
    assert "stopped: killed by the launcher" in (tmp_path / "log" / "agent.log").read_text()
