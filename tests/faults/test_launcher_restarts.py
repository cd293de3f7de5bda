"""Processes of a launched job are killed and started again: the job ends as if nothing had been, or says why
it cannot go on. (That never are there two of one: tests/cluster/test_restarts.py.)"""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import NETWORK, assert_same
from tests.family import eldest
from tests.faults.conftest import RunningLauncher
from tests.faults.pservers import versions
from tests.waiting import PATIENCE_S, until

pytestmark = [pytest.mark.faults, pytest.mark.patient]

SEPARATE = ("--pserver_hosts=2", "--trainer_hosts=0,1", "--ports_num_for_sparse=1")
KEPT = ("--snapshot_dir=kept", "--snapshot_period=3", "--max_restart=2")

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


MEETS = """
import os, time
import numpy as np
import paddle
import paddle.distributed.fleet as fleet

paddle.enable_static()
fleet.init()
x = paddle.static.data("x", [None, 2])
loss = paddle.mean(paddle.static.nn.fc(x, 1))
strategy = fleet.DistributedStrategy()
strategy.a_sync = False
fleet.distributed_optimizer(paddle.optimizer.SGD(0.1), strategy).minimize(loss)
exe = paddle.static.Executor()
exe.run(paddle.static.default_startup_program())
fleet.init_worker()
exe.run(feed={"x": np.ones((4, 2), "float32")}, fetch_list=[loss])
print("at the meeting", flush=True)
while fleet.worker_index() == STAYS:
    time.sleep(0.01)
for _ in range(TIMES):
    print("sum", fleet.util.all_reduce(np.array([fleet.worker_index() + 1])), flush=True)
print("has met", flush=True)
while not (LEAVES):
    time.sleep(0.01)
fleet.stop_worker()
"""


def meeting(*, stays: int = -1, times: int = 1, leaves: str = "True", is_async: bool = False) -> str:
    """A program whose workers meet so many times; one ``stays`` before that, and those behind it that may not
    leave."""
    program = MEETS.replace("STAYS", str(stays)).replace("TIMES", str(times)).replace("LEAVES", leaves)
    return program.replace("a_sync = False", f"a_sync = {is_async}")


class Job:
    """A launch of a real pserver, at node 2, and two trainers, at nodes 0 and 1."""

    def __init__(self, running: RunningLauncher, root: Path) -> None:
        self.running, self._root = running, root

    def path(self, node: int, name: str) -> Path:
        """A file of a node's workspace."""
        (job,) = self._root.glob("JOB*")
        return job / f"node-{node}" / name

    def log(self, node: int) -> str:
        try:
            return self.path(node, "log/train.log").read_text()
        except (OSError, ValueError):
            return ""

    def is_at(self, node: int, words: str) -> None:
        """Wait until the trainer there has said so; the job may not end before."""

        def has_said() -> bool:
            is_over = self.running.process.poll() is not None  # asked first: its last words are written then
            if words in self.log(node).splitlines():
                return True
            assert not is_over, f"it ended before {words!r} of node {node}: {self.running.end()}"
            return False

        until(has_said, f"{words!r} of node {node}", PATIENCE_S, lambda: self.log(node))

    def go_on(self, node: int, to: str = "") -> None:
        """Let the trainer of a node stay there next, or nowhere any more; never does it read half of it."""
        new = self.path(node, "stays.new")
        new.write_text(to)
        new.replace(self.path(node, "stays"))

    def has_kept(self) -> None:
        """Wait until both shards have a snapshot of one step, which is written while trainers go on."""
        folders = [self.path(2, f"kept/{shard}-0") for shard in ("dense", "sparse")]
        until(lambda: set.intersection(*(set(versions(each)) for each in folders)), "a snapshot of a step")

    def kill(self, node: int, word: str) -> None:
        """Kill the process of a role; children that it has end with it."""
        place = str(self.path(node, ""))
        named = (pid for pid, argv in self.running.pids().items() if word in argv.split())
        (first,) = eldest([pid for pid in named if os.path.realpath(f"/proc/{pid}/cwd") == place])
        os.kill(first, signal.SIGKILL)

    def after(self, node: int) -> dict[str, np.ndarray]:
        """What the trainer there ended with."""
        return dict(np.load(self.path(node, "after.npz")))


@pytest.fixture
def begin(tmp_path: Path, launch: Callable[..., RunningLauncher]) -> Iterator[Callable[..., Job]]:
    """Start a job, whose trainers stay where the test says."""

    def start(*argv: str, mode: str = "", stays: str = "", root: str = "jobs") -> Job:
        (tmp_path / "package").mkdir(exist_ok=True)
        (tmp_path / "package" / "stays").write_text(stays)
        more = [*SEPARATE, f"--root_dir={tmp_path / root}", *argv]
        return Job(launch(TRAIN.replace("MODE", mode), None, nodes=3, argv=more), tmp_path / root)

    yield start


_whole: dict[str, np.ndarray] = {}


@pytest.fixture
def whole(begin: Callable[..., Job]) -> Callable[[], dict[str, np.ndarray]]:
    """What a job in step ends with that nothing has happened to; it is run once."""

    def found() -> dict[str, np.ndarray]:
        if not _whole:
            job = begin(root="whole")
            assert job.running.end()[0] == 0
            _whole.update(job.after(0))
        return _whole

    return found


def test_in_step_a_killed_pserver_and_a_trainer_killed_between_two_passes_cost_no_bit(begin, whole) -> None:
    job = begin(*KEPT, "--format=json", stays="0 4")
    for node in (0, 1):
        job.is_at(node, "at 0 4")
    job.kill(2, "pserver")
    for node in (0, 1):
        job.go_on(node, "1 end")
    for node in (0, 1):
        job.is_at(node, "at 1 end")
    job.go_on(0)
    job.kill(1, "train.py")
    job.go_on(1)
    job.is_at(1, "at 2 0")
    status, output, errors = job.running.end()
    assert (status, errors) == (0, "")
    told = [json.loads(line) for line in output.splitlines()]
    restarted = [(one["role"], one["text"]) for one in told if one["event"] == "restarted"]
    text = "its process was killed by SIGKILL; it is started again in 1 s, and once more"
    assert restarted == [("pserver-0", text), ("trainer-1", text)]
    lives = job.log(1).partition("--- trainer-1 is started again, process ")
    assert re.match(r"\d+ ---\n", lives[2])
    assert "at 1 0" in lives[0] and "at 1 0" not in lives[2], "it passes over what was trained"
    assert_same(job.after(0), job.after(1))

    assert_same(job.after(0), whole())


def test_out_of_step_a_killed_trainer_begins_its_pass_again_and_all_end_well(begin) -> None:
    job = begin("--max_restart=1", mode="is_async=True", stays="1 3")
    job.is_at(0, "at 1 3")
    job.go_on(1)
    job.kill(0, "train.py")
    until(lambda: "at 1 0" in job.log(0).partition("---")[2], "the pass again", PATIENCE_S)
    job.go_on(0)
    status, output, errors = job.running.end()
    assert status == 0, output + errors
    assert "trainer-0: its process was killed by SIGKILL; it is started again in 1 s, for the last" in output
    lives = job.log(0).partition("---")
    assert "at 0 0" in lives[0] and "at 0 0" not in lives[2]
    assert "at 3 end" in lives[2] and "training goes on from step" in lives[2]
    assert_same(job.after(0), job.after(1))


def test_in_step_a_trainer_killed_in_the_midst_of_a_pass_ends_a_job_without_snapshots_with_the_reason(
    begin,
) -> None:
    job = begin("--max_restart=2", stays="1 3")
    job.is_at(1, "at 1 3")
    job.kill(1, "train.py")
    status, _, errors = job.running.end()  # long before anybody's barrier_timeout
    assert status == 137
    assert "paddle.py: trainer-1 was killed by SIGKILL on node 1 (127.0.0.2). Its last lines:" in errors
    assert "  | at 1 3\n" in errors
    assert "no other process can take over a half-finished pass" in errors
    assert "is started again" not in job.log(1)


def test_in_step_with_snapshots_the_whole_job_begins_again_and_no_bit_is_different(begin, whole) -> None:
    job = begin(*KEPT, stays="1 3")
    for node in (0, 1):
        job.is_at(node, "at 1 3")
    job.has_kept()
    job.kill(1, "train.py")
    until(lambda: "at 1 3" in job.log(1).partition("begins again")[2], "the second life", PATIENCE_S)
    agents = [pid for pid, command in job.running.pids().items() if "_launch/agent" in command]
    os.kill(eldest(agents)[0], signal.SIGKILL)
    until(lambda: job.log(1).count("begins again") == 2, "the third life", PATIENCE_S)
    for node in (0, 1):
        job.go_on(node)
    status, output, errors = job.running.end()
    assert (status, errors) == (0, ""), output
    lives = re.split("--- trainer-1 begins again with its whole job, process \\d+ ---\n", job.log(1))
    assert "starting trainer-1 again" not in output
    firsts = [re.search(r"^at (\d+) (\d+)$", life, re.MULTILINE) for life in lives]  # pass, batch
    begun = [tuple(map(int, found.groups())) for found in firsts if found]
    assert len(begun) == 3, lives
    assert begun[0] == (0, 0) < begun[1] <= begun[2] <= (1, 2), begun
    assert all((10 * pass_id + batch) % 3 == 0 for pass_id, batch in begun), "where snapshots are"
    assert_same(job.after(0), job.after(1))

    assert_same(job.after(0), whole())


@pytest.mark.thorough  # tests/cluster/test_restarts.py asks it of nodes
def test_in_step_with_snapshots_the_third_death_ends_the_job_and_says_what_was_tried(begin) -> None:
    job, lives = begin(*KEPT, stays="0 4"), "begins again with its whole job"
    for life in range(3):
        until(lambda life=life: job.log(1).count(lives) == life, f"life {life + 1}", PATIENCE_S)
        until(lambda: "at 0 4" in job.log(1).rpartition(lives)[2], "where it stays", PATIENCE_S)
        job.kill(1, "train.py")
    status, output, errors = job.running.end()
    assert (status, job.running.pids()) == (137, {})
    text = "trainer-1: its process was killed by SIGKILL; the whole job begins again in "
    assert [line for line in output.splitlines() if "the whole job begins again" in line] == [
        f"{text}1 s, from the newest snapshot that all shards have, and once more",
        f"{text}2 s, from the newest snapshot that all shards have, for the last time",
    ]
    assert "paddle.py: trainer-1 was killed by SIGKILL on node 1 (127.0.0.2). Its last lines:" in errors
    assert (
        "Why: it had been started again 2 times (--max_restart=2), after it was killed by SIGKILL" in errors
    )
    assert "to go on from the snapshots: python paddle.py --resume=JOB" in output


@pytest.mark.thorough  # one after the other they are killed above
def test_in_step_a_pserver_and_a_trainer_killed_together_between_two_passes_cost_no_bit(begin, whole) -> None:
    """Only the process that is gone could tell what the shard's snapshot lacks: all begin again from that."""
    job = begin(*KEPT, stays="1 end")
    for node in (0, 1):
        job.is_at(node, "at 1 end")
    job.kill(2, "pserver")
    job.kill(1, "train.py")
    for node in (0, 1):
        job.go_on(node)
    status, output, errors = job.running.end()
    assert (status, errors) == (0, ""), output
    assert "--- trainer-1 begins again with its whole job, process " in job.log(1), output
    assert_same(job.after(0), job.after(1))

    assert_same(job.after(0), whole())


def test_out_of_step_a_pserver_and_a_trainer_killed_together_are_started_again_and_all_end_well(
    begin,
) -> None:
    job = begin("--max_restart=1", "--snapshot_dir=kept", mode="is_async=True", stays="1 3")
    for node in (0, 1):
        job.is_at(node, "at 1 3")
    job.kill(2, "pserver")
    job.kill(0, "train.py")
    for node in (0, 1):
        job.go_on(node)
    status, output, errors = job.running.end()
    assert status == 0, output + errors
    for role in ("pserver-0", "trainer-0"):
        assert (
            f"{role}: its process was killed by SIGKILL; it is started again in 1 s, for the last" in output
        )
    assert "at 3 end" in job.log(0).partition("---")[2] and "at 3 end" in job.log(1)
    assert_same(job.after(0), job.after(1))


def test_with_fewer_trainers_than_there_were_a_job_goes_on_where_that_is_allowed(begin) -> None:
    job = begin("--max_restart=2", "--min_trainers=1", stays="1 3")  # none waits for --barrier_timeout
    job.is_at(1, "at 1 3")
    job.go_on(0)
    job.kill(1, "train.py")
    status, output, errors = job.running.end()
    assert (status, errors.count("\n")) == (0, 1), errors  # that no pserver could be started again
    assert "trainer-1: was killed by SIGKILL; the job goes on without it (--min_trainers=1)" in output
    assert re.search(r"^trainers succeeded after \d+\.\d s, but for trainer-1$", output, re.MULTILINE)
    assert "at 3 end" in job.log(0)
    said = job.path(2, "log/paddle_pserver2.INFO").read_text()
    told = re.findall(r"(\w+) shard at [^ ]+ goes on without trainer 1 .*: (.*)$", said, re.MULTILINE)
    assert sorted(told) == [(shard, "trainer-1 was killed by SIGKILL") for shard in ("dense", "sparse")]


def met(launch, root: Path, program: str, word: str, *argv: str) -> Job:
    """A job of such a program, when both workers have said a word."""
    job = Job(launch(program, None, nodes=3, argv=[*SEPARATE, f"--root_dir={root}", *argv]), root)
    for node in (0, 1):
        job.is_at(node, word)
    return job


def test_workers_that_meet_go_on_without_one_that_is_killed_where_that_is_allowed(launch, tmp_path) -> None:
    job = met(launch, tmp_path / "jobs", meeting(stays=1), "at the meeting", "--min_trainers=1")
    job.kill(1, "train.py")
    status, output, _ = job.running.end()
    assert status == 0, output
    assert "sum [1]" in job.log(0).splitlines()


def test_workers_that_are_to_meet_at_one_that_is_killed_end_their_job_at_once_and_say_why(
    launch, tmp_path
) -> None:
    job = met(launch, tmp_path / "jobs", meeting(stays=0), "at the meeting", "--min_trainers=1")
    job.kill(0, "train.py")
    status, output, errors = job.running.end()
    assert status == 137
    assert "trainer-0: was killed by SIGKILL; the job goes on without it (--min_trainers=1)" in output
    assert "Why: the job went on without it, and trainer-1 is to meet the others there" in errors


def test_workers_that_have_met_twice_begin_again_together(launch, tmp_path) -> None:
    program = meeting(times=2, leaves="'PADDLE_RESTARTS' in os.environ", is_async=True)
    job = met(launch, tmp_path / "jobs", program, "has met", *KEPT, "--snapshot_period=1")
    job.kill(1, "train.py")
    status, output, _ = job.running.end()
    assert status == 0, output
    assert "trainer-1: its process was killed by SIGKILL; the whole job begins again in 1 s" in output
    for node in (0, 1):
        assert job.log(node).splitlines().count("sum [3]") == 4


def test_a_worker_that_has_met_once_is_told_again_what_that_came_to(launch, tmp_path) -> None:
    leaves = "'PADDLE_RESTARTS' in os.environ or os.path.exists('leaves')"
    job = met(launch, tmp_path / "jobs", meeting(leaves=leaves, is_async=True), "has met", *KEPT)
    job.kill(1, "train.py")
    until(lambda: job.log(1).count("has met") == 2, "it to have met again", PATIENCE_S, lambda: job.log(1))
    job.path(0, "leaves").write_text("")
    status, output, _ = job.running.end()
    assert status == 0, output
    assert "trainer-1: its process was killed by SIGKILL; it is started again in 1 s" in output
    assert [job.log(node).splitlines().count("sum [3]") for node in (0, 1)] == [1, 2]


def test_where_too_few_trainers_are_left_a_job_ends_at_once_and_says_what_to_do(begin) -> None:
    job = begin("--min_trainers=2", stays="0 3")
    job.is_at(1, "at 0 3")
    job.kill(1, "train.py")
    status, _, errors = job.running.end()
    assert status == 137
    assert "paddle.py: trainer-1 was killed by SIGKILL on node 1 (127.0.0.2)." in errors
    assert "\nWhy: fewer trainers are left (1) than --min_trainers=2 says. Begin again with all" in errors
    broke = job.path(2, "log/server.log").read_text().splitlines()[1:]
    assert [line.partition("job is broken: ")[2] for line in broke] == ["trainer-1 was killed by SIGKILL"] * 2
