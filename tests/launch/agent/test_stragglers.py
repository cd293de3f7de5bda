"""What is left of a job on a machine is known by the job's id alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from paddle._launch.agent import stragglers
from tests.waiting import PATIENCE_S

STAYS = "import signal; print('there', flush=True); signal.pause()"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {STAYS}"


class Processes:
    """Some that stay, each of a job."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def start(self, job: str | None, text: str = STAYS) -> subprocess.Popen[str]:
        environ = {name: value for name, value in os.environ.items() if name != stragglers.VARIABLE}
        environ |= {stragglers.VARIABLE: job} if job else {"OTHER": f"{stragglers.VARIABLE}=JOB1-straggler"}
        command = [sys.executable, "-I", "-S", "-c", text, "train.py"]
        process = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
        self._stack.enter_context(process)
        self._stack.callback(process.kill)
        assert process.stdout
        assert process.stdout.readline() == "there\n"
        return process


@pytest.fixture
def processes() -> Iterator[Processes]:
    with ExitStack() as stack:
        yield Processes(stack)


def test_a_process_without_the_id_or_of_another_job_is_left_alone(processes: Processes) -> None:
    ours = [processes.start("JOB1-straggler"), processes.start("JOB1-stubborn", STUBBORN)]
    others = [processes.start("JOB1-straggler2"), processes.start(None)]
    ended: dict[int, str] = {}
    for job, grace_s in (("JOB1-straggler", PATIENCE_S), ("JOB1-stubborn", 0.1)):
        found, left = stragglers.end(job, wait_s=0.0, grace_s=grace_s)
        ended |= found
        assert left == {}
    assert set(ended) == {process.pid for process in ours}
    assert all(command.startswith(f"{sys.executable} -I -S -c ") for command in ended.values())
    assert [process.wait(PATIENCE_S) for process in ours] == [-15, -9]
    assert [process.poll() for process in others] == [None, None]


def test_what_its_agent_ends_in_time_is_not_signalled(processes: Processes) -> None:
    process = processes.start("JOB1-straggler")
    process.kill()
    assert stragglers.end("JOB1-straggler", wait_s=PATIENCE_S, grace_s=0.0) == ({}, {})
