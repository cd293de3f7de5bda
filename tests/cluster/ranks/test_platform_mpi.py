"""``python paddle.py --platform=mpi``: the whole walk, with a real mpirun that comes to nodes over SSH."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import assert_same
from tests.cluster.over_ssh import PATIENCE_S, PROMISED_S, Job, all_gone, clear
from tests.cluster.ranks.test_openmpi import TRAIN, locally
from tests.lab.cluster import Cluster
from tests.waiting import until

pytestmark = pytest.mark.cluster


@pytest.fixture
def launch(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """Start a launcher that reaches nodes by mpirun; whatever it leaves is removed in the end."""
    clear(cluster)
    started: list[Job] = []

    def start(*argv: str | Path, **how: object) -> Job:
        hosts = [f"root@{node.address}" for node in cluster.nodes.values()]
        environ = {"OMPI_MCA_plm_rsh_agent": f"ssh -F {cluster.home.ssh_config}"}
        how = {"hosts": hosts, "environ": environ, **how}
        started.append(Job(cluster, tmp_path / "job", "--platform=mpi", *argv, **how))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for job in started:
        job.clean_up()
    all_gone(cluster)


def mpiruns(job: Job) -> list[int]:
    """Those that a launcher has started and that still run."""
    children = Path(f"/proc/{job.process.pid}/task").glob("*/children")
    found = [int(pid) for each in children for pid in each.read_text().split()]
    return [pid for pid in found if b"mpirun" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]]


def test_a_job_trains_as_it_does_without_machines(launch, cluster, tmp_path) -> None:
    job = launch(train=TRAIN, pserver=None)
    status, output, errors = job.end()
    assert (status, errors) == (0, "")
    assert "3 pservers and 3 trainers on 3 MPI nodes" in output
    for node in range(3):
        assert (job.package / f"log/node-{node}/train.log").read_text().startswith("[")
    places = [next(cluster.path(node, "/srv/jobs").glob("JOB*")) for node in cluster.names]
    ended = [dict(np.load(place / f"after-{rank}.npz")) for rank, place in enumerate(places)]
    alone = locally(tmp_path / "here")
    for each in ended:
        assert_same(alone, each)


def test_ctrl_c_stops_every_process_and_collects(launch) -> None:
    job = launch()
    job.wait_until_trained()
    (mpirun,) = mpiruns(job)
    output, took = job.stop(signal.SIGINT)
    assert took < PROMISED_S
    assert "collecting results" in output
    assert (job.package / "log/node-2/train.log").exists()
    until(lambda: not Path(f"/proc/{mpirun}").exists(), "the end of mpirun")


def test_a_launcher_that_is_killed_leaves_nothing(launch, cluster) -> None:
    job = launch()
    job.wait_until_trained()
    (mpirun,) = mpiruns(job)
    os.kill(job.process.pid, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{mpirun}").exists(), "the end of mpirun")
    all_gone(cluster)


def test_a_rank_that_is_killed_is_named_and_what_was_written_is_collected(launch, cluster) -> None:
    job = launch()
    job.wait_until_trained()
    (bridge,) = [
        each for each in cluster.processes("n2") if "PADDLE_BRIDGE" in each.environ and "-S" in each.argv
    ]
    os.kill(bridge.host_pid, signal.SIGKILL)
    status, output, errors = job.end(PATIENCE_S)
    assert status == 1
    assert re.search(r"the job failed on node \d \(10\.77\.0\.\d\): its agent ended unasked", errors)
    assert "could be collected" not in output
    for node in range(3):
        assert (job.package / f"log/node-{node}/train.log").exists()


def test_a_machine_that_mpirun_cannot_reach_is_named_before_anything_is_changed(launch, cluster) -> None:
    status, _, errors = launch(hosts=["root@10.77.0.1", "root@10.77.0.99"]).end()
    assert status == 1
    assert "It says: ssh: connect to host 10.77.0.99" in errors
    assert "nothing was started or changed on any" in errors
    assert not cluster.files("n1", "/srv/jobs")
