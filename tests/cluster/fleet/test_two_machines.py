"""`fleetrun` on two machines, one server and one worker on each: what it trains, and how both ends end.

Two addresses of this machine are the machines; each has a folder of its own, and a copy of the job's token.
"""

import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import HOSTS, environment, free_port, outputs_of
from tests.marks import on_demand
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.cluster

PROGRAM = Path(__file__).parents[1] / "programs" / "language_model.py"


@pytest.fixture
def machines(tmp_path: Path) -> dict[str, Path]:
    """Their folders, by address."""
    folders = {host: tmp_path / host for host in HOSTS}
    token = secrets.token_hex(32)
    for folder in folders.values():
        folder.mkdir()
        shutil.copy(PROGRAM, folder / "train.py")
        (folder / "job.token").write_text(token)
        (folder / "job.token").chmod(0o600)
    return folders


def begun(
    machines: dict[str, Path], *words: str, servers: Sequence[str] = HOSTS, port: int = 0
) -> list[subprocess.Popen[str]]:
    """The same command on each machine. ``port``: of the servers."""
    port = port or free_port(HOSTS)
    lists = [
        f"--servers={','.join(f'{host}:{port}' for host in servers)}",
        f"--workers={','.join(f'{host}:{port + 1}' for host in HOSTS)}",
    ]
    return [
        subprocess.Popen(
            [sys.executable, "-m", "paddle.distributed.launch", *lists, "train.py", *words],
            cwd=folder,
            env=environment(POD_IP=host, PADDLE_TOKEN_FILE="job.token"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for host, folder in machines.items()
    ]


UNLISTED = ["--nnodes=2", "--server_num=1", "--trainer_num=1", "train.py"]


def met(machines: dict[str, Path], *words: str) -> list[subprocess.Popen[str]]:
    """The same command on each machine, which lists nobody."""
    return [
        subprocess.Popen(
            [sys.executable, "-m", "paddle.distributed.launch", *words],
            cwd=folder,
            env=environment(POD_IP=host, PADDLE_TOKEN_FILE="job.token"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for host, folder in machines.items()
    ]


def master() -> str:
    return f"--master={HOSTS[0]}:{free_port(HOSTS)}"


def launched(machines: dict[str, Path], *words: str) -> list[tuple[int, str, str]]:
    """Of each machine: the status, what its launcher said, and what its worker printed."""
    jobs = begun(machines, *words)
    said = outputs_of(jobs)
    logs = [log_of(folder) for folder in machines.values()]
    return [(job.returncode, text, log) for job, text, log in zip(jobs, said, logs, strict=True)]


def log_of(folder: Path) -> str:
    path = folder / "log" / "workerlog.0"
    return path.read_text() if path.exists() else ""


def losses(text: str) -> np.ndarray:
    return np.array([float(each) for each in re.findall(r"^loss (\S+)$", text, re.MULTILINE)])


def test_in_step_two_machines_learn_what_one_process_does(machines: dict[str, Path]) -> None:
    alone = subprocess.run(
        [sys.executable, str(PROGRAM)], env=environment(), capture_output=True, text=True, timeout=PATIENCE_S
    )
    (first, said, of_first), (second, _, of_second) = launched(machines)
    assert (first, second, alone.returncode) == (0, 0, 0), said + alone.stderr
    assert said.splitlines()[-1].endswith("server are killed")
    expected = losses(alone.stdout)
    np.testing.assert_allclose((losses(of_first) + losses(of_second)) / 2, expected, rtol=1e-6)
    assert len(expected) == 30 and expected[-1] < 0.8 * expected[0]
    shown = [sorted(path.name for path in (folder / "log").glob("*log.*")) for folder in machines.values()]
    assert shown == [["serverlog.0", "workerlog.0"]] * 2


def test_a_worker_that_fails_ends_the_job_on_both_and_both_say_why(machines: dict[str, Path]) -> None:
    (first, said, _), (second, of_culprit, _) = launched(machines, "--steps=100000", "--ends_badly=1")
    assert (first, second) == (1, 1)
    assert re.search(r"trainer 1 at \S+ .*failed: ValueError: there is no part-7", said), said
    assert re.search(r"trainer-1 ended with status 1 .*\n(.*\n)*.*ValueError: there is no part-7", of_culprit)


def test_machines_that_nobody_lists_meet_and_learn_what_one_process_does(machines: dict[str, Path]) -> None:
    alone = subprocess.run(
        [sys.executable, str(PROGRAM)], env=environment(), capture_output=True, text=True, timeout=PATIENCE_S
    )
    jobs = met(machines, master(), *UNLISTED)
    said, of_second = outputs_of(jobs)
    assert [job.returncode for job in jobs] == [0, 0], said + of_second
    told = re.compile("2 machines with 2 servers and 2 workers: (.*), (.*); this is number (.)\n")
    ordered, numbers = zip(*((m[:2], m[2]) for (m,) in map(told.findall, [said, of_second])), strict=True)
    assert {*numbers} == {"0", "1"}, "both can reach the place, and who comes first is number 0"
    assert ordered[0] == ordered[1] == tuple(HOSTS[int(number)] for number in numbers)
    logs = [losses(log_of(folder)) for folder in machines.values()]
    np.testing.assert_allclose((logs[0] + logs[1]) / 2, losses(alone.stdout), rtol=1e-6)


@pytest.mark.thorough
def test_who_names_no_place_to_meet_is_told_the_command_for_the_others(machines: dict[str, Path]) -> None:
    (first, here), (second, there) = machines.items()
    (job,) = met({first: here}, *UNLISTED)
    assert job.stdout is not None
    command = job.stdout.readline().partition("call on the others: python -m paddle.distributed.launch ")[2]
    (other,) = met({second: there}, *command.split())
    said, of_second = outputs_of([job, other])
    assert (job.returncode, other.returncode) == (0, 0), said + of_second
    assert f"--master={HOSTS[0]}:" in command and "2 machines with 2 servers and 2 workers" in said


def test_who_is_stopped_while_it_waits_for_the_others_ends_at_once(machines: dict[str, Path]) -> None:
    only = dict([next(iter(machines.items()))])
    (job,) = met(only, master(), *UNLISTED)
    assert job.stdout is not None
    line = job.stdout.readline()
    job.send_signal(signal.SIGINT)
    (said,) = outputs_of([job])
    assert (job.returncode, "waits for 1 other machine of the job at 127.0.0.1" in line) == (130, True)
    assert said == "paddle.distributed.launch: stopped by SIGINT\n"


_KILLED = "os.kill(os.getpid(), 9)"


@pytest.mark.parametrize(
    ("how", "before", "status", "told"),
    [
        (_KILLED, "init", 137, "trainer-1 was killed by SIGKILL at 127.0.0.2"),
        (
            "raise ValueError('no part-7')",
            "init_worker",
            1,
            "trainer-1 ended .* 127.0.0.2: ValueError: no part-7",
        ),
        on_demand(_KILLED, "step 10", 137, "trainer-1 was killed by SIGKILL at 127.0.0.2"),
        on_demand("os._exit(7)", "step 10", 7, "trainer-1 ended with status 7 at 127.0.0.2"),
    ],
)
def test_of_a_worker_that_cannot_say_so_its_launcher_tells_the_servers_of_both(
    machines: dict[str, Path], how: str, before: str, status: int, told: str
) -> None:
    """Its own server, which is told to stop as soon as it has failed, is not what the others hear of."""
    words = ["--steps=100000", "--ends_badly=1", f"--how={how}", f"--before={before}"]
    (first, said, _), (second, of_culprit, _) = launched(machines, *words)
    assert (first, second) == (1, status), said + of_culprit
    assert re.search(f"trainer-1, on another machine, broke the job: .*{told}", said), said
    assert "SIGTERM" not in said


@pytest.mark.thorough
@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGKILL])
def test_who_ends_the_job_on_one_machine_ends_it_on_the_other(
    machines: dict[str, Path], signum: signal.Signals
) -> None:
    first, second = begun(machines, "--steps=100000")
    folders = list(machines.values())
    until(lambda: all(len(losses(log_of(folder))) for folder in folders), "both workers train")
    second.send_signal(signum)
    said, _ = outputs_of([first, second])
    assert first.returncode == 1
    assert second.returncode == (-signum if signum == signal.SIGKILL else 128 + signum)
    assert re.search(r"(ToldToStop: |told to stop )by SIGTERM", said), said


_HANGS = "import time; print('here', flush=True); time.sleep(600)"


@pytest.mark.parametrize(
    ("signum", "how"), [on_demand(signal.SIGINT, "stopped by SIGINT"), (signal.SIGKILL, "killed")]
)
def test_who_ends_a_launcher_whose_worker_has_met_no_server_ends_the_other_machine_too(
    machines: dict[str, Path], signum: signal.Signals, how: str
) -> None:
    """All servers are on the other one, so nothing that this one ran can have told them."""
    words = "--ends_badly=1", f"--how={_HANGS}", "--before=init_worker"
    first, second = begun(machines, *words, servers=HOSTS[:1])
    of_first, of_second = machines.values()
    listens = of_first / "log" / "serverlog.0"
    until(lambda: listens.exists() and "listens on" in listens.read_text(), "the other's server listens")
    until(lambda: "here" in log_of(of_second), "its worker is on its way")
    second.send_signal(signum)
    said, _ = outputs_of([first, second])
    assert (first.returncode, second.returncode) == (1, -9 if signum == signal.SIGKILL else 128 + signum)
    assert f"a launcher, on another machine, broke the job: pserver at {HOSTS[0]}:" in said
    assert f"the job is broken: the launcher at 127.0.0.2 was {how}" in said


def test_a_server_that_fails_is_named_by_the_other_machine_before_its_own(machines: dict[str, Path]) -> None:
    port = free_port(HOSTS)
    with socket.create_server((HOSTS[1], port)):
        jobs = begun(machines, port=port)
        said, of_culprit = outputs_of(jobs)
    assert [job.returncode for job in jobs] == [1, 98], said + of_culprit
    told = f"pserver-1 ended with status 98 at {HOSTS[1]}: train.py:.* in use by process {os.getpid()} "
    assert re.search(f"launch: pserver-1, on another machine, broke the job: .*{told}", said), said
    assert "pserver-0" not in said
