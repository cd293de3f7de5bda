"""A job on machines in the background: seen, read, collected and stopped from another shell."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from paddle._launch.jobs.index import Index
from paddle._launch.jobs.launcher import Launcher
from tests.cluster.over_ssh import PATIENCE_S, Job, all_gone, clear, is_sshd, left, left_behind
from tests.lab.cluster import Cluster
from tests.lab.machine import ROOT
from tests.lab.processes import Process
from tests.waiting import until

pytestmark = pytest.mark.cluster

TRAINS = """
import json, os, threading
descriptor = int(os.environ["PADDLE_REPORT_FD"])
for batch in range(100000):
    told = {"report": "progress", "pass_id": 0, "batch_id": batch, "cost": 1.0, "samples_per_s": 9}
    os.write(descriptor, json.dumps(told).encode() + bytes([10]))
    print("batch", batch, flush=True)
    threading.Event().wait(0.1)
"""


class Head:
    """Shells at the head of a lab."""

    def __init__(self, lab: Cluster, folder: Path) -> None:
        self._lab, self._folder = lab, folder
        self._environ = {"XDG_STATE_HOME": str(folder / "state"), "PYTHONPATH": str(ROOT / "runtime")}
        self.index = Index(self._environ)

    def detach(self, package: str = "package", *argv: str) -> Job:
        """Launch a job into the background, and wait until something of every trainer has arrived."""
        (self._folder / package).mkdir()
        (self._folder / package / "train.py").write_text(TRAINS)
        own = {"package": self._folder / package, "environ": self._environ}
        job = Job(self._lab, self._folder, "--detach", *argv, **own)
        status, output, errors = job.end()
        assert status == 0, output + errors
        for node in range(len(self._lab.names)):
            arrived = job.package / "log" / f"node-{node}" / "train.log"
            until(
                lambda log=arrived: log.exists() and "batch 0\n" in log.read_text(), "what a trainer prints"
            )
        return job

    def fab(self, task: str, *argv: str, status: int = 0) -> str:
        """Run a task to its end; gives what it printed."""
        command = (sys.executable, "-m", "fabric", task, f"--conf={self._folder / 'conf.py'}", *argv)
        shell = self._lab.start(
            *command,
            cwd=ROOT,
            environ=self._environ,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        output, _ = shell.communicate(timeout=PATIENCE_S)
        assert shell.returncode == status, output
        return str(output)

    def launcher(self) -> Launcher:
        """The process of the one job."""
        (job,) = self.index.jobs()
        return job.record.launcher


@pytest.fixture
def head(cluster: Cluster, tmp_path: Path) -> Iterator[Head]:
    clear(cluster)
    head = Head(cluster, tmp_path)
    yield head
    for job in head.index.jobs():
        job.record.launcher.signal(signal.SIGKILL)
    all_gone(cluster)


def test_it_is_seen_read_collected_and_stopped_from_another_shell(head: Head, cluster: Cluster) -> None:
    job = head.detach()
    found = json.loads(head.fab("status", "--format=json"))
    assert (found["standing"], found["phase"]) == ("runs", "train")
    assert [row["node"] for row in found["rows"] if row["state"] == "trains"]
    assert head.fab("logs", "--role=trainer-1", "--grep=batch 0$") == "[trainer-1 n2] batch 0\n"
    lines = head.fab("logs", "--grep=batch 0$").splitlines()
    assert sorted(lines) == [f"[trainer-{node} {name}] batch 0" for node, name in enumerate(cluster.names)]
    head.fab("collect")
    for node in range(3):
        assert (job.package / "log" / f"node-{node}" / "agent.log").is_file()
    assert left(cluster), "collecting stops nothing"
    assert "it ended with status 143" in head.fab("stop")
    assert left_behind(cluster) == {}


def running(cluster: Cluster) -> set[tuple[str, int, int]]:
    """All that runs on nodes that sshd itself does not need: no two processes have all three in common."""
    found = [(node, one) for node in cluster.names for one in cluster.processes(node) if not is_sshd(one)]
    return {(node, one.pid, one.started) for node, one in found}


@pytest.mark.thorough
def test_of_two_jobs_and_a_stranger_of_the_same_name_the_one_that_is_named_is_stopped(
    head: Head, cluster: Cluster
) -> None:
    stranger = ("python3", "-u", "-c", "input()", "train.py")
    with cluster.start(*stranger, at="n1", stdin=subprocess.PIPE) as foreign:
        until(lambda: left(cluster), "a stranger")
        before = running(cluster)
        head.detach("first")
        first, name = running(cluster) - before, head.index.jobs()[0].record.name
        head.detach("second", "--port=7264")
        others = running(cluster) - first
        for node in cluster.names:
            ids = {one.environ.get("PADDLE_JOB_ID") for one in cluster.processes(node)} - {None}
            assert len(ids) == 2, f"both jobs on {node}"
        assert "it ended with status 143" in head.fab("stop", f"--job={name}")
        assert (others - running(cluster), first & running(cluster)) == (set(), set())
        assert "it ended with status 143" in head.fab("stop")
        assert left(cluster) == {"n1": [stranger]}
        foreign.kill()


KILLS = """
import sys
from paddle._launch.machines.conversation import converse
from paddle._launch.machines.transport import Transport
from paddle._launch.settings import read_hosts
host, pid, start = sys.argv[1:]
line = Transport("known").line(read_hosts((host,), "here")[0]).open()
with converse(line, ("python3",), "agent.killer") as talk:
    talk.do({"pid": int(pid), "start": int(start), "workspace": "/srv"})
line.close()
"""


def test_a_stranger_that_has_got_the_number_of_an_agent_is_left_alone(make_lab) -> None:
    """Whoever is named to be killed is named by number and start; the kernel is told which number to give."""
    lab = make_lab(1)

    def begun(*before: str) -> Process:
        lab.start("sh", "-c", "; ".join([*before, "sleep 1000 & wait"]), at="n1")
        found: list[Process] = until(lambda: asleep(lab), "the sleeper")
        return found[0]

    def end(process: Process) -> None:
        named = ("root@n1", str(process.pid), str(process.started))
        lab.run(sys.executable, "-c", KILLS, *named, environ={"PYTHONPATH": str(ROOT / "runtime")})

    agent = begun()
    end(agent)
    until(lambda: not lab.path("n1", f"/proc/{agent.pid}").exists(), "its end, and that its number is free")
    stranger = begun(f"echo {agent.pid - 1} >/proc/sys/kernel/ns_last_pid")
    assert (stranger.pid, stranger.started != agent.started) == (agent.pid, True)
    end(agent)
    assert asleep(lab) == [stranger]


def asleep(lab: Cluster) -> list[Process]:
    return [one for one in lab.processes("n1") if one.argv[0] == "sleep"]


STAYS = ("python3", "-u", "-c", "import signal; signal.pause()", "train.py")


def test_a_killed_launcher_is_told_and_what_it_left_is_collected_and_ended(
    head: Head, cluster: Cluster
) -> None:
    job = head.detach()
    head.launcher().signal(signal.SIGKILL)
    until(lambda: not head.launcher().lives, "the launcher's end")
    all_gone(cluster)  # on their leash, as their logs say below, and not when their lease is over
    assert json.loads(head.fab("status", "--format=json"))["standing"] == "lost"
    id = head.index.jobs()[0].record.id
    with (
        cluster.start(*STAYS, at="n2", environ={"PADDLE_JOB_ID": id}) as ours,
        cluster.start(*STAYS, at="n2", environ={"PADDLE_JOB_ID": f"{id}0"}) as other,
    ):
        until(lambda: left(cluster) == {"n2": [STAYS, STAYS]}, "what no agent knows of")
        stopped = head.fab("stop", f"--job={id}")
        assert "has lost its launcher" in stopped
        assert re.search(
            r"^ended process \d+ on node 1 \(n2\), which its agent had left: python3 -u -c .* train.py$",
            stopped,
            re.MULTILINE,
        )
        for node, name in enumerate(cluster.names):
            assert f"no process of it is left on node {node} ({name})\n" in stopped
        assert ours.wait(PATIENCE_S)
        until(lambda: left(cluster) == {"n2": [STAYS]}, "the end of what nodes were asked with")
        other.kill()
    cluster.kill("n3")
    stopped = head.fab("stop", f"--job={id}", status=1)
    assert "no process of it is left on node 1 (n2)\n" in stopped
    assert "node 2 (n3) could not be looked at: " in stopped
    cluster.mend()
    assert "[trainer-2 " in head.fab("logs", "--role=trainer-2", "--grep=batch 0$"), "what came while it ran"
    head.fab("collect")
    for node in range(3):
        assert "stopped: leash" in (job.package / "log" / f"node-{node}" / "agent.log").read_text()
