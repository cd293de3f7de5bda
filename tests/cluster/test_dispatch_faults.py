"""What breaks while a package is on its way to machines: what was there stays as it was, nothing is trained
on half of it, and what had arrived does not travel again."""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cluster.over_ssh import ROOT_DIR, Job, all_gone, jobs
from tests.lab.cluster import HEAD, Cluster
from tests.launch.receiving import tree
from tests.marks import on_demand
from tests.pretenders import ENDS, PSERVER
from tests.waiting import until

pytestmark = [pytest.mark.cluster, pytest.mark.faults]
ENDING_S = 5.0  # a program that has said why it failed takes a moment to end

MB = 1 << 20
SIZE = 4 * MB
SLOW_MBIT = 4  # six seconds from the first quarter of SIZE to the last
OVERHEAD = MB  # agents, the runtime that pretends, what SSH adds
STALL_S = 6.0
HASTY = f"from paddle._launch.machines import patience; patience.STALL_S = {STALL_S}"
TRAINS = """
import hashlib, pathlib
digest = hashlib.sha256()
for path in sorted(pathlib.Path("data").iterdir()):
    digest.update(path.read_bytes())
print("trained on", digest.hexdigest())
"""
WORKSPACE = "/srv/small"


class Head:
    """Where launches of one package begin."""

    def __init__(self, lab: Cluster, folder: Path) -> None:
        self.lab, self.package = lab, folder / "package"
        self._folder = folder
        self._jobs: list[Job] = []
        (self.package / "data").mkdir(parents=True)
        (self.package / "train.py").write_text(TRAINS)
        for number in range(30):
            (self.package / "data" / f"{number:02}").write_bytes(os.urandom(1000))
        self.renew()

    def renew(self) -> None:
        """Have something to send that no node has."""
        (self.package / "data" / "large").write_bytes(os.urandom(SIZE))

    def launch(self, *argv: str, **how: object) -> Job:
        options = {"pserver": ENDS, "package": self.package, **how}
        self._jobs.append(Job(self.lab, self._folder, *argv, **options))  # type: ignore[arg-type]
        return self._jobs[-1]

    def trained(self, job: Job, nodes: int = 3) -> None:
        """The job ended well, and every trainer had all of the package."""
        assert job.end()[0] == 0
        digest = hashlib.sha256()
        for path in sorted((self.package / "data").iterdir()):
            digest.update(path.read_bytes())
        for node in range(nodes):
            log = (self.package / f"log/node-{node}/train.log").read_text()
            assert log == f"trained on {digest.hexdigest()}\n"

    def job_log(self, node: str) -> str:
        """What the trainer of the newest job on a node has printed."""
        newest = jobs(self.lab, node)[-1:]
        logs = [self.lab.path(node, ROOT_DIR) / name / "log/train.log" for name in newest]
        return "".join(log.read_text() for log in logs if log.exists())

    def until_half(self, node: str, root: str = ROOT_DIR) -> None:
        """Wait until some of the large file is there; the newest job may not end before."""
        job = self._jobs[-1]

        def is_there() -> bool:
            is_over = job.process.poll() is not None  # asked first: what it has sent is there then
            if arrived(self.lab, node, root) > SIZE // 4:
                return True
            assert not is_over, f"it ended before {node} had a quarter of the large file: {job.end()}"
            return False

        until(is_there, f"a quarter of the large file on {node}")

    def clean_up(self) -> None:
        for job in self._jobs:
            job.clean_up()


@pytest.fixture
def head(cluster: Cluster, tmp_path: Path) -> Iterator[Head]:
    made = Head(cluster, tmp_path)
    yield made
    made.clean_up()
    for node in cluster.names:
        if node not in cluster.broken or cluster.processes(node):
            cluster.rate(node, None)
    all_gone(cluster)


def arrived(lab: Cluster, node: str, root: str = ROOT_DIR) -> int:
    """How much of the largest file that is on its way is on a disk. One that is complete moves on."""
    sizes = [0]
    for path in (lab.path(node, root) / ".paddle" / "parts").glob("*"):
        with contextlib.suppress(FileNotFoundError):
            sizes.append(path.stat().st_size)
    return max(sizes)


def received(lab: Cluster, node: str) -> int:
    """How many bytes have come to a node's network device, of anything."""
    return int(lab.path(node, "/sys/class/net/eth0/statistics/rx_bytes").read_text())


def seen(lab: Cluster, node: str, names: list[str]) -> list[object]:
    """All that is in JOB folders of a node."""
    return [tree(lab.path(node, ROOT_DIR) / name) for name in names]


def nothing_else(lab: Cluster, before: dict[str, list[str]], contents: dict[str, list[object]]) -> None:
    """Of what was there nothing is different, and there is no other workspace."""
    for node, names in before.items():
        assert jobs(lab, node) == names
        assert seen(lab, node, names) == contents[node]


def test_a_cable_that_is_pulled_and_plugged_in_again_costs_time_and_no_byte(head, cluster) -> None:
    cluster.rate("n2", SLOW_MBIT)
    came = received(cluster, "n2")
    job = head.launch()
    head.until_half("n2")
    cluster.cut("n2")
    for node in ("n1", "n3"):
        until(lambda node=node: jobs(cluster, node), f"a workspace on {node}, which waits for no other node")
    assert jobs(cluster, "n2") == []
    cluster.plug("n2")
    cluster.rate("n2", None)
    head.trained(job)
    assert received(cluster, "n2") - came < SIZE + OVERHEAD


def cut(lab: Cluster, _: Job) -> None:
    lab.cut("n2")


def plug(lab: Cluster) -> None:
    lab.plug("n2")


def freeze(lab: Cluster, _: Job) -> None:
    lab.freeze("n2")


def thaw(lab: Cluster) -> None:
    lab.thaw("n2")


def power_off(lab: Cluster, _: Job) -> None:
    lab.power_off("n2")


def reboot(lab: Cluster) -> None:
    lab.reboot("n2")


@pytest.mark.parametrize(
    ("harm", "mend"),
    [on_demand(cut, plug), (freeze, thaw), on_demand(power_off, reboot)],
    ids=["cut", "frozen", "off"],
)
def test_a_node_that_falls_silent_is_named_and_the_next_launch_sends_it_only_the_rest(
    head, cluster, harm, mend
) -> None:
    if not jobs(cluster, "n2"):
        head.trained(head.launch())
        head.renew()
    before = {node: jobs(cluster, node) for node in cluster.names}
    contents = {node: seen(cluster, node, names) for node, names in before.items()}
    cluster.rate("n2", SLOW_MBIT)
    job = head.launch(before=HASTY)
    head.until_half("n2")
    harm(cluster, job)
    status, output, errors = job.end()
    assert status == 1
    assert "on node 1 (n2): nothing went over its connection for 6 s: the cable is cut, or" in errors
    assert "What had arrived there is kept: once the machine answers, start again" in errors
    assert "starting 3 pservers" not in output
    all_gone(cluster, ENDING_S, ["n1", "n3"])
    mend(cluster)
    nothing_else(cluster, before, contents)
    cluster.rate("n2", None)
    had, came = arrived(cluster, "n2"), received(cluster, "n2")
    assert had > SIZE // 4
    head.trained(head.launch())
    assert received(cluster, "n2") - came < SIZE - had + OVERHEAD


def test_a_launcher_killed_while_it_sends_leaves_nothing_running_and_the_next_sends_the_rest(
    head, cluster
) -> None:
    before = {node: jobs(cluster, node) for node in cluster.names}
    for node in cluster.names:
        cluster.rate(node, SLOW_MBIT)
    job = head.launch()
    for node in cluster.names:
        head.until_half(node)
    job.process.send_signal(signal.SIGKILL)
    all_gone(cluster, 10.0)
    for node in cluster.names:
        assert jobs(cluster, node) == before[node]
        cluster.rate(node, None)
    had = {node: arrived(cluster, node) for node in cluster.names}
    came = {node: received(cluster, node) for node in cluster.names}
    head.trained(head.launch())
    for node in cluster.names:
        assert received(cluster, node) - came[node] < SIZE - had[node] + OVERHEAD


@pytest.fixture
def small(cluster: Cluster) -> Iterator[Callable[..., None]]:
    """Give a node a small disk for ROOT_DIR: ``small("n2", "size=8m")``."""
    mounted: list[str] = []

    def mount(node: str, options: str) -> None:
        cluster.run("mkdir", "-p", WORKSPACE, at=node)
        cluster.run("mount", "-t", "tmpfs", "-o", options, "tmpfs", WORKSPACE, at=node)
        mounted.append(node)

    yield mount
    for node in mounted:
        cluster.run("umount", "-l", WORKSPACE, at=node)


def test_disks_that_cannot_take_a_package_are_all_named_before_anything_is_changed(
    head, cluster, small
) -> None:
    small("n1", "nr_inodes=20")
    small("n2", "size=2m")
    small("n3", "ro")
    status, _, errors = head.launch(f"--root_dir={WORKSPACE}").end()
    assert status == 1
    assert "3 of 3 nodes cannot be used; nothing was started or changed on any" in errors
    assert f"node 0   root@n1  no room for {WORKSPACE}/JOB" in errors
    assert "36 files and folders are sent, and the disk of /srv/small can take 19 more" in errors
    assert f"node 1   root@n2  no room for {WORKSPACE}/JOB" in errors
    assert f"node 2   root@n3  cannot make {WORKSPACE}/JOB" in errors
    all_gone(cluster, ENDING_S)
    for node in cluster.names:
        assert cluster.files(node, WORKSPACE) == []


def test_a_disk_that_has_no_room_for_another_file_says_that_it_is_not_bytes_that_it_lacks(
    head, cluster, small
) -> None:
    """There are enough for the package, and not for what dispatches keep beside it."""
    for node in cluster.names:
        small(node, "nr_inodes=40" if node == "n2" else "size=64m")
    status, output, errors = head.launch(f"--root_dir={WORKSPACE}").end()
    assert status == 1
    assert f"on node 1 (n2): {WORKSPACE}/" in errors
    assert "its disk can take no more files and folders, whatever room it has (df -i)" in errors
    assert "starting 3 pservers" not in output
    all_gone(cluster, ENDING_S)
    for node in cluster.names:
        assert not list(cluster.path(node, WORKSPACE).glob("JOB*"))


def test_a_disk_that_fills_up_meanwhile_keeps_nothing_and_the_next_launch_has_its_room(
    head, cluster, small
) -> None:
    for node in cluster.names:
        small(node, "size=12m")
    cluster.rate("n2", SLOW_MBIT)
    job = head.launch(f"--root_dir={WORKSPACE}")
    head.until_half("n2", WORKSPACE)
    cluster.run("sh", "-c", f"cat /dev/zero >{WORKSPACE}/filler", at="n2", check=False)
    status, output, errors = job.end()
    assert status == 1
    assert f"on node 1 (n2): {WORKSPACE}/.paddle/parts/" in errors
    assert "No space left on device. Nothing of it was kept. Make room there, or say where else" in errors
    assert "starting 3 pservers" not in output
    all_gone(cluster, ENDING_S)
    assert arrived(cluster, "n2", WORKSPACE) == 0
    cluster.rate("n2", None)
    cluster.path("n2", WORKSPACE).joinpath("filler").unlink()
    head.trained(head.launch(f"--root_dir={WORKSPACE}"))


def test_others_on_these_machines_find_no_token_anywhere(head, cluster) -> None:
    """In no argument and no environment, and in no file that another user could read."""
    script = "import os, pathlib, signal\nprint(pathlib.Path(os.environ['PADDLE_TOKEN_FILE']).read_text())\n"
    (head.package / "train.py").write_text(f"{script}signal.pause()\n")
    job = head.launch(pserver=PSERVER)
    job.wait_for("starting 3 trainers")
    log = until(lambda: head.job_log("n2"), "the token, as a trainer says it here")
    token = log.strip()
    assert len(token) == 64
    for place in (HEAD, *cluster.names):
        for one in cluster.processes(place):
            assert token not in " ".join(one.argv)
            assert token not in " ".join(one.environ.values())
    for node in cluster.names:
        said = cluster.run("grep", "-rl", token, ROOT_DIR, at=node).stdout.split()
        files = [name for name in said if not name.endswith("train.log")]  # to which it was printed
        assert files
        for name in files:
            assert cluster.path(node, name).stat().st_mode & 0o777 == 0o600
    job.stop(signal.SIGINT)
