"""A job under a real mpirun, over SSH, as the document has it: files on every node, and one command."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import assert_same
from tests.fresh import ROOT
from tests.lab.cluster import Cluster
from tests.waiting import until

pytestmark = pytest.mark.cluster

FOLDER = "/srv/tutorial"
PATIENCE_S = 60.0
PROMISED_S = 5.0

TRAIN = """
import json, os, signal, sys
import numpy as np
import paddle.v2 as paddle

paddle.init(use_gpu=False)
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(4))
word = paddle.layer.data(name="word", type=paddle.data_type.integer_value(30))
y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
row = paddle.layer.embedding(
    input=word, size=3, param_attr=paddle.attr.Param(name="rows", initial_std=0.1, sparse_update=True)
)
out = paddle.layer.fc(input=[x, row], size=1, act=paddle.activation.Linear())
cost = paddle.layer.square_error_cost(input=out, label=y)
parameters = paddle.parameters.create(cost)
optimizer = paddle.optimizer.AdaGrad(learning_rate=1e-2)
trainer = paddle.trainer.SGD(cost, parameters, optimizer, is_local=False)
costs = []


def samples():
    drawn = np.random.RandomState(rank)
    for _ in range(64):
        vector = drawn.randn(4).astype("float32")
        yield vector, drawn.randint(30), [float(vector.sum())]


def told(event):
    if isinstance(event, paddle.event.EndIteration):
        costs.append(event.cost)
        if len(costs) == 3 and "hang" in sys.argv:
            print("hangs", flush=True)
            signal.pause()
        if len(costs) == 3 and sys.argv[1:] == [str(rank)]:
            sys.exit(7)


trainer.train(paddle.batch(samples, 16), num_passes=2, event_handler=told)
np.savez("after-%d.npz" % rank, **{name: parameters.get(name) for name in parameters.keys()})
print(json.dumps(costs))
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
        }
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        command = ("mpirun", "-x", "PYTHON", "-x", "PYTHONPATH", "-hostfile", self.machines, "-n", "3")
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


def test_the_command_of_the_document_trains_whatever_machines_it_fills_first(mpi, cluster, tmp_path) -> None:
    """With two cores a machine, mpirun puts two ranks on the first and none on the last."""
    status, output = mpi.run(f"{FOLDER}/start_mpi_train.sh")
    assert status == 0
    assert output.count("of 3 trainers and ") == 3
    crowded = "3 ranks are on 2 of 3 machines" in output  # as it is where machines have two cores
    assert crowded == (output.count("of 3 trainers and 2 pservers") == 3)
    assert not mpi.left()
    places = (cluster.path(node, FOLDER) for node in cluster.nodes)
    found = {path.name: dict(np.load(path)) for place in places for path in place.glob("*.npz")}
    assert sorted(found) == [f"after-{rank}.npz" for rank in range(3)]
    alone = locally(tmp_path / "here")
    for ended in found.values():
        assert_same(alone, ended)


def locally(folder: Path) -> dict[str, np.ndarray]:
    """The same job by paddle.py, on three nodes that are embedded in this machine."""
    package = folder / "package"
    package.mkdir(parents=True)
    (package / "train.py").write_text(TRAIN)
    (folder / "conf.py").write_text("HOSTS = ['local', 'local', 'local']\nPADDLE_PORTS_NUM_FOR_SPARSE = 1\n")
    done = subprocess.run(
        [sys.executable, ROOT / "paddle.py", f"--conf={folder / 'conf.py'}", "-p", package],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done
    return dict(np.load(next(folder.glob("**/after-0.npz"))))


def test_the_status_of_the_rank_that_fails_is_that_of_mpirun(mpi, cluster) -> None:
    status, output = mpi.run("--map-by", "node", f"{FOLDER}/start_mpi_train.sh", "train.py", "1")
    assert status == 7
    assert "paddle rank 1: trainer-1 ended with status 7" in output
    assert f"all it printed is in {FOLDER}/logs/train.log" in output
    until(lambda: not mpi.left(), "the end of the other ranks", PROMISED_S)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_where_mpirun_ends(mpi, cluster, signum) -> None:
    process = mpi.start("--map-by", "node", f"{FOLDER}/start_mpi_train.sh", "train.py", "hang")
    mpi.wait_until_it_hangs()
    began = time.monotonic()
    process.send_signal(signum)
    until(lambda: not mpi.left(), "the end of all ranks", PATIENCE_S)
    assert time.monotonic() - began < PROMISED_S
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode != 0


def test_a_rank_that_is_killed_takes_its_processes_and_the_job_with_it(mpi, cluster) -> None:
    process = mpi.start("--map-by", "node", f"{FOLDER}/start_mpi_train.sh", "train.py", "hang")
    mpi.wait_until_it_hangs()
    (rank,) = [each for each in cluster.processes("n2") if "paddle rank" in " ".join(each.argv)]
    os.kill(rank.host_pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode != 0
    until(lambda: not mpi.left(), "the end of all ranks", PATIENCE_S)
