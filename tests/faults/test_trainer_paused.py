"""A trainer that stands still (SIGSTOP): the others go on as far as their mode lets them, and it goes on."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.by_hand import free_port, pserver, trainer
from tests.waiting import PATIENCE_S, until

pytestmark = pytest.mark.faults

STEPS = 20

# Trainer 1 stands still when it has computed its second gradient.
TRAIN = """
import json, os, signal, urllib.request
import numpy as np
from paddle._engine.exchange import ModeSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.trainer.remote import RemoteExchange
from paddle._pserver.trainer.trainer_modes import in_mode

me, mode = int(os.environ["PADDLE_INIT_TRAINER_ID"]), ModeSpec(MODE)
exchange = in_mode(RemoteExchange(
    ["127.0.0.1"], port=int(os.environ["PADDLE_INIT_PORT"]), ports_num=1, ports_num_for_sparse=1,
    num_gradient_servers=2, trainer_id=me), mode, 2)
update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=1.0), mode=mode)
one = {"w": np.ones(4, np.float32)}
w = exchange.start((ParameterSpec(name="w", shape=(4,)),), update, {"w": np.zeros(4, np.float32)})["w"]
dropped = exchange.step(one, 1).dropped
exchange.end_pass(0)  # so that trainer 1 has the same parameters as trainer 0
if me == 1:
    os.kill(os.getpid(), signal.SIGSTOP)
for step in range(2, 2 + (STEPS - 1) * (1 - me) + me):
    dropped += exchange.step(one, 1).dropped
    print("step", step, flush=True)
status = json.load(urllib.request.urlopen("http://127.0.0.1:%s/v1/status" % os.environ["PADDLE_INIT_PORT"]))
print("dropped", dropped, status["trainers"][me]["dropped"], flush=True)
exchange.end_pass(1)
print("moved by", sorted(set(w.tolist())), flush=True)
exchange.close()
"""


class Job:
    """Two trainers, the second of which stands still, and their pserver."""

    def __init__(self, folder: Path, text: str) -> None:
        port = free_port(["127.0.0.1"])
        self.url = f"http://127.0.0.1:{port}/v1/status"
        self.pserver = pserver("127.0.0.1", port, 2)
        self.trainers = [
            trainer(folder, text, PADDLE_INIT_PORT=str(port), PADDLE_INIT_TRAINER_ID=str(id)) for id in (0, 1)
        ]

    def pushes(self) -> list[int]:
        """What the pserver has counted of each trainer."""
        with contextlib.suppress(OSError), urllib.request.urlopen(self.url, timeout=PATIENCE_S) as answer:
            found: list[dict[str, Any]] = json.load(answer)["trainers"]
            return [each["pushes"] for each in found]
        return [0, 0]

    def is_stopped(self, trainer: int = 1) -> bool:
        stat = Path(f"/proc/{self.trainers[trainer].pid}/stat").read_text()
        return stat.rsplit(")", 1)[1].split()[0] == "T"

    def go_on(self, trainer: int = 1) -> list[str]:
        """The outputs of trainers and pserver, once all have ended well."""
        os.kill(self.trainers[trainer].pid, signal.SIGCONT)
        processes: list[subprocess.Popen[str]] = [*self.trainers, self.pserver]
        outputs = [process.communicate(timeout=PATIENCE_S)[0] for process in processes]
        assert [process.returncode for process in processes] == [0, 0, 0], outputs
        return outputs


def in_mode(mode: str) -> str:
    return TRAIN.replace("MODE", mode).replace("STEPS", str(STEPS))


@contextlib.contextmanager
def standing_still(folder: Path, text: str) -> Iterator[Job]:
    job = Job(folder, text)
    try:
        until(job.is_stopped, "trainer 1 to stand still")
        yield job
    finally:
        for process in (*job.trainers, job.pserver):
            process.kill()
            process.wait()


@pytest.mark.patient
def test_bounded_staleness_stops_the_other_at_its_bound_and_no_sooner(tmp_path: Path) -> None:
    with standing_still(tmp_path, in_mode('name="ssp", staleness=3')) as job:
        # In this pass trainer 1 has pushed nothing: trainer 0's third push is answered, and the fourth waits.
        until(lambda: job.pushes() == [5, 1], "trainer 0 to be as far as it may")
        first = job.trainers[0].stdout
        assert first is not None
        steps = (line for line in first if line.startswith("step"))  # it may say that it waits for a pserver
        assert list(islice(steps, 3)) == [f"step {step}\n" for step in (2, 3, 4)]
        assert job.pushes() == [5, 1]
        assert f"step {STEPS}\n" in job.go_on()[0]


@pytest.mark.patient
@pytest.mark.parametrize(
    # By how many shards, as the trainer was told, and how often, as one of them counts. Gradients and rate
    # are 1, so that what was dropped is seen not to count. (Geo adds a part of what trainers have moved.)
    ("mode", "dropped", "moved"),
    [
        ('name="async"', "dropped 2 1\n", f"moved by [-{STEPS + 1}.0]\n"),
        ('name="geo", k_steps=1', "dropped 0 0\n", "moved by [-"),
        ('name="half_async"', "dropped 0 0\n", f"moved by [-{STEPS + 2}.0]\n"),
    ],
)
def test_where_nobody_waits_the_other_trains_on_and_what_is_stale_is_counted(
    tmp_path: Path, mode: str, dropped: str, moved: str
) -> None:
    with standing_still(tmp_path, in_mode(mode)) as job:
        until(lambda: job.pushes() == [STEPS, 1], "trainer 0 to have pushed all")
        first, second, _ = job.go_on()
    assert "dropped 0 0\n" in first
    assert dropped in second
    for said in (first, second):
        assert moved in said


# Trainer 1 begins its second step when it is told to; then trainer 0 has its answer, of 8 MiB.
HEARS = """
import os, signal, sys
import numpy as np
from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.trainer import deadline
from paddle._pserver.trainer.remote import RemoteExchange

deadline.MOST_S = 0.6
me = int(os.environ["PADDLE_INIT_TRAINER_ID"])
exchange = RemoteExchange(
    ["127.0.0.1"], port=int(os.environ["PADDLE_INIT_PORT"]), ports_num=1, ports_num_for_sparse=1,
    num_gradient_servers=2, trainer_id=me, call_timeout_s=GIVES_UP_S, shares_memory=False)
ones = {"w": np.ones(2 << 20, np.float32)}
update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=1.0))
values = exchange.start((ParameterSpec(name="w", shape=(2 << 20,)),), update, ones)
if me == 1:
    os.kill(os.getpid(), signal.SIGSTOP)
exchange.step(ones, 1)
assert (values["w"] == -1).all()
exchange.close()
"""
GIVES_UP_S = 5.0  # longer than who answers may be held up


def test_one_that_stood_still_for_longer_than_its_patience_hears_what_was_answered_meanwhile(
    tmp_path: Path,
) -> None:
    with standing_still(tmp_path, HEARS.replace("GIVES_UP_S", str(GIVES_UP_S))) as job:
        until(lambda: job.pushes() == [1, 0], "trainer 0 to wait for trainer 1")
        os.kill(job.trainers[0].pid, signal.SIGSTOP)
        until(lambda: job.is_stopped(0), "it to stand still, too")
        over = time.monotonic() + 1.5 * GIVES_UP_S
        os.kill(job.trainers[1].pid, signal.SIGCONT)
        until(lambda: job.pushes() == [1, 1] and time.monotonic() > over, "its patience to be over")
        job.go_on(0)
