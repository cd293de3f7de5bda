"""A job under a real mpirun, over SSH, as the document has it: files on every node, and one command."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.over_ssh import PROMISED_S
from tests.cluster.ranks import word2vec
from tests.fresh import ROOT
from tests.lab.cluster import Cluster
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.cluster

FOLDER = "/srv/tutorial"

TRAIN = """
import os, signal, sys
import numpy as np
import paddle.v2 as paddle

paddle.init(use_gpu=False)
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(4))
y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
out = paddle.layer.fc(input=x, size=1, act=paddle.activation.Linear())
cost = paddle.layer.square_error_cost(input=out, label=y)
trainer = paddle.trainer.SGD(
    cost, paddle.parameters.create(cost), paddle.optimizer.Momentum(learning_rate=1e-2), is_local=False
)


def samples():
    drawn = np.random.RandomState(rank)
    for _ in range(64):
        vector = drawn.randn(4).astype("float32")
        yield vector, [float(vector.sum())]


def told(event):
    if isinstance(event, paddle.event.EndIteration) and event.batch_id == 2:
        if "hang" in sys.argv:
            print("hangs", flush=True)
            signal.pause()
        if sys.argv[1:] == [str(rank)]:
            sys.exit(7)


trainer.train(paddle.batch(samples, 16), num_passes=2, event_handler=told)
"""


def install(cluster: Cluster, node: str) -> None:
    """Have the runtime on a node, for whoever has it in PYTHONPATH. Where it lies at the same place as here,
    kernels that were compiled here are not compiled again."""
    place = cluster.path(node, ROOT / "runtime")
    if not place.exists():
        shutil.copytree(ROOT / "runtime", place)


class Mpi:
    """What a user of the document has: a key that opens every node, and a file of machines."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.machines = folder / "machines"
        self.machines.write_text("".join(f"{node.address}\n" for node in cluster.nodes.values()))
        self._started: list[subprocess.Popen[str]] = []

    def copy(self) -> None:
        """Copy to every node what the document has one copy."""
        for node in self.cluster.nodes:
            place = self.cluster.path(node, FOLDER)
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir()
            install(self.cluster, node)
            for path in (ROOT / "cluster" / "openmpi" / "start_mpi_train.sh", self.machines):
                shutil.copy(path, place)
            (place / "train.py").write_text(TRAIN)

    def start(self, *argv: str) -> subprocess.Popen[str]:
        """Start mpirun at the head."""
        environ = {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_plm_rsh_agent": f"ssh -F {self.cluster.home.ssh_config}",
            "PYTHON": sys.executable,
            "PYTHONPATH": str(ROOT / "runtime"),
            "NUMBA_CACHE_DIR": "",  # kernels that lie beside the sources are taken from there
        }
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        shown = [word for name in ("PYTHON", "PYTHONPATH", "NUMBA_CACHE_DIR") for word in ("-x", name)]
        command = ("mpirun", *shown, "-hostfile", self.machines, "-n", "3")
        self._started.append(self.cluster.start(*command, *argv, environ=environ, **streams))
        return self._started[-1]

    def run(self, *argv: str) -> tuple[int, str]:
        """Run mpirun to its end; gives its status and what it printed."""
        process = self.start(*argv)
        output, _ = process.communicate(timeout=PATIENCE_S)
        print(output)
        return process.returncode, output

    def log(self, node: str, name: str = "train.log") -> str:
        """A log as it is now; empty where there is none."""
        path = self.cluster.path(node, FOLDER) / "logs" / name
        return path.read_text() if path.exists() else ""

    def wait_until_it_hangs(self) -> None:
        for node in self.cluster.nodes:
            until(lambda node=node: "hangs" in self.log(node), f"the trainer on {node} to hang", PATIENCE_S)

    def left(self) -> list[str]:
        """What of it runs on any node."""
        found = [process for node in self.cluster.nodes for process in self.cluster.processes(node)]
        return [str(process) for process in found if "sshd" not in str(process)]

    def close(self) -> None:
        for process in self._started:
            process.kill()
            process.communicate()


@pytest.fixture
def mpi(cluster: Cluster, tmp_path: Path) -> Iterator[Mpi]:
    made = Mpi(cluster, tmp_path)
    made.copy()
    yield made
    made.close()
    until(lambda: not made.left(), "the end of all that mpirun had started", PATIENCE_S)


def test_the_command_of_the_document_trains_whatever_machines_it_fills_first(
    mpi, cluster, tmp_path, of_all_workers
) -> None:
    """With two cores a machine, mpirun puts two ranks on the first and none on the last."""
    package = word2vec.prepared(tmp_path / "package", of_all_workers)
    for node in cluster.nodes:
        shutil.copytree(package, cluster.path(node, FOLDER), dirs_exist_ok=True)
    status, output = mpi.run(f"{FOLDER}/start_mpi_train.sh", "train.py", f"--num_passes={word2vec.PASSES}")
    assert status == 0
    assert output.count("of 3 trainers and ") == 3
    crowded = "3 ranks are on 2 of 3 machines" in output  # as it is where machines have two cores
    assert crowded == (output.count("of 3 trainers and 2 pservers") == 3)
    until(lambda: not mpi.left(), "the end of what is on its way out")
    places = [cluster.path(node, FOLDER) for node in cluster.nodes]
    digests = [word2vec.learned(log.read_text()) for place in places for log in place.glob("logs/train*.log")]
    assert digests == [word2vec.locally(of_all_workers)] * word2vec.NODES
    models = {path.parent.name for path in places[0].glob("output/*/done")}
    assert models == {"pass-00000", "pass-00001"}


def test_the_status_of_the_rank_that_fails_is_that_of_mpirun(mpi, cluster) -> None:
    status, output = mpi.run("--map-by", "node", f"{FOLDER}/start_mpi_train.sh", "train.py", "1")
    assert status == 7
    assert "paddle rank 1: trainer-1 ended with status 7" in output
    assert f"its full output is in {FOLDER}/logs/train.log" in output
    until(lambda: not mpi.left(), "the end of the other ranks", PROMISED_S)


@pytest.mark.parametrize(
    "signals",
    [
        pytest.param([signal.SIGINT], id="INT"),
        pytest.param([signal.SIGINT, signal.SIGINT], id="twice", marks=pytest.mark.thorough),
        pytest.param([signal.SIGKILL], id="KILL", marks=pytest.mark.thorough),
    ],
)
def test_nothing_is_left_where_mpirun_ends(mpi, cluster, signals) -> None:
    process = mpi.start("--map-by", "node", f"{FOLDER}/start_mpi_train.sh", "train.py", "hang")
    mpi.wait_until_it_hangs()
    began = time.monotonic()
    for signum in signals:
        process.send_signal(signum)
    until(lambda: not mpi.left(), "the end of all ranks", PATIENCE_S)
    assert time.monotonic() - began < PROMISED_S
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode != 0


@pytest.mark.thorough  # test_platform_mpi.py kills one, too
def test_a_rank_that_is_killed_takes_its_processes_and_the_job_with_it(mpi, cluster) -> None:
    process = mpi.start("--map-by", "node", f"{FOLDER}/start_mpi_train.sh", "train.py", "hang")
    mpi.wait_until_it_hangs()
    (rank,) = [each for each in cluster.processes("n2") if "paddle rank" in " ".join(each.argv)]
    os.kill(rank.host_pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode != 0
    until(lambda: not mpi.left(), "the end of all ranks", PATIENCE_S)


@pytest.mark.thorough  # test_platform_mpi.py asks the same of two launches
def test_a_second_job_on_the_same_machines_needs_ports_of_its_own_and_leaves_the_first_alone(
    mpi, cluster
) -> None:
    first = mpi.start("--map-by", "node", f"{FOLDER}/start_mpi_train.sh", "train.py", "hang")
    mpi.wait_until_it_hangs()
    before = trainers(cluster)
    second = ("--map-by", "node", f"{FOLDER}/start_mpi_train.sh", "--log_dir=second")
    status, output = mpi.run(*second)
    assert status == 98
    assert re.search(r"paddle pserver: port 7164 of 10\.77\.0\.\d is in use by process \d+", output)
    assert trainers(cluster) == before
    status, _ = mpi.run(*second, "--port=8164")
    assert status == 0
    assert trainers(cluster) == before
    assert first.poll() is None


def trainers(cluster: Cluster) -> list[tuple[str, int]]:
    """Where a trainer hangs, and as which process."""
    found = [(node, each) for node in cluster.nodes for each in cluster.processes(node)]
    return sorted((node, each.pid) for node, each in found if each.argv[-2:] == ("train.py", "hang"))


@pytest.mark.thorough
def test_a_file_of_machines_may_say_all_that_mpirun_reads_in_it(mpi, cluster) -> None:
    text = (
        "# the rack\n\n10.77.0.1 slots=1 max_slots=1 # first\n  root@10.77.0.2   slots = 1\n"
        "n3 slots=1 username=root\n"
    )
    for path in (mpi.machines, *(cluster.path(node, FOLDER) / "machines" for node in cluster.nodes)):
        path.write_text(text)
    status, output = mpi.run(f"{FOLDER}/start_mpi_train.sh")
    assert status == 0
    assert sorted(re.findall(r"trainer-\d at \S+, of 3 trainers and 3 pservers", output)) == [
        f"trainer-{rank} at 10.77.0.{rank + 1}, of 3 trainers and 3 pservers" for rank in range(3)
    ]


@pytest.mark.parametrize(
    ("lacking", "status", "words"),
    [
        (
            "machines",
            2,
            f"paddle rank 1: {FOLDER}/machines: No such file or directory. It is to name the machines",
        ),
        ("train.py", 2, "paddle rank 1: there is no program train.py in"),
        ("start_mpi_train.sh", None, "Node: 10.77.0.2"),
    ],
)
def test_what_a_machine_lacks_is_named_at_once(mpi, cluster, lacking, status, words) -> None:
    (cluster.path("n2", FOLDER) / lacking).unlink()
    ended, output = mpi.run("--map-by", "node", f"{FOLDER}/start_mpi_train.sh")
    assert ended == status or (status is None and ended)
    assert words in output


@pytest.mark.thorough  # test_platform_mpi.py cuts a machine off, too
def test_with_the_flags_of_the_page_a_machine_that_is_cut_off_ends_the_job_on_all(mpi, cluster) -> None:
    """mpirun's own daemons as well; without them everybody waits for ten minutes."""
    watched = re.findall(r"--mca oob_tcp_keepalive_\w+ \d+", (ROOT / "docs" / "mpi.md").read_text())
    assert len(watched) == 3
    flags = " ".join(watched).split()
    process = mpi.start(*flags, "--map-by", "node", f"{FOLDER}/start_mpi_train.sh", "train.py", "hang")
    mpi.wait_until_it_hangs()
    cluster.cut("n2")
    try:
        until(lambda: not mpi.left(), "the end of all ranks", PATIENCE_S)
        process.wait(PATIENCE_S)
    finally:
        cluster.plug("n2")
    assert process.returncode != 0


def test_a_machine_without_open_mpi_is_told_by_mpirun_and_nothing_is_started(mpi, cluster) -> None:
    with without_open_mpi(cluster, "n2"):
        status, output = mpi.run("--map-by", "node", f"{FOLDER}/start_mpi_train.sh")
    assert status == 127
    assert "orted: command not found" in output
    assert "paddle rank" not in output


@contextlib.contextmanager
def without_open_mpi(cluster: Cluster, node: str) -> Iterator[None]:
    cluster.run("mv", "/usr/bin/orted", "/usr/bin/away", at=node)
    try:
        yield
    finally:
        cluster.run("mv", "/usr/bin/away", "/usr/bin/orted", at=node)
