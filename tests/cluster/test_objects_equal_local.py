"""A detector of v2: two trainers with two pservers end where one with two threads ends."""

from pathlib import Path

import numpy as np
import pytest

from tests.cluster.by_hand import (
    HOSTS,
    assert_same,
    free_port,
    outputs_of_all_well,
    pserver,
    settings,
    trainer,
)

pytestmark = pytest.mark.cluster

TRAIN = """
import os
import numpy as np
import paddle.v2 as paddle

local = "PADDLE_INIT_PSERVERS" not in os.environ
trainer_id = int(os.environ.get("PADDLE_INIT_TRAINER_ID", "0"))
paddle.init(trainer_count=2 if local else 1)

pixels = paddle.data_type.dense_vector(3 * 12 * 12)
image = paddle.layer.data(name="image", type=pixels, height=12, width=12)
seen = paddle.layer.img_conv(image, 3, 6, num_channels=3, padding=1, stride=3, name="seen")
priors = paddle.layer.priorbox(seen, image, [2.0], [0.1, 0.1, 0.2, 0.2], [4], [8])
linear = paddle.activation.Linear()
loc, conf = (
    paddle.layer.img_conv(seen, 3, 4 * wide, padding=1, act=linear, name=name)
    for name, wide in (("loc", 4), ("conf", 3))
)
objects = paddle.layer.data(name="objects", type=paddle.data_type.dense_vector_sequence(6))
cost = paddle.layer.multibox_loss(loc, conf, priors, objects, 3)
found = paddle.layer.detection_output(loc, conf, priors, 3, keep_top_k=5)
paddle.evaluator.detection_map(found, objects, overlap_threshold=0.3, name="map")
parameters = paddle.parameters.create(cost)
before = {name: parameters.get(name).copy() for name in parameters.keys()}
rule = paddle.optimizer.Momentum(momentum=0.9, learning_rate=1e-2)
trainer = paddle.trainer.SGD(cost, parameters, rule, extra_layers=[found], is_local=local)
random = np.random.RandomState(0)


def row(number):
    # Trainer 0's images show one object each, those of trainer 1 two.
    rows = []
    for _ in range(1 + number // 4 % 2):
        left, top = random.uniform(0, 0.6, 2)
        rows.append([random.randint(1, 3), left, top, left + 0.3, top + 0.35, 0])
    return random.normal(size=3 * 12 * 12).astype(np.float32), rows


samples = [row(number) for number in range(48)]


def batches():
    for begin in range(0, len(samples), 8):
        start = begin if local else begin + 4 * trainer_id
        yield samples[start : begin + 8 if local else start + 4]


trainer.train(batches, num_passes=2)
after = {name: parameters.get(name) for name in parameters.keys()}
np.savez("after-%s.npz" % ("local" if local else trainer_id), **after)
if local:
    np.savez("before.npz", **before)
"""


def test_each_trainer_divides_by_its_own_matches_as_each_thread_does(tmp_path: Path) -> None:
    port = free_port(HOSTS)
    shared = settings(HOSTS, port, 2)
    servers = [pserver(host, port, 2) for host in HOSTS]
    trainers = [trainer(tmp_path, TRAIN, PADDLE_INIT_TRAINER_ID=str(i), **shared) for i in range(2)]
    outputs_of_all_well([*trainers, trainer(tmp_path, TRAIN), *servers])
    before, local, first, second = (
        np.load(tmp_path / f"{name}.npz") for name in ("before", "after-local", "after-0", "after-1")
    )
    assert_same(first, second)
    for name in local:
        assert np.abs(local[name] - before[name]).max() > 1e-4, f"{name} has not learned"
        np.testing.assert_allclose(first[name], local[name], rtol=1e-5, atol=1e-5, err_msg=name)
