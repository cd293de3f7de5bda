"""What breaks while a job runs on machines: whatever it is, no process of the job is left on any of them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from paddle._launch.backends.node import LEASE_S
from tests.cluster.over_ssh import Job, all_gone, clear, jobs, left
from tests.lab.cluster import Cluster
from tests.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

PROMISED_S = 5.0 * 2  # five seconds; a machine that is busy with other tests, too, may take twice as long
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
NEVER_READY = "import signal\nprint('family', flush=True)\nsignal.pause()\n"
STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("family", flush=True)
while True:
    signal.pause()
"""


@pytest.fixture
def launch(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """Start a launcher on nodes on which there was none; whatever it leaves is removed in the end."""
    clear(cluster)
    started: list[Job] = []

    def start(*argv: str | Path, **how: object) -> Job:
        started.append(Job(cluster, tmp_path, *argv, **how))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for job in started:
        job.clean_up()
    all_gone(cluster)


def nothing_delivered(lab: Cluster) -> None:
    for node in lab.names:
        assert jobs(lab, node) == []


@pytest.mark.parametrize("signum", SIGNALS)
def test_a_signal_while_the_workspace_is_sent(launch, cluster, tmp_path, signum) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "big").write_bytes(os.urandom(8 << 20))
    for node in cluster.names:
        cluster.rate(node, 16)  # four seconds for it
    try:
        job = launch()
        job.wait_for("sending the workspace")
        for node in cluster.names:
            until(lambda node=node: left(cluster, [node]), f"a receiver on {node}")
        output, took = job.stop(signum)
    finally:
        for node in cluster.names:
            cluster.rate(node, None)
    assert took < PROMISED_S
    assert output.endswith(f"ended with status {128 + signum}, before any role was started\n")
    nothing_delivered(cluster)


@pytest.mark.parametrize("signum", SIGNALS)
def test_a_signal_while_pservers_start(launch, cluster, signum) -> None:
    job = launch(pserver=NEVER_READY)
    job.wait_for("starting 3 pservers")
    for node in cluster.names:
        until(lambda node=node: "family" in job.log(node, "server.log"), f"words of the pserver on {node}")
    _, took = job.stop(signum)
    assert took < PROMISED_S
    for node in range(3):
        log = (job.package / f"log/node-{node}/agent.log").read_text()
        assert "stopped: asked by the launcher" in log
    nothing_delivered(cluster)


@pytest.mark.parametrize("signum", SIGNALS)
def test_a_signal_while_training(launch, cluster, signum) -> None:
    job = launch()
    job.wait_until_trained()
    output, took = job.stop(signum)
    assert took < PROMISED_S
    for node in range(3):
        assert (job.package / f"log/node-{node}/train.log").read_text() == "family\n"
    assert output.splitlines()[-1].startswith(f"ended with status {128 + signum}: logs in {job.package}/log")


def test_roles_that_ignore_the_request_are_gone_in_time(launch) -> None:
    job = launch(train=STUBBORN)
    job.wait_until_trained()
    assert job.stop(signal.SIGINT)[1] < PROMISED_S


def test_a_second_interrupt_kills_at_once(launch, cluster) -> None:
    job = launch(train=STUBBORN)
    job.wait_until_trained()
    job.process.send_signal(signal.SIGINT)
    job.wait_for("stopped by SIGINT")
    output, took = job.stop(signal.SIGINT)
    assert took < PROMISED_S
    assert "killing what is left" in output


def test_an_agent_that_hangs_is_killed_from_outside(launch, cluster) -> None:
    job = launch()
    job.wait_until_trained()
    for node in cluster.names:
        agents = [one for one in cluster.processes(node) if "exec(s)" in one.argv[-1]]
        assert len(agents) == 2
        for agent in agents:
            os.kill(agent.host_pid, signal.SIGSTOP)
    assert job.stop(signal.SIGTERM)[1] < PROMISED_S
    for node in range(3):
        assert (job.package / f"log/node-{node}/train.log").read_text() == "family\n"


def test_what_another_runs_on_a_node_is_left_alone(launch, cluster) -> None:
    with cluster.start("python3", "-u", "-c", "input()", "train.py", at="n1", stdin=-1) as stranger:
        until(lambda: left(cluster), "a stranger")
        job = launch()
        job.wait_until_trained()
        job.process.send_signal(signal.SIGINT)
        assert job.end()[0] == 130
        assert left(cluster) == {"n1": [("python3", "-u", "-c", "input()", "train.py")]}
        stranger.kill()


def test_a_killed_launcher_is_noticed_by_its_agents(launch, cluster) -> None:
    job = launch()
    job.wait_until_trained()
    job.process.kill()
    all_gone(cluster, PROMISED_S)
    for node in cluster.names:
        assert "stopped: leash" in job.log(node, "agent.log")


def test_a_launcher_that_hangs_lets_go_by_the_lease(launch, cluster) -> None:
    job = launch()
    job.wait_until_trained()
    job.process.send_signal(signal.SIGSTOP)
    all_gone(cluster, LEASE_S + PROMISED_S)
    for node in cluster.names:
        assert "stopped: lease" in job.log(node, "agent.log")


def test_a_node_that_is_cut_off_stops_by_its_lease_and_is_named(launch, cluster) -> None:
    job = launch()
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
    assert "the job failed on node 1 (n2): nothing was heard from it for 1" in errors
    assert time.monotonic() - began < 45
    assert left(cluster) == {}
    assert "not collected, so to be found where it was made: root@n2:" in output
    for node in (0, 2):
        assert (job.package / f"log/node-{node}/train.log").read_text() == "family\n"


def test_a_node_that_dies_ends_the_job_and_is_named(launch, make_lab, tmp_path) -> None:
    lab = make_lab(2)
    job = Job(lab, tmp_path / "other")
    try:
        job.wait_until_trained()
        lab.kill("n2")
        status, _, errors = job.end()
        assert status == 1
        assert "the job failed on node 1 (n2): its agent ended unasked: its connection broke" in errors
        all_gone(lab, PROMISED_S, ["n1"])
    finally:
        job.clean_up()


@pytest.mark.parametrize(
    ("half", "words"), [(0, "the outer half was killed"), (1, "its agent ended unasked")]
)
def test_killing_half_an_agent_ends_the_job_and_is_told(launch, cluster, half, words) -> None:
    job = launch()
    job.wait_until_trained()
    agents = [one for one in cluster.processes("n3") if "exec(s)" in one.argv[-1]]
    os.kill(sorted(agents, key=lambda one: one.pid)[half].host_pid, signal.SIGKILL)
    status, _, errors = job.end()
    assert status == 1
    assert "the job failed on node 2 (n3): its agent" in errors
    assert words in errors
    assert left(cluster) == {}


def test_a_taken_port_names_its_holder_before_anything_trains(launch, cluster) -> None:
    holder = "import socket; s = socket.create_server(('', 7164)); print('here', flush=True); input()"
    with cluster.start("python3", "-c", holder, at="n2", stdin=-1, stdout=-1, text=True) as taken:
        assert taken.stdout.readline() == "here\n"
        status, _, errors = launch(pserver=None).end()
        taken.kill()
    assert status == 98
    assert "pserver-1 ended with status 98 before it was ready on node 1 (n2)" in errors
    assert "7164" in errors
    assert "python3" in errors
