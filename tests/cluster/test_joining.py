"""Trainers that join a job while it runs, or take the place of one that was killed: each a process, as a user
starts it by hand."""

from __future__ import annotations

import re
import signal
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import NETWORK, assert_same, free_port, pserver, settings, trainer
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.cluster

ASYNC, STALE, AVERAGED = "is_async=True", "staleness=2", "num_batches_per_send_parameter=2, is_async=True"

# Words of its own for each trainer. It says where it is by files, and waits where the test has put a file. It
# saves the model of each pass, or is killed before it could.
TRAIN = """
import os, signal, time
from pathlib import Path
import numpy as np
import paddle.v2 as paddle

me, name = int(os.environ["PADDLE_INIT_TRAINER_ID"]), os.environ["NAME"]
paddle.init()
NETWORK
trainer = paddle.trainer.SGD(
    cost, parameters, paddle.optimizer.AdaGrad(learning_rate=0.1, MODE), is_local=False)
words = [(each, each % 5) for each in range(me, 40, 2)]


def handler(event):
    if isinstance(event, paddle.event.EndIteration):
        Path(f"{name}-at-{event.pass_id}-{event.batch_id}").touch()
        while Path(f"{name}-stays").exists():
            time.sleep(0.01)
    if isinstance(event, paddle.event.EndPass) and str(event.pass_id) == os.environ.get("DIES_AFTER"):
        os.kill(os.getpid(), signal.SIGKILL)
    if isinstance(event, paddle.event.EndPass):
        with open(f"{me}-of-{event.pass_id}.tar", "wb") as file:
            trainer.save_parameter_to_tar(file)


batches = paddle.batch(lambda: iter(words * 2), 10)
trainer.train(batches, num_passes=int(os.environ["PASSES"]), event_handler=handler)
test = trainer.test(paddle.batch(lambda: iter([(each, each % 5) for each in range(40)]), 40))
print("cost", test.cost)
np.savez(f"after-{name}.npz", **{each: parameters.get(each) for each in parameters.keys()})
""".replace("NETWORK", NETWORK)


class Job:
    """A pserver and trainers of a job of two."""

    def __init__(self, folder: Path, mode: str) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.text = folder, TRAIN.replace("MODE", mode)
        self.port = free_port(["127.0.0.1"])
        self.server = pserver("127.0.0.1", self.port, 2, f"--barrier_timeout={PATIENCE_S:.0f}")
        self.processes = [self.server]

    def train(self, id: int, name: str, passes: int, **env: str) -> subprocess.Popen[str]:
        """Start a trainer."""
        shared = settings(["127.0.0.1"], self.port, 2) | {"PADDLE_INIT_TRAINER_ID": str(id)}
        started = trainer(self.folder, self.text, NAME=name, PASSES=str(passes), **shared, **env)
        self.processes.append(started)
        return started

    def is_at(self, name: str, pass_id: int, batch_id: int) -> None:
        """Wait until a trainer has done a batch."""
        done = self.folder / f"{name}-at-{pass_id}-{batch_id}"
        until(done.exists, f"{name} to be at batch {batch_id} of pass {pass_id}", PATIENCE_S)

    def stay(self, name: str) -> Callable[[], None]:
        """Let a trainer stand after its next batch; gives what lets it go."""
        (self.folder / f"{name}-stays").touch()
        return (self.folder / f"{name}-stays").unlink

    def end(self, *trainers: subprocess.Popen[str]) -> list[str]:
        """What they printed, once all, and the pserver, have ended well."""
        outputs = [process.communicate(timeout=PATIENCE_S)[0] for process in (*trainers, self.server)]
        assert [process.returncode for process in (*trainers, self.server)] == [0] * len(outputs), outputs
        return outputs[:-1]

    def after(self, name: str) -> dict[str, np.ndarray]:
        return dict(np.load(self.folder / f"after-{name}.npz"))


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., Job]]:
    jobs: list[Job] = []

    def start(mode: str, folder: str = "job") -> Job:
        jobs.append(Job(tmp_path / folder, mode))
        return jobs[-1]

    yield start
    for process in [process for job in jobs for process in job.processes]:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def cost(output: str) -> float:
    return float(re.findall(r"^cost (.*)$", output, re.MULTILINE)[0])


def model(path: Path) -> dict[str, bytes]:
    """The parameters that were saved there."""
    with tarfile.open(path) as file:
        return {name: file.extractfile(name).read() for name in file.getnames()}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "mode", [ASYNC, *(pytest.param(mode, marks=pytest.mark.thorough) for mode in (STALE, AVERAGED))]
)
def test_a_trainer_that_comes_late_joins_and_all_end_with_one_model(
    begin: Callable[..., Job], mode: str
) -> None:
    job = begin(mode)
    first = job.train(0, "first", passes=12)
    job.is_at("first", 0, 1)
    late = job.train(1, "late", passes=12)
    outputs = job.end(first, late)
    assert_same(job.after("first"), job.after("late"))
    assert cost(outputs[0]) < 1.2, "of words that only the late one has seen, half of it: ln(5) = 1.6"


@pytest.mark.parametrize(
    "mode", [STALE, *(pytest.param(mode, marks=pytest.mark.thorough) for mode in (ASYNC, AVERAGED))]
)
def test_a_killed_trainer_is_replaced_in_the_midst_of_a_pass_where_none_waits_for_a_step(
    begin: Callable[..., Job], mode: str
) -> None:
    job = begin(mode)
    first = job.train(0, "first", passes=12)
    go_on = job.stay("killed")
    killed = job.train(1, "killed", passes=12)
    job.is_at("killed", 0, 0)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    go_on()
    outputs = job.end(first, job.train(1, "again", passes=12))
    assert_same(job.after("first"), job.after("again"))
    assert cost(outputs[0]) < 1.2


@pytest.mark.thorough  # test_launcher_restarts.py kills one there, and a pserver
def test_in_step_a_trainer_that_was_killed_between_two_passes_is_replaced_and_no_bit_is_different(
    begin: Callable[..., Job],
) -> None:
    job = begin("")
    first = job.train(0, "first", passes=5)
    for before, dies_after in enumerate(["1", "4"]):
        killed = job.train(1, "killed", passes=5, DIES_AFTER=dies_after, PADDLE_RESTARTS=str(before))
        assert killed.wait(PATIENCE_S) == -signal.SIGKILL
    job.end(first, job.train(1, "again", passes=5, PADDLE_RESTARTS="2"))
    for pass_id in range(5):
        saved = [model(job.folder / f"{id}-of-{pass_id}.tar") for id in range(2)]
        assert saved[0] == saved[1]
    whole = begin("", "whole")
    whole.end(*(whole.train(id, f"trainer-{id}", passes=5) for id in range(2)))
    for name in ("first", "again"):
        assert_same(job.after(name), whole.after("trainer-0"))


def test_in_step_a_trainer_that_was_killed_in_the_midst_of_a_pass_is_not_replaced(
    begin: Callable[..., Job],
) -> None:
    job = begin("")
    job.train(0, "first", passes=5)
    job.stay("killed")
    killed = job.train(1, "killed", passes=5)
    job.is_at("killed", 0, 0)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    refused = job.train(1, "again", passes=5)
    output, _ = refused.communicate(timeout=PATIENCE_S)
    assert refused.returncode == 2
    assert "It has trained a part of this pass, which no other process can take up." in output
