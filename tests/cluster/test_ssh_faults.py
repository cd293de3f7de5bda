"""What breaks while a job runs on machines: whatever it is, no process of the job is left on any of them."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.cluster.over_ssh import (
    LOSES_ONE,
    PROMISED_S,
    Job,
    agent_of,
    all_gone,
    clear,
    launching,
    left,
    left_behind,
)
from tests.family import eldest
from tests.lab.cluster import Cluster
from tests.pretenders import NEVER_ENDS, RUNAWAY
from tests.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

LEASE_S, SILENCE_S = 5.0, 14.0  # for tests of what happens then; the second is long, to be looked at before
HASTY = f"""
from functools import partial
from paddle._launch import launch
from paddle._launch.backends import node
node.LEASE_S = {LEASE_S}
launch.Limits = partial(launch.Limits, silence_s={SILENCE_S})
"""
SOON_OVER = "from functools import partial\nfrom paddle._launch import launch\n"
SOON_OVER += "launch.Limits = partial(launch.Limits, finish_s=3.0)"
LEAVES_A_MODEL = """
import pathlib
pathlib.Path("output/pass-00000").mkdir(parents=True)
pathlib.Path("output/pass-00000/done").write_text("")
"""


@pytest.fixture
def launch(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """Start a launcher on nodes on which there was none; whatever it leaves is removed in the end."""
    clear(cluster)
    with launching(cluster) as start:
        yield partial(start, cluster, tmp_path)


def test_a_launcher_that_hangs_lets_go_by_the_lease(launch, cluster) -> None:
    job = launch(before=HASTY)
    job.wait_until_trained()
    job.process.send_signal(signal.SIGSTOP)
    all_gone(cluster, LEASE_S + PROMISED_S)
    for node in cluster.names:
        assert "stopped: lease" in job.log(node, "agent.log")


def test_a_node_that_is_cut_off_stops_by_its_lease_and_is_named(launch, cluster) -> None:
    job = launch(before=HASTY)
    job.wait_until_trained()
    began = time.monotonic()
    cluster.cut("n2")
    try:
        all_gone(cluster, LEASE_S + PROMISED_S, ["n2"])
        assert "stopped: lease" in job.log("n2", "agent.log")
        assert left(cluster, ["n1"])
        status, output, errors = job.end()
    finally:
        cluster.plug("n2")
    assert status == 1
    assert re.search(r"the job failed on node 1 \(n2\): nothing was heard from it for \d+ s", errors)
    assert time.monotonic() - began < SILENCE_S + 30
    assert left_behind(cluster) == {}
    assert "not collected; still where it was made: root@n2:" in output
    for node in (0, 2):
        assert (job.package / f"log/node-{node}/train.log").read_text() == "family\n"


def test_the_others_go_on_at_once_without_a_trainer_that_is_killed(launch, cluster) -> None:
    job = launch("--min_trainers=2", train=LOSES_ONE, pserver=None)
    status, output, _ = job.end()  # within much less than --barrier_timeout
    assert status == 0
    assert "trainer-1: was killed by SIGKILL; the job goes on without it (--min_trainers=2)" in output
    assert ["trained" in job.log(node, "train.log") for node in cluster.names] == [True, False, True]


def test_a_cable_that_is_whole_again_before_the_lease_has_run_out_costs_a_pause(launch, cluster) -> None:
    """A connection that broke is not taken up again; one that is silent for some seconds has not broken."""
    job = launch(train="import time\nprint('family')\nwhile True: print(time.sleep(0.1), flush=True)\n")
    job.wait_until_trained()
    arrived = job.package / "log" / "node-1" / "train.log"
    until(arrived.exists, "lines of n2")
    cluster.cut("n2")
    threading.Event().wait(2.0)
    size = arrived.stat().st_size
    cluster.plug("n2")
    until(lambda: arrived.stat().st_size > size + 100, "lines of n2 again")
    output, _ = job.stop(signal.SIGINT)
    assert "collecting results" in output


def test_a_node_that_dies_ends_the_job_and_is_named(launch, make_lab, tmp_path) -> None:
    lab = make_lab(2)
    logs = "open('log/paddle_trainer.INFO', 'w').write('I1 loss\\n')\n"
    job = Job(lab, tmp_path / "other", train=logs + RUNAWAY)
    log = job.package / "log" / "node-1"
    wanted = {"train.log": "family\n", "paddle_trainer.INFO": "I1 loss\n"}

    def arrived() -> dict[str, str]:
        return {path.name: path.read_text() for path in log.iterdir()} if log.exists() else {}

    try:
        job.wait_until_trained()
        until(
            lambda: arrived() == wanted,
            "what a trainer prints, and logs, while it runs",
            seen=lambda: f"{arrived()}",
        )
        lab.kill("n2")
        status, _, errors = job.end()
        assert status == 1
        assert "the job failed on node 1 (n2): its agent ended unasked: its connection broke" in errors
        assert arrived() == wanted, "what had come from it is here"
        all_gone(lab, PROMISED_S, ["n1"])
    finally:
        job.clean_up()


@pytest.mark.thorough
def test_a_node_that_dies_once_all_trainers_have_ended_well_costs_its_logs_alone(make_lab, tmp_path) -> None:
    lab = make_lab(2)
    job = Job(lab, tmp_path, train=LEAVES_A_MODEL, pserver=NEVER_ENDS, before=SOON_OVER)
    try:
        job.wait_for("trainers succeeded")
        lab.kill("n2")
        status, output, errors = job.end()
        assert (status, errors) == (0, ""), output
        assert (
            "node 1: its agent ended unasked: its connection broke; all trainers have ended well, so the job "
            "goes on without it\n"
        ) in output
        done = f"done: logs in {job.package}/log, model in {job.package}/output, not collected; still"
        assert output.splitlines()[-1].startswith(f"{done} where it was made: root@n2:")
        assert (job.package / "output/pass-00000/done").exists()
        all_gone(lab, PROMISED_S, ["n1"])
    finally:
        job.clean_up()


@pytest.mark.parametrize(
    ("half", "words"), [(0, "the outer half was killed"), (1, "its agent ended unasked")]
)
def test_killing_half_an_agent_ends_the_job_and_is_told(launch, cluster, half, words) -> None:
    job = launch()
    job.wait_until_trained()
    agents = [one.host_pid for one in agent_of(cluster, "n3")]
    (outer,) = eldest(agents)
    (inner,) = {*agents} - {outer}
    os.kill((outer, inner)[half], signal.SIGKILL)
    status, _, errors = job.end()
    assert status == 1
    assert "the job failed on node 2 (n3): its agent" in errors
    assert words in errors
    assert left_behind(cluster) == {}


def test_a_taken_port_names_its_holder_before_anything_trains(launch, cluster) -> None:
    holder = "import socket; s = socket.create_server((str(), 7164)); print(4, flush=True); input()"
    way = ["ssh", "-F", cluster.home.ssh_config, "root@n2", f"python3 -c '{holder}'"]
    with cluster.start(*way, stdin=-1, stdout=-1, text=True) as taken:  # as users come, with their rights
        assert taken.stdout.readline() == "4\n"
        (number,) = [one.pid for one in cluster.processes("n2") if holder in one.argv]
        job = launch(pserver=None)
        status, output, errors = job.end()
        taken.kill()
    assert status == 98
    assert "pserver-1 ended with status 98 before it was ready on node 1 (n2)" in errors
    assert f"port 7164 of 10.77.0.2 is in use by process {number} (python3 -c" in errors
    assert "starting 3 pservers" in output
    assert "starting 3 trainers" not in output
    for number, node in enumerate(cluster.names):
        assert job.log(node, "train.log") == "", "nothing has trained"
        assert not (job.package / f"log/node-{number}/train.log").exists()
