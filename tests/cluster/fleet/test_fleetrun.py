"""`python -m paddle.distributed.launch`, as a user types it: what it starts, and how it ends."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.by_hand import environment
from tests.waiting import PATIENCE_S, until

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


# Trains until it is killed.
TRAINS = f"""{SERVER}
import numpy as np

exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
while True:
    exe.run(feed={{"x": np.ones((4, 2), np.float32)}}, fetch_list=[loss])
    print("a step", os.getpid(), flush=True)
""".replace("import paddle\n", "import os, sys\nimport paddle\n", 1).replace(
    "fleet.init_server()", "print('serves', flush=True)\n    fleet.init_server()"
)


ALONE = """
import numpy as np
import paddle
import paddle.distributed.fleet as fleet

paddle.enable_static()
fleet.init(is_collective=True)
x = paddle.static.data("x", [None, 2])
loss = paddle.mean(paddle.static.nn.fc(x, 1))
fleet.distributed_optimizer(paddle.optimizer.SGD(0.1)).minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
exe.run(feed={"x": np.ones((4, 2), "float32")}, fetch_list=[loss])
print("trained as", fleet.worker_index(), "of", fleet.worker_num(), flush=True)
raise SystemExit(int(__import__("sys").argv[1]))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM)
    return tmp_path


_launched: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def nothing_goes_on() -> Iterator[None]:
    """A test that fails leaves no job, which would train for ever beside the others."""
    yield
    while _launched:
        with _launched.pop() as job:
            job.terminate()


def launch(folder: Path, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "paddle.distributed.launch", "--server_num=1", "--worker_num=2"]
    job = subprocess.Popen(
        [*command, "train.py", *words],
        cwd=folder,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    _launched.append(job)
    return job


def pids(folder: Path) -> list[int]:
    return [int(pid) for file in folder.glob("*.started") for pid in file.read_text().split()]


def is_gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:1] in (["Z"], ["X"], [])
    except OSError:
        return True


def test_a_job_ends_well_with_its_trainers_and_says_so_last(folder) -> None:
    (folder / "log").mkdir()
    (folder / "log" / "workerlog.0").write_text("of an earlier job\n")
    job = launch(folder, "0")
    _, said = job.communicate(timeout=PATIENCE_S)
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
    _, said = job.communicate(timeout=PATIENCE_S)
    assert job.returncode == 7
    assert "trainer-1 ended with status 7" in said
    assert "  | about to end" in said
    assert all(map(is_gone, pids(folder)))


def stepped(log: Path) -> int:
    """The process that has written whole lines of steps there, 0 before."""
    found = re.search(r"^a step (\d+)\n", log.read_text() if log.exists() else "", re.MULTILINE)
    return int(found[1]) if found else 0


@pytest.mark.parametrize("id", [0, 1])
def test_of_a_worker_that_is_killed_the_server_says_so_and_blames_no_other(folder, id) -> None:
    (folder / "train.py").write_text(TRAINS)
    job = launch(folder)
    logs = [folder / "log" / f"workerlog.{worker}" for worker in range(2)]
    until(lambda: all(map(stepped, logs)), "a step of both")
    os.kill(stepped(logs[id]), signal.SIGKILL)
    _, said = job.communicate(timeout=PATIENCE_S)
    assert job.returncode == 137
    assert f"trainer-{id} was killed by SIGKILL" in said
    served = (folder / "log" / "serverlog.0").read_text()
    assert f"the job is broken: trainer-{id} was killed by SIGKILL" in served
    assert "ToldToStop" not in served


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_who_ends_the_launcher_ends_every_process(folder, signum) -> None:
    job = launch(folder, "wait")
    until(lambda: len(pids(folder)) == 6, "all three processes and a child of each")
    os.kill(job.pid, signum)
    job.communicate(timeout=PATIENCE_S)
    assert job.returncode == (-signum if signum == signal.SIGKILL else 128 + signum)
    until(lambda: all(map(is_gone, pids(folder))), "no process is left")


def test_an_agent_that_is_killed_ends_every_process_and_is_told_with_its_machine(folder) -> None:
    job = launch(folder, "wait")
    until(lambda: len(pids(folder)) == 6, "all three processes and a child of each")
    children = [path.read_text() for path in Path(f"/proc/{job.pid}/task").glob("*/children")]
    for agent in map(int, " ".join(children).split()):
        os.kill(agent, signal.SIGKILL)
    _, errors = job.communicate(timeout=PATIENCE_S)
    assert job.returncode == 1
    told = "127.0.0.1: its agent .* `dmesg .*; all processes of the job on this machine are stopped$"
    assert re.search(told, errors, re.MULTILINE), errors
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
        timeout=PATIENCE_S,
    )
    assert done.stdout == "3 ['place.py', 'a']\n", done.stderr


@pytest.mark.parametrize("status", [0, 7])
def test_one_process_without_servers_just_runs_and_what_it_prints_is_shown(tmp_path, status) -> None:
    (tmp_path / "train.py").write_text(ALONE)
    command = [sys.executable, "-m", "paddle.distributed.launch", "--nproc_per_node=1", "train.py"]
    done = subprocess.run(
        [*command, str(status)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.stdout == "trained as 0 of 1\n", done.stderr
    assert done.returncode == status
    assert (tmp_path / "log" / "workerlog.0").read_text().endswith("trained as 0 of 1\n")
    assert "parameter server" not in done.stderr


@pytest.mark.parametrize("away", [">/dev/full", ">&-", "| :", "| cat"])
def test_what_it_prints_may_be_read_by_nobody_or_have_letters_that_a_locale_lacks(tmp_path, away) -> None:
    (tmp_path / "train.py").write_text("import os\nfor _ in range(99): os.write(1, 'ä\\n'.encode())\n")
    fleetrun = f"{sys.executable} -m paddle.distributed.launch --nproc_per_node=1 train.py"
    done = subprocess.run(
        ["sh", "-c", f"({fleetrun}; echo status $? >&2) {away}"],
        cwd=tmp_path,
        env=environment(PYTHONIOENCODING="ascii"),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    started, *rest = done.stderr.splitlines()
    assert (started.partition(": ")[0], rest) == ("paddle.distributed.launch", ["status 0"])
    assert (tmp_path / "log" / "workerlog.0").read_bytes() == "ä\n".encode() * 99
    assert done.stdout == ("\\xe4\n" * 99 if away == "| cat" else "")
