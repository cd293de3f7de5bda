"""A trainer is killed in the midst of synchronous training: the others fail and name it, or go on without it
where they may."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cluster.by_hand import HOSTS, free_port, pserver, trainer
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.faults

# Trainer 2 ends without a word at its third step, when it has sent its gradient to one of two pservers. They
# begin once all have loaded what they need.
TRAIN = """
import os, signal, time
import numpy as np
from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.trainer.remote import RemoteExchange

me = int(os.environ["PADDLE_INIT_TRAINER_ID"])
open(f"here-{me}", "w").close()
while not all(os.path.exists(f"here-{id}") for id in range(3)):
    time.sleep(0.01)
exchange = RemoteExchange(
    ["127.0.0.1", "127.0.0.2"], port=int(os.environ["PADDLE_INIT_PORT"]), ports_num=1,
    ports_num_for_sparse=1, num_gradient_servers=3, trainer_id=me)
model = (ParameterSpec(name="w", shape=(5000,)),)
update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=1.0), reduce="mean")
arrays = exchange.start(model, update, {"w": np.zeros(5000, np.float32)})
for step in range(6):
    if me == 2 and step == 2:
        exchange._dense[1].ask_push = lambda *given, **named: os.kill(os.getpid(), signal.SIGKILL)
    version = exchange.step({"w": np.full(5000, me, np.float32)}, 1).version
exchange.end_pass(0)
exchange.close()
print("ended", version, sorted(set(arrays["w"].round(2).tolist())))
"""


WAIT_S = 12  # as long as one may be held up that has begun together with the others


def ended(folder: Path, *flags: str) -> tuple[list[int], list[str]]:
    """How three trainers and two pservers of these flags end, and what they say."""
    port = free_port(HOSTS)
    servers = [pserver(host, port, 3, f"--barrier_timeout={WAIT_S}", *flags) for host in HOSTS]
    trainers = [
        trainer(folder, TRAIN, PADDLE_INIT_PORT=str(port), PADDLE_INIT_TRAINER_ID=str(id)) for id in range(3)
    ]
    processes = [*trainers, *servers]
    try:
        outputs = [process.communicate(timeout=PATIENCE_S)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    return [process.returncode for process in processes], outputs


@pytest.mark.patient
def test_where_it_may_not_be_left_out_the_others_fail_in_time_and_name_it(tmp_path: Path) -> None:
    statuses, outputs = ended(tmp_path)
    assert statuses == [1, 1, -9, 1, 1], outputs
    for said in outputs[:2]:
        waited = re.search(
            r"TrainerLost: .*gave up after (\d+) s .*trainer 2 .* broke", said.splitlines()[-1]
        )
        assert waited, said
        assert WAIT_S <= int(waited[1]) < 4 * WAIT_S, (
            "by the shard's clock, which stands where the shard does"
        )
    for said in outputs[3:]:
        assert "lost trainer 2" in said


def test_a_killed_trainer_is_left_out_where_min_trainers_allows(tmp_path: Path) -> None:
    statuses, outputs = ended(tmp_path, "--min_trainers=2")
    assert statuses == [0, 0, -9, 0, 0], outputs
    # Two steps by -1, the mean of 0, 1 and 2; the third by -1 where its gradient came and by -0.5 where not;
    # then by -0.5, the mean of 0 and 1.
    ends = [output.splitlines()[-1] for output in outputs[:2]]  # behind for whom they waited
    assert ends == ["ended 6 [-4.5, -4.0]"] * 2
