"""`python -m paddle.distributed.launch`, as a user types it: what it starts, and how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster.by_hand import environment
from tests.waiting import until

pytestmark = pytest.mark.cluster

PROGRAM = """
import os, signal, subprocess, sys, time

place = {name: os.environ.get(name) for name in ("TRAINING_ROLE", "PADDLE_TRAINER_ID", "PADDLE_PORT")}
print(place, flush=True)
if place["TRAINING_ROLE"] == "PSERVER" or sys.argv[1] == "wait":
    child = subprocess.Popen(["sleep", "600"], start_new_session=True)
    open(f"{os.getpid()}.pids", "w").write(f"{os.getpid()} {child.pid}")
    os.rename(f"{os.getpid()}.pids", f"{os.getpid()}.started")
    signal.pause()
while not len([name for name in os.listdir() if name.endswith(".started")]) == 1:
    time.sleep(0.01)
if place["PADDLE_TRAINER_ID"] == "1":
    print("about to end")
    sys.exit(int(sys.argv[1]))
"""


SERVER = """
import paddle
import paddle.distributed.fleet as fleet

paddle.enable_static()
fleet.init()
x = paddle.static.data(name="x", shape=[None, 2], dtype="float32")
loss = paddle.mean(paddle.static.nn.fc(x, 1))
strategy = fleet.DistributedStrategy()
strategy.a_sync = True
fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy).minimize(loss)
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
fleet.init_worker()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM)
    return tmp_path


def launch(folder: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "paddle.distributed.launch", "--server_num=1", "--worker_num=2"]
    return subprocess.Popen(
        [*command, "train.py", *words],
        cwd=folder,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def pids(folder: Path) -> list[int]:
    return [int(pid) for file in folder.glob("*.started") for pid in file.read_text().split()]


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_job_ends_well_with_its_trainers_and_says_so_last(folder) -> None:
    (folder / "log").mkdir()
    (folder / "log" / "workerlog.0").write_text("of an earlier job\n")
    job = launch(folder, "0")
    _, said = job.communicate(timeout=60)
    assert job.returncode == 0, said
    assert "all workers exit, going to finish parameter server and heter_worker." in said
    assert said.splitlines()[-1].endswith("all parameter server are killed")
    assert sorted(path.name for path in (folder / "log").iterdir()) == [
        *("serverlog.0", "workerlog.0", "workerlog.1")
    ]
    first = (folder / "log" / "workerlog.0").read_text()
    assert "'PADDLE_TRAINER_ID': '0'" in first and "earlier" not in first
    assert "'TRAINING_ROLE': 'PSERVER'" in (folder / "log" / "serverlog.0").read_text()
    assert all(map(is_gone, pids(folder)))


def test_the_status_is_that_of_the_trainer_that_failed_and_its_words_are_shown(folder) -> None:
    job = launch(folder, "7")
    _, said = job.communicate(timeout=60)
    assert job.returncode == 7
    assert "trainer-1 ended with status 7" in said
    assert "  | about to end" in said
    assert all(map(is_gone, pids(folder)))


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_who_ends_the_launcher_ends_every_process(folder, signum) -> None:
    job = launch(folder, "wait")
    until(lambda: len(pids(folder)) == 6, "all three processes and a child of each")
    os.kill(job.pid, signum)
    job.communicate(timeout=30)
    assert job.returncode == (-signum if signum == signal.SIGKILL else 128 + signum)
    until(lambda: all(map(is_gone, pids(folder))), "no process is left")


def test_a_port_that_is_taken_is_told_in_one_line_with_who_has_it(folder) -> None:
    (folder / "train.py").write_text(SERVER)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        lists = [f"--servers=127.0.0.1:{port}", f"--workers=127.0.0.1:{port + 1}"]
        done = subprocess.run(
            [sys.executable, "-m", "paddle.distributed.launch", *lists, "train.py"],
            cwd=folder,
            env=environment(),
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 98
    told = f"port {port} of 127.0.0.1 is in use by process {os.getpid()} "
    assert re.search(rf"its last lines:\n  \| train.py:14: {re.escape(told)}.*\n[^|]*$", done.stderr, re.I)


def test_a_process_that_a_platform_has_placed_runs_the_program_itself(folder) -> None:
    names = ("PADDLE_TRAINERS", "POD_IP", "PADDLE_TRAINER_ID", "TRAINER_PORTS_NUM")
    (folder / "place.py").write_text("import os, sys; print(os.environ['PADDLE_TRAINER_ID'], sys.argv)")
    done = subprocess.run(
        [sys.executable, "-m", "paddle.distributed.fleet.launch", "--server_num=1", "place.py", "a"],
        cwd=folder,
        env=environment(**dict.fromkeys(names, "3")),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.stdout == "3 ['place.py', 'a']\n", done.stderr
