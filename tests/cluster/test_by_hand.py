"""Jobs of several processes started by hand: pservers by command line, trainers by environment."""

import re
import shlex
import subprocess

import pytest

from tests.cluster.by_hand import (
    PSERVER,
    environment,
    free_port,
    outputs_of,
    outputs_of_all_well,
    pserver,
    run_job,
    settings,
    trainer,
)
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.cluster


TRAIN = """
import hashlib, os, sys
import numpy as np
import paddle.v2 as paddle

paddle.init()
sparse = os.environ.get("SPARSE") == "1"
trainer_id = int(os.environ.get("PADDLE_INIT_TRAINER_ID", "0"))

word = paddle.layer.data(name="word", type=paddle.data_type.integer_value(50))
label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(5))
vector = paddle.layer.embedding(
    input=word, size=8, param_attr=paddle.attr.Param(name="_table", initial_std=0.1, sparse_update=sparse))
predicted = paddle.layer.fc(input=vector, size=5, act=paddle.activation.Softmax())
cost = paddle.layer.classification_cost(input=predicted, label=label)
parameters = paddle.parameters.create(cost)
adagrad = paddle.optimizer.AdaGrad(
    learning_rate=3e-2, regularization=paddle.optimizer.L2Regularization(8e-4))
trainer = paddle.trainer.SGD(cost, parameters, adagrad, is_local=False)

def reader():
    random = np.random.RandomState(trainer_id)
    for _ in range(200 + 40 * trainer_id):
        value = int(random.randint(50))
        yield value, value % 5

def handler(event):
    if isinstance(event, paddle.event.EndPass):
        print("Pass %d cost %f" % (event.pass_id, trainer.test(paddle.batch(reader, 20)).cost))

trainer.train(paddle.batch(reader, 20), num_passes=6, event_handler=handler)
digest = hashlib.sha256()
for name in sorted(parameters.keys()):
    digest.update(parameters.get(name).tobytes())
print("parameters", digest.hexdigest())
"""


def costs(output: str) -> list[float]:
    return [float(cost) for cost in re.findall(r"Pass \d+ cost ([0-9.]+)", output)]


@pytest.mark.parametrize(
    ("trainers", "hosts", "sparse"),
    [
        pytest.param(1, ["127.0.0.1"], False, id="1x1-dense", marks=pytest.mark.thorough),
        pytest.param(1, ["127.0.0.1"], True, id="1x1-sparse", marks=pytest.mark.thorough),
        pytest.param(3, ["127.0.0.1", "127.0.0.2"], False, id="3x2-dense", marks=pytest.mark.thorough),
        pytest.param(3, ["127.0.0.1", "127.0.0.2"], True, id="3x2-sparse"),
    ],
)
def test_trainers_configured_by_environment_learn_and_end_equal(tmp_path, trainers, hosts, sparse) -> None:
    env = {"PADDLE_INIT_USE_GPU": "False", "PADDLE_INIT_TRAINER_COUNT": "1", "PADDLE_INIT_PORTS_NUM": "1"}
    outputs = run_job(tmp_path, TRAIN, hosts, trainers, SPARSE=str(int(sparse)), **env)
    digests = [re.findall(r"^parameters (\w+)$", output, re.MULTILINE) for output in outputs]
    assert len({tuple(digest) for digest in digests}) == 1
    assert len(digests[0]) == 1
    for output in outputs:
        assert len(costs(output)) == 6
        assert costs(output)[-1] < costs(output)[0] - 0.2


def test_a_program_that_fails_outside_of_training_is_missed_at_once(tmp_path) -> None:
    port = free_port(["127.0.0.1"])
    fails = "if trainer_id == 1:\n    raise OSError('the disk is full')\n"
    text = TRAIN + fails + "trainer.train(paddle.batch(reader, 20), num_passes=6)\n"
    shared = settings(["127.0.0.1"], port, 2)
    processes = [trainer(tmp_path, text, PADDLE_INIT_TRAINER_ID=str(i), **shared) for i in range(2)]
    processes.append(pserver("127.0.0.1", port, 2))
    outputs = outputs_of(processes)
    assert [process.returncode for process in processes] == [1, 1, 1]
    assert "OSError: the disk is full" in outputs[0]
    assert "trainer 1" in outputs[0]


@pytest.mark.parametrize("streams", ["<&- >&- 2>&-", ">&-", "</dev/null >/dev/full 2>&1"])
def test_a_pserver_serves_whatever_its_standard_streams_are(tmp_path, streams) -> None:
    """Closed, as by a shell, or on a full disk."""
    port = free_port(["127.0.0.1"])
    command = shlex.join([*PSERVER, f"--port={port}"])
    with subprocess.Popen(["sh", "-c", f"exec {command} {streams}"], env=environment()) as served:
        try:
            text = TRAIN.replace("num_passes=6", "num_passes=1")
            outputs_of_all_well([trainer(tmp_path, text, **settings(["127.0.0.1"], port, 1))])
            assert served.wait(PATIENCE_S) == 0
        finally:
            served.kill()
