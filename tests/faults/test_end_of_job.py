"""The end of a job of v2, one of whose trainers crashes when it has pushed its last gradient."""

from __future__ import annotations

import json
import signal
import tarfile
from pathlib import Path

import pytest

from tests.cluster.by_hand import HOSTS, free_port, outputs_of, pserver, settings, trainer

pytestmark = [pytest.mark.faults, pytest.mark.patient]

TRAINERS = 3
WAIT_S = 10  # of trainers that have begun together for one that is held up

# As the documents have it: trainer 0 saves the model after the last pass. Trainer 2 crashes at an event. They
# begin once all have loaded what they need, which takes one longer than another.
TRAIN = """
import hashlib, json, os, signal, time
import numpy as np
import paddle.v2 as paddle

paddle.init()
me, passes, crash_at = int(os.environ["PADDLE_INIT_TRAINER_ID"]), 2, os.environ["CRASH_AT"]
x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(6))
y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
cost = paddle.layer.square_error_cost(input=paddle.layer.fc(input=x, size=1), label=y)
parameters = paddle.parameters.create(cost)
trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=1e-3), is_local=False)

open(f"here-{me}", "w").close()
while not all(os.path.exists(f"here-{id}") for id in range(TRAINERS)):
    time.sleep(0.01)

def reader():
    random = np.random.RandomState(me)
    for _ in range(40):
        row = random.rand(6).astype("float32")
        yield row, [row.sum()]

def handler(event):
    is_last = event.pass_id == passes - 1 and getattr(event, "batch_id", 3) == 3
    if me == 2 and is_last and type(event).__name__ == crash_at:
        os.kill(os.getpid(), signal.SIGKILL)
    if me == 0 and is_last and isinstance(event, paddle.event.EndPass):
        with open("saved.tar", "xb") as file:
            trainer.save_parameter_to_tar(file)

trainer.train(paddle.batch(reader, 10), num_passes=passes, event_handler=handler)
ended = {name: parameters.get(name).tobytes() for name in parameters.keys()}
print(json.dumps({name: hashlib.sha256(value).hexdigest() for name, value in ended.items()}))
""".replace("TRAINERS", str(TRAINERS))


@pytest.mark.parametrize(
    ("crash_at", "flags"),
    [("EndPass", []), ("EndIteration", ["--min_trainers=2"])],
    ids=["when its last pass has ended", "before, where it may be left out"],
)
def test_a_trainer_that_crashes_after_its_last_push_spoils_no_end(
    tmp_path: Path, crash_at: str, flags: list[str]
) -> None:
    port = free_port(HOSTS)
    servers = [pserver(host, port, TRAINERS, f"--barrier_timeout={WAIT_S}", *flags) for host in HOSTS]
    shared = settings(HOSTS, port, TRAINERS) | {"PADDLE_INIT_PORTS_NUM": "1", "CRASH_AT": crash_at}
    trainers = [trainer(tmp_path, TRAIN, PADDLE_INIT_TRAINER_ID=str(id), **shared) for id in range(TRAINERS)]
    processes = [*trainers, *servers]
    outputs = outputs_of(processes)
    assert [process.returncode for process in processes] == [0, 0, -signal.SIGKILL, 0, 0], outputs
    first, second = (json.loads(output.splitlines()[-1]) for output in outputs[:2])
    assert first == second
    assert [path.name for path in tmp_path.glob("*.tar")] == ["saved.tar"]
    with tarfile.open(tmp_path / "saved.tar") as saved:
        assert set(first) < set(saved.getnames())
