"""What jobs keep on machines: their part of the data, snapshots to go on from, logs that fill a disk."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import NETWORK, assert_same
from tests.cluster.over_ssh import ROOT_DIR, Job, jobs, launching, left_behind, ports_to
from tests.cluster.test_restarts import most_at_once, singles
from tests.lab.cluster import Cluster
from tests.lab.partition import dark
from tests.lab.processes import Process
from tests.pretenders import ENDS
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.cluster, pytest.mark.faults]

ROLES = ("dense", "sparse")
NODES = ("n1", "n2")
HOSTS = [f"root@{node}" for node in NODES]
# The same batch in every step, made of the node's own part of the data: what was learned is known from the
# number of steps alone. Where a file says so it stays after twenty of them.
TRAIN = """
import os, sys, time
from pathlib import Path
import numpy as np
import paddle.v2 as paddle

(steps,) = [int(word.partition("=")[2]) for word in sys.argv if word.startswith("--steps=")]
paddle.init()
NETWORK
trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Adam(learning_rate=0.01), is_local=False)
words = [int(word) for path in sorted(Path("words").glob("*-*")) for word in path.read_text().split()]


def batches():
    for step in range(steps):
        while step == 20 and Path("stays").exists():
            time.sleep(0.01)
        yield [(word, word % 5) for word in words]


trainer.train(batches, num_passes=1)
np.savez("after.npz", **{name: parameters.get(name) for name in parameters.keys()})
""".replace("NETWORK", NETWORK)
# The launcher misses a node long before the agent there lets go.
HASTY = """
from functools import partial
from paddle._launch import launch
from paddle._launch.backends import node
node.LEASE_S = 16.0
launch.Limits = partial(launch.Limits, silence_s=6.0)
"""
KEEPS = ("--shard_data=words", "--snapshot_dir=kept", "--snapshot_period=7", "--max_restart=2")
PRINTS = """
for number in range(6000):
    print(number, "." * 1000)
"""


@pytest.fixture
def launch(cluster: Cluster, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """Start a launcher on nodes that have no job; whatever it leaves is removed in the end."""
    forget_jobs(cluster)
    with launching(cluster) as start:
        yield partial(start, cluster, tmp_path)


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A job whose data are in five files, of which each node is to have some."""
    folder = tmp_path / "package"
    (folder / "words").mkdir(parents=True)
    (folder / "train.py").write_text(TRAIN)
    (folder / "words" / "about").write_text("all have this")
    for part in range(5):
        (folder / "words" / f"part-{part:05d}").write_text(" ".join(map(str, range(part, 40, 5))))
    return folder


def forget_jobs(lab: Cluster) -> None:
    """Remove those before. The runtime stays, which has compiled what it needs there."""
    for node in lab.names:
        lab.run("sh", "-c", f"rm -rf {ROOT_DIR}/JOB*", at=node)


def place(lab: Cluster, node: str) -> Path:
    """The workspace of the newest job on a node."""
    return lab.path(node, ROOT_DIR) / jobs(lab, node)[-1]


def pservers(lab: Cluster, node: str) -> list[Process]:
    """The processes of the pserver on a node: first the parent of the others."""
    found = [one for one in lab.processes(node) if "pserver" in one.argv]
    return sorted(found, key=lambda one: (one.started, one.pid))


def newest(lab: Cluster, node: str) -> int:
    """The newest version of which both shards on a node have a snapshot."""
    kept = (place(lab, node) / "kept").rglob
    versions = [{int(re.sub(r"\D", "", path.stem)) for path in kept(f"{role}-0/*.json")} for role in ROLES]
    return max(set.intersection(*versions), default=0)


def goes_on(lab: Cluster) -> bool:
    """Whether both nodes have written snapshots of more steps than they had."""
    before = {node: newest(lab, node) for node in NODES}
    until(lambda: all(newest(lab, node) > before[node] for node in NODES), "new snapshots", PATIENCE_S)
    return True


def model(lab: Cluster) -> dict[str, np.ndarray]:
    """What the trainer on the first node has learned."""
    return dict(np.load(BytesIO((place(lab, "n1") / "after.npz").read_bytes())))


@pytest.mark.thorough
def test_a_job_of_parted_data_survives_its_pservers_and_itself_to_the_bits_of_one_that_was_left_alone(
    launch, cluster, package
) -> None:
    first = launch(*KEEPS, "--steps=1000000", package=package, pserver=None, hosts=HOSTS)
    first.wait_for("first step after")
    for node, numbers in (("n1", (0, 2, 4)), ("n2", (1, 3))):
        words = [path.name for path in (place(cluster, node) / "words").iterdir()]
        assert sorted(words) == ["about", *(f"part-{number:05d}" for number in numbers)]
    assert goes_on(cluster)
    os.kill(pservers(cluster, "n2")[-1].host_pid, signal.SIGKILL)  # one shard of it
    log = place(cluster, "n2") / "log" / "paddle_pserver2.INFO"
    until(lambda: "goes on from version" in log.read_text(), "the shard to come back", PATIENCE_S)
    assert goes_on(cluster)
    os.kill(pservers(cluster, "n1")[0].host_pid, signal.SIGKILL)  # and all of another
    first.wait_for("pserver-0: its process was killed by SIGKILL; it is started again")
    assert goes_on(cluster)
    first.stop(signal.SIGINT)

    name = jobs(cluster, "n1")[-1]
    again = launch(f"--resume={name}", "-p", "", "--steps=3", package=package, pserver=None)
    status, _, errors = again.end()
    assert (status, errors) == (0, "")
    assert jobs(cluster, "n1") == [name], "it goes on where it was"
    found = re.search(r"training goes on from step (\d+)", again.log("n1", "train.log"))
    assert found and int(found[1]) and not int(found[1]) % 7
    resumed = model(cluster)

    whole = launch(
        "--shard_data=words", f"--steps={int(found[1]) + 3}", package=package, pserver=None, hosts=HOSTS
    )
    assert whole.end()[0] == 0
    assert jobs(cluster, "n1")[-1] != name
    assert_same(model(cluster), resumed)


def written(job: Job, node: str, version: int) -> int:
    """How many shards on a node have written that."""
    return job.log(node, "paddle_pserver2.INFO").count(f"wrote a snapshot of version {version} ")


def went_on(job: Job) -> list[str]:
    """From which steps its lives did."""
    return re.findall(r"training goes on from step (\d+),", job.log("n1", "train.log"))


def test_a_job_begins_again_as_a_whole_once_a_node_that_was_lost_answers_and_no_bit_is_different(
    launch, cluster, package
) -> None:
    """It is rebooted first, and then cut off without a word, while all that ran there runs on."""
    whole = launch(*KEEPS, "--steps=30", package=package, pserver=None, hosts=HOSTS)
    assert whole.end()[0] == 0
    expected = model(cluster)
    forget_jobs(cluster)
    (package / "stays").write_text("")
    job = launch(*KEEPS, "--steps=30", package=package, pserver=None, hosts=HOSTS, before=HASTY)
    job.wait_for("first step after")
    for node in NODES:
        until(lambda node=node: written(job, node, 7) == 2, f"a snapshot on {node}", PATIENCE_S)
    cluster.reboot("n2")
    job.wait_for("the whole job begins again in 1 s")
    assert job.output[-1].startswith("node 1: its agent ended unasked: its connection broke")

    until(lambda: len(went_on(job)) == 1, "the second life", PATIENCE_S)
    address = cluster.addresses["n2"]
    (port,) = ports_to(job, address)
    with most_at_once(cluster, "n2") as most:
        with dark(cluster.filter, address, port):  # all other connections reach the node
            job.wait_for("the whole job begins again in 2 s")
            assert re.match(r"node 1: nothing was heard from it for \d+ s", job.output[-1])
            (lost,) = singles(cluster, "n2")  # it runs on
            job.wait_for("node 1: the agent that it had before still has ")
            job.wait_for("starting 2 pservers")
            assert lost not in singles(cluster, "n2"), "its lease is over"
        for node in NODES:
            (place(cluster, node) / "stays").unlink()
        status, output, errors = job.end()
    assert (status, errors) == (0, ""), output
    assert most == [1], "never are there two"
    assert_same(model(cluster), expected)
    assert len(went_on(job)) == 2 and {*went_on(job)} <= {"7", "14"}


def test_a_disk_that_fills_up_while_roles_print_is_told_and_keeps_nobody_waiting(launch, cluster) -> None:
    cluster.fill_disk("n2", leave_bytes=3 << 20)
    job = launch(train=PRINTS, pserver=ENDS)
    status, output, _ = job.end()
    assert status == 0
    log = place(cluster, "n2") / "log" / "train.log"
    assert re.search(
        r"^node 1: cannot write /\S+/log/train.log: No space left on device", output, re.MULTILINE
    )
    assert log.stat().st_size < 4 << 20 < (place(cluster, "n1") / "log" / "train.log").stat().st_size
    assert left_behind(cluster) == {}
