"""Processes of jobs on machines are killed and started again: the job ends as if nothing had been, or says
why it cannot go on; and never are there two of one."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import NETWORK, assert_same
from tests.cluster.over_ssh import ROOT_DIR, Job, all_gone, clear, left
from tests.lab.cluster import Cluster
from tests.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

PATIENCE_S = 60.0

# Says where it is by a line, and stays after a batch where a file says so. The same words in every pass.
TRAIN = """
import os, time
from pathlib import Path
import numpy as np
import paddle.v2 as paddle

paddle.init()
me, here = int(os.environ["PADDLE_INIT_TRAINER_ID"]), Path("stays")
NETWORK
trainer = paddle.trainer.SGD(
    cost, parameters, paddle.optimizer.Adam(learning_rate=0.01, MODE), is_local=False)
words = [(each, each % 5) for each in range(me, 40, 2)]


def handler(event):
    if isinstance(event, paddle.event.EndIteration | paddle.event.EndPass):
        at = getattr(event, "batch_id", "end")
        print("at", event.pass_id, at, flush=True)
        while here.exists() and here.read_text() == f"{event.pass_id} {at}":
            time.sleep(0.01)


trainer.train(paddle.batch(lambda: iter(words * 5), 10), num_passes=4, event_handler=handler)
np.savez("after.npz", **{name: parameters.get(name) for name in parameters.keys()})
""".replace("NETWORK", NETWORK)
CONF = f"NODE_PYTHON = {sys.executable!r}\nPSERVER_HOSTS = ['n3']\nTRAINER_HOSTS = ['n1', 'n2']\n"
KEPT = ("--snapshot_dir=kept", "--snapshot_period=3", "--max_restart=2")


# There must never be two of it on a node. When it is killed it leaves a child behind.
SINGLE = """
import os, signal
if os.fork() == 0:
    os.setsid()
    signal.pause()
print("family", os.getpid(), flush=True)
signal.pause()
"""


@pytest.fixture
def launch(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """Start a job of real pservers, at n3, and two trainers, at n1 and n2."""
    clear(cluster)
    started: list[Job] = []

    def start(*argv: str, mode: str = "", stays: str = "", folder: str = "job") -> Job:
        package = tmp_path / folder / "package"
        package.mkdir(parents=True)
        (package / "train.py").write_text(TRAIN.replace("MODE", mode))
        (package / "stays").write_text(stays)
        job = Job(cluster, tmp_path / folder, *argv, pserver=None, package=package, conf=CONF)
        started.append(job)
        return job

    yield start
    for job in started:
        job.clean_up()
    all_gone(cluster)


def kill(lab: Cluster, node: str, word: str) -> None:
    """Kill the process of a role, of which no other is there: its children end with it, or it has none."""
    found = [one for one in lab.processes(node) if word in one.argv]
    os.kill(min(found, key=lambda one: one.pid).host_pid, signal.SIGKILL)


def is_at(job: Job, node: str, words: str) -> None:
    """Wait until the trainer there has said so."""
    until(lambda: words in job.log(node, "train.log").splitlines(), f"{words!r} of {node}", PATIENCE_S)


def go_on(job: Job, node: str) -> None:
    """Let the trainer of a node stay nowhere any more."""
    (folder,) = job.lab.path(node, ROOT_DIR).glob("JOB*")
    (folder / "stays").write_text("")


def after(job: Job, node: str) -> dict[str, np.ndarray]:
    (found,) = job.lab.path(node, ROOT_DIR).glob("JOB*/after.npz")
    return dict(np.load(found))


def test_in_step_a_killed_pserver_and_a_trainer_killed_between_two_passes_cost_no_bit(
    launch, cluster
) -> None:
    job = launch(*KEPT, "--format=json", stays="1 end")
    is_at(job, "n1", "at 0 4")
    kill(cluster, "n3", "pserver")
    for node in ("n1", "n2"):
        is_at(job, node, "at 1 end")
    go_on(job, "n1")
    kill(cluster, "n2", "train.py")
    is_at(job, "n2", "at 2 0")
    go_on(job, "n2")
    status, output, errors = job.end()
    assert (status, errors) == (0, "")
    told = [json.loads(line) for line in output.splitlines()]
    restarted = [(one["role"], one["text"]) for one in told if one["event"] == "restarted"]
    text = "its process was killed by SIGKILL; it is started again in 1 s, and once more"
    assert restarted == [("pserver-0", text), ("trainer-1", text)]
    log = job.log("n2", "train.log")
    assert re.search(r"^--- trainer-1 is started again, process \d+ ---$", log, re.MULTILINE)
    assert "at 1 0" not in log.partition("---")[2], "it passes over what was trained"
    disturbed = after(job, "n1")
    assert_same(disturbed, after(job, "n2"))

    clear(cluster)
    whole = launch(folder="whole")
    assert whole.end()[0] == 0
    assert_same(disturbed, after(whole, "n1"))


def test_out_of_step_a_killed_trainer_begins_its_pass_again_and_all_end_well(launch, cluster) -> None:
    job = launch("--max_restart=1", mode="is_async=True", stays="1 3")
    is_at(job, "n1", "at 1 3")
    go_on(job, "n2")
    kill(cluster, "n1", "train.py")
    until(lambda: "at 1 0" in job.log("n1", "train.log").partition("---")[2], "the pass again", PATIENCE_S)
    go_on(job, "n1")
    status, output, errors = job.end()
    assert status == 0, output + errors
    assert "trainer-0: its process was killed by SIGKILL; it is started again in 1 s, for the last" in output
    lives = job.log("n1", "train.log").partition("---")
    assert "at 0 0" in lives[0] and "at 0 0" not in lives[2]
    assert "at 3 end" in lives[2] and "training goes on from step" in lives[2]
    assert_same(after(job, "n1"), after(job, "n2"))


def test_in_step_a_trainer_killed_in_the_midst_of_a_pass_ends_the_job_at_once_with_the_reason(
    launch, cluster
) -> None:
    job = launch(*KEPT, stays="1 3")
    is_at(job, "n2", "at 1 3")
    kill(cluster, "n2", "train.py")
    began = time.monotonic()
    status, output, errors = job.end()
    assert status == 137
    assert "paddle.py: trainer-1 was killed by SIGKILL on node 1 (n2). Its last lines:" in errors
    assert "  | at 1 3\n" in errors
    assert "no other process can take up the pass that it was in the midst of" in errors
    assert "to go on from the snapshots: python paddle.py --resume=JOB" in output
    assert "is started again" not in job.log("n2", "train.log")
    assert time.monotonic() - began < 30
    assert left(cluster) == {}


def singles(lab: Cluster, node: str) -> list[int]:
    """The trainers on a node, and what they have left there."""
    return [one.host_pid for one in lab.processes(node) if "train.py" in one.argv]


@pytest.fixture
def single(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """Start a job of pretended pservers and of trainers that only stay."""
    clear(cluster)
    started: list[Job] = []

    def start(*argv: str, folder: str = "job") -> Job:
        started.append(Job(cluster, tmp_path / folder, *argv, train=SINGLE))
        return started[-1]

    yield start
    for job in started:
        job.clean_up()
    all_gone(cluster)


def test_the_third_death_fails_the_job_and_nothing_is_ever_left_of_the_ones_before(single, cluster) -> None:
    job = single("--max_restart=2")
    job.wait_until_trained()
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
        os.kill(min(alive), signal.SIGKILL)
    status, output, errors = job.end()
    assert status == 137
    assert "trainer-1: its process was killed by SIGKILL; it is started again in 2 s, for the last" in output
    assert "paddle.py: trainer-1 was killed by SIGKILL on node 1 (n2). Its last lines:" in errors
    assert "Why: it had been started again 2 times (--max_restart=2), after it was killed by SIG" in errors
    assert left(cluster) == {}


@contextlib.contextmanager
def most_at_once(lab: Cluster, node: str) -> Iterator[list[int]]:
    """The greatest number of such processes that were on a node at any moment, once it is left."""
    most, is_over = [0], threading.Event()

    def look() -> None:
        while not is_over.wait(0.02):
            most[0] = max(most[0], len(singles(lab, node)))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield most
    finally:
        is_over.set()
        watcher.join()


def test_who_launches_again_after_a_partition_or_a_reboot_is_alone_on_the_node(single, cluster) -> None:
    first = single()
    first.wait_until_trained()
    (workspace,) = cluster.path("n2", ROOT_DIR).glob("JOB*")
    again = ("--job_dispatch_package=", f"--job_workspace={ROOT_DIR}/{workspace.name}")
    cluster.cut("n2")
    first.process.kill()  # of which n2 hears nothing
    all_gone(cluster, nodes=["n1", "n3"])
    assert len(singles(cluster, "n2")) == 2
    cluster.plug("n2")
    refused = 0
    with most_at_once(cluster, "n2") as most:
        while True:
            second = single(*again, folder=f"again-{refused}")
            with contextlib.suppress(AssertionError):
                second.wait_for("starting 3 trainers")
                break
            assert "is in use by another job" in second.end()[2]
            refused += 1
        until(lambda: "family" in second.log("n2", "train.log"), "the new one", PATIENCE_S)
    assert most == [2]

    cluster.reboot("n2")
    with most_at_once(cluster, "n2") as most:
        status, _, errors = second.end()
        assert (status, "the job failed on node 1 (n2)" in errors) == (1, True)
        third = single(*again, folder="third")
        third.wait_for("starting 3 trainers")
        until(lambda: "family" in third.log("n2", "train.log"), "the third one", PATIENCE_S)
    assert most == [2]
    third.process.send_signal(signal.SIGINT)
    assert third.end()[0] == 130
