"""Two trainers and two pservers, as processes, with gradients in other numbers: they learn as in float32."""

from __future__ import annotations

import gzip
import os
import re
import struct
from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import assert_same, run_job
from tests.cluster.programs.data_sets import digits

pytestmark = pytest.mark.cluster

MNIST = Path(os.environ.get("PADDLE_DATASET_HOME", ""), "mnist")  # now: no test sees its runner's variables

TRAIN = """
import os
import numpy as np
import paddle.v2 as paddle

paddle.init()
me = int(os.environ["PADDLE_INIT_TRAINER_ID"])
data = np.load("../digits.npz")
images, labels = data["images"].reshape(-1, 784).astype(np.float32) / 255, data["labels"]
tested = len(labels) // 5

image = paddle.layer.data(name="image", type=paddle.data_type.dense_vector(784))
label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(10))
hidden = paddle.layer.fc(input=image, size=64, act=paddle.activation.Tanh())
predicted = paddle.layer.fc(input=hidden, size=10, act=paddle.activation.Softmax())
cost = paddle.layer.classification_cost(input=predicted, label=label)
parameters = paddle.parameters.create(cost)
optimizer = paddle.optimizer.Momentum(momentum=0.9, learning_rate=0.1 / 64)
trainer = paddle.trainer.SGD(cost, parameters, optimizer, is_local=False)


def samples(which):
    return lambda: ((images[i], int(labels[i])) for i in which)


def handler(event):
    if isinstance(event, paddle.event.EndPass):
        print("cost", trainer.test(paddle.batch(samples(range(tested)), 100)).cost)


mine = range(tested + me, len(labels), 2)
trainer.train(paddle.batch(samples(mine), 32), num_passes=4, event_handler=handler)
np.savez("after-%d.npz" % me, **{name: parameters.get(name) for name in parameters.keys()})
"""


def train(folder: Path, **wire: str) -> float:
    """The cost on what was not trained with, after four passes."""
    folder.mkdir()
    outputs = run_job(folder, TRAIN, **wire)
    first, second = (np.load(folder / f"after-{i}.npz") for i in range(2))
    assert_same(first, second)
    return [float(cost) for cost in re.findall(r"^cost (\S+)$", outputs[0], re.MULTILINE)][-1]


def generated() -> tuple[np.ndarray, np.ndarray]:
    labels = np.arange(1600, dtype=np.uint8) * 7 % 10
    return digits(labels), labels


def real() -> tuple[np.ndarray, np.ndarray]:
    """Digits that people wrote."""
    files = [MNIST / f"t10k-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1")]
    if not all(file.exists() for file in files):
        pytest.skip("PADDLE_DATASET_HOME has no mnist/t10k-*")
    read = [gzip.decompress(file.read_bytes()) for file in files]
    (count,) = struct.unpack_from(">I", read[0], 4)
    images, labels = (np.frombuffer(data, np.uint8, offset=8 + 8 * (data is read[0])) for data in read)
    return images.reshape(count, 28, 28), labels


@pytest.mark.thorough
@pytest.mark.parametrize("data", [generated, real])
def test_two_trainers_learn_in_other_numbers_what_they_learn_in_float32(tmp_path: Path, data) -> None:
    images, labels = data()
    np.savez(tmp_path / "digits.npz", images=images, labels=labels)
    plain = train(tmp_path / "float32")
    halves = train(tmp_path / "both ways", PADDLE_INIT_WIRE="bfloat16", PADDLE_INIT_WIRE_ANSWERS="bfloat16")
    largest = train(tmp_path / "topk", PADDLE_INIT_WIRE="topk", PADDLE_INIT_WIRE_TOPK="0.05")
    assert plain < 0.6
    assert abs(halves / plain - 1) < 0.05
    assert largest < 1.3 * plain
