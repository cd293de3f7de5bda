"""``python paddle.py --platform=mpi``: the whole walk, with a real mpirun that comes to nodes over SSH."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.over_ssh import LOSES_ONE, PATIENCE_S, PROMISED_S, Job, all_gone, clear, launching
from tests.cluster.ranks import word2vec
from tests.cluster.ranks.test_openmpi import without_open_mpi
from tests.lab.cluster import Cluster
from tests.waiting import until

pytestmark = pytest.mark.cluster

GIVEN_UP_S = 40.0
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("family", flush=True)
time.sleep(600)
"""
HANGS = "import time\nprint('hangs', flush=True)\ntime.sleep(600)\n"


@pytest.fixture
def launch(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """Start a launcher that reaches nodes by mpirun; whatever it leaves is removed in the end."""
    clear(cluster)
    hosts = [f"root@{node.address}" for node in cluster.nodes.values()]
    environ = {"OMPI_MCA_plm_rsh_agent": f"ssh -F {cluster.home.ssh_config}"}
    with launching(cluster) as start:

        def by_mpirun(*argv: str | Path, folder: str = "job", **how: object) -> Job:
            how = {"hosts": hosts, "environ": environ, **how}
            return start(cluster, tmp_path / folder, "--platform=mpi", *argv, **how)

        yield by_mpirun


def mpirun_of(job: Job) -> int:
    """The one that a launcher has started and that still runs, once there is no other."""

    def only() -> list[int]:
        found = list(filter(_is_mpirun, _children(job.process.pid)))
        return found if len(found) == 1 else []

    (pid,) = until(only, "one mpirun")
    return int(pid)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for each in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # of a thread that ends just then
            found += map(int, each.read_text().split())
    return found


def _is_mpirun(pid: int) -> bool:
    with contextlib.suppress(OSError):  # of a process
        return b"mpirun" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0]
    return False


def test_a_job_trains_as_it_does_without_machines(launch, tmp_path, of_all_workers) -> None:
    package = word2vec.prepared(tmp_path / "package", of_all_workers)
    alone = word2vec.locally(of_all_workers)
    job = launch(f"--num_passes={word2vec.PASSES}", package=package, pserver=None)
    status, output, errors = job.end()
    assert (status, errors) == (0, "")
    assert "3 pservers and 3 trainers on 3 MPI nodes" in output
    logs = [(package / "log" / f"node-{node}" / "train.log").read_text() for node in range(word2vec.NODES)]
    assert [word2vec.learned(log) for log in logs] == [alone] * word2vec.NODES
    assert (package / "output" / "pass-00001" / "done").exists()


def test_the_others_go_on_at_once_without_a_trainer_that_is_killed(launch, cluster) -> None:
    job = launch("--min_trainers=2", train=LOSES_ONE, pserver=None)
    status, output, _ = job.end()  # within much less than --barrier_timeout
    assert status == 0
    assert "trainer-1: was killed by SIGKILL; the job goes on without it (--min_trainers=2)" in output
    assert ["trained" in job.log(node, "train.log") for node in cluster.names] == [True, False, True]


def test_ctrl_c_stops_every_process_and_collects(launch) -> None:
    job = launch()
    job.wait_until_trained()
    mpirun = mpirun_of(job)
    output, took = job.stop(signal.SIGINT)
    assert took < PROMISED_S
    assert "collecting results" in output
    assert (job.package / "log/node-2/train.log").exists()
    until(lambda: not Path(f"/proc/{mpirun}").exists(), "the end of mpirun")


@pytest.mark.thorough
def test_ctrl_c_twice_kills_what_does_not_end(launch, cluster) -> None:
    job = launch(train=STUBBORN)
    job.wait_until_trained()
    mpirun = mpirun_of(job)
    job.process.send_signal(signal.SIGINT)
    job.wait_for("stopping")
    began = time.monotonic()
    job.process.send_signal(signal.SIGINT)
    all_gone(cluster)
    assert time.monotonic() - began < PROMISED_S
    status, output, _ = job.end()
    assert status == 130
    assert "killing what is left" in output
    until(lambda: not Path(f"/proc/{mpirun}").exists(), "the end of mpirun")


def test_a_node_that_is_cut_off_is_named_and_nothing_goes_on_there(launch, cluster) -> None:
    job = launch()
    job.wait_until_trained()
    cluster.cut("n2")
    try:
        all_gone(cluster, GIVEN_UP_S, ["n2"])  # mpirun's daemon, too
        status, output, errors = job.end()
    finally:
        cluster.plug("n2")
    assert status == 1
    assert "the job failed on node 1 (10.77.0.2): nothing was heard from it" in errors
    assert "could be collected" in output or "not collected" in output


@pytest.mark.thorough
def test_two_jobs_on_the_same_nodes_need_ports_of_their_own(launch, cluster) -> None:
    first = launch(pserver=None, train=HANGS)
    first.wait_for("starting 3 trainers")
    status, _, errors = launch(pserver=None, train=HANGS, folder="second").end()
    assert status == 98
    assert re.search(r"port 7164 of 10\.77\.0\.\d is in use by process \d+", errors)
    third = launch("--port=8164", pserver=None, train="print('done')", folder="third")
    assert third.end()[0] == 0
    assert first.process.poll() is None
    assert (
        len([one for node in cluster.names for one in cluster.processes(node) if "train.py" in one.argv]) == 3
    )


def test_root_launches_for_the_user_that_hosts_name(launch, cluster) -> None:
    for node in cluster.names:
        cluster.run("install", "-d", "-o", "paddle", "/srv/jobs", at=node)
    job = launch(hosts=[f"paddle@{node.address}" for node in cluster.nodes.values()])
    job.wait_until_trained()
    trainers = [one for node in cluster.names for one in cluster.processes(node) if "train.py" in one.argv]
    owners = {Path(f"/proc/{one.host_pid}").stat().st_uid for one in trainers}
    job.stop(signal.SIGTERM)
    assert owners == {7164}


def test_a_machine_without_open_mpi_is_named_before_anything_is_changed(launch, cluster) -> None:
    with without_open_mpi(cluster, "n2"):
        status, _, errors = launch().end()
    assert status == 1
    assert "orted: command not found" in errors
    assert "nothing was started or changed on any" in errors
    assert not cluster.files("n1", "/srv/jobs")


def test_a_launcher_that_is_killed_leaves_nothing(launch, cluster) -> None:
    job = launch()
    job.wait_until_trained()
    mpirun = mpirun_of(job)
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
