"""Roles of jobs on machines are started again, and jobs are launched again: never are there two of one."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.over_ssh import ROOT_DIR, Job, clear, launching, left_behind, ports_to
from tests.family import eldest
from tests.lab.cluster import Cluster
from tests.lab.partition import dark
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.cluster, pytest.mark.faults]


CONF = f"NODE_PYTHON = {sys.executable!r}\nPSERVER_HOSTS = ['n3']\nTRAINER_HOSTS = ['n1', 'n2']\n"

LEASE = "from paddle._launch.backends import node; node.LEASE_S = 15.0"  # long enough to be refused meanwhile

# What takes a launcher long on a busy machine is done when it is let go.
HELD = """
import time
from pathlib import Path
import fabric
import paddle._launch.cli
import paddle._launch.launch
print("held", flush=True)
while not Path("go").exists():
    time.sleep(0.01)
"""

# There must never be two of it on a node. When it is killed it leaves a child behind.
SINGLE = """
import os, signal
if os.fork() == 0:
    os.setsid()
    signal.pause()
print("family", os.getpid(), flush=True)
signal.pause()
"""


def trains(job: Job) -> None:
    """Wait until both trainers are there."""
    job.wait_for("starting 2 trainers")
    for node in ("n1", "n2"):
        until(lambda node=node: "family" in job.log(node, "train.log"), f"the trainer on {node}", PATIENCE_S)


def singles(lab: Cluster, node: str) -> list[int]:
    """The trainers on a node, and what they have left there."""
    return [one.host_pid for one in lab.processes(node) if "train.py" in one.argv]


@pytest.fixture
def single(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """Start a job of pretended pservers and of trainers that only stay."""
    clear(cluster)
    with launching(cluster) as start:

        def stays(*argv: str, folder: str = "job", before: str = "") -> Job:
            return start(cluster, tmp_path / folder, *argv, train=SINGLE, conf=CONF, before=before)

        yield stays


def test_the_third_death_fails_the_job_and_nothing_is_ever_left_of_the_ones_before(single, cluster) -> None:
    job = single("--max_restart=2")
    trains(job)
    seen: set[int] = set()
    for life in range(3):
        until(
            lambda life=life: job.log("n2", "train.log").count("family") == life + 1,
            f"life {life}",
            PATIENCE_S,
        )
        alive = singles(cluster, "n2")
        assert len(alive) == 2 and not seen & set(alive)
        seen |= set(alive)
        (trainer,) = eldest(alive)
        os.kill(trainer, signal.SIGKILL)
    status, output, errors = job.end()
    assert status == 137
    assert "trainer-1: its process was killed by SIGKILL; it is started again in 2 s, for the last" in output
    assert "paddle.py: trainer-1 was killed by SIGKILL on node 1 (n2). Its last lines:" in errors
    assert "Why: it had been started again 2 times (--max_restart=2), after it was killed by SIG" in errors
    assert left_behind(cluster) == {}


@contextlib.contextmanager
def most_at_once(lab: Cluster, node: str) -> Iterator[list[int]]:
    """The greatest number of such processes that were on a node at any moment, once it is left."""
    most, is_over = [0], threading.Event()

    def look() -> None:
        is_last = False
        while not is_last:
            is_last = is_over.wait(0.02)  # once more, then
            most[0] = max(most[0], len(singles(lab, node)))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield most
    finally:
        is_over.set()
        watcher.join()


def test_who_launches_again_after_a_partition_or_a_reboot_is_alone_on_the_node(
    single, cluster, tmp_path
) -> None:
    first = single(before=LEASE)
    trains(first)
    (workspace,) = cluster.path("n2", ROOT_DIR).glob("JOB*")
    again = ("--job_dispatch_package=", f"--job_workspace={ROOT_DIR}/{workspace.name}")
    address = cluster.addresses["n2"]
    (port,) = ports_to(first, address)
    with most_at_once(cluster, "n2") as most:
        held = single(*again, folder="refused", before=HELD)
        held.wait_for("held")
        with dark(cluster.filter, address, port):  # that connection alone: all others reach the node
            first.process.kill()  # of which n2 hears nothing
            (tmp_path / "refused" / "go").write_text("")
            refused = held.end()
            assert (refused[0], "is in use by another job" in refused[2]) == (1, True), refused
            assert len(singles(cluster, "n2")) == 2
            log = workspace / "log" / "agent.log"
            until(lambda: "stopped: lease" in log.read_text(), "the end of the lease", PATIENCE_S)
        second = single(*again, folder="again")
        trains(second)
    assert most == [2]

    cluster.reboot("n2")
    with most_at_once(cluster, "n2") as most:
        status, _, errors = second.end()
        assert (status, "the job failed on node 1 (n2)" in errors) == (1, True)
        third = single(*again, folder="third")
        trains(third)
    assert most == [2]
    third.process.send_signal(signal.SIGINT)
    assert third.end()[0] == 130
