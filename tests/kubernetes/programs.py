"""What pods train in these tests: linear regression with a sparse table, whose costs are its last word."""

from __future__ import annotations

_TRAIN = """
import json, os, signal, time
import numpy as np
import paddle.v2 as paddle

paddle.init(use_gpu=False)
rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(4))
word = paddle.layer.data(name="word", type=paddle.data_type.integer_value(30))
y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
row = paddle.layer.embedding(
    input=word, size=3, param_attr=paddle.attr.Param(name="rows", initial_std=0.1, sparse_update=True)
)
out = paddle.layer.fc(input=[x, row], size=1, act=paddle.activation.Linear())
cost = paddle.layer.square_error_cost(input=out, label=y)
optimizer = paddle.optimizer.AdaGrad(learning_rate=1e-2)
trainer = paddle.trainer.SGD(cost, paddle.parameters.create(cost), optimizer, is_local=False)
costs = []


def samples():
    drawn = np.random.RandomState(rank)
    for _ in range(64):
        vector = drawn.randn(4).astype("float32")
        yield vector, drawn.randint(30), [float(vector.sum())]


def told(event):
    if isinstance(event, paddle.event.EndIteration):
        costs.append(event.cost)
        print("batch", len(costs), flush=True)
        time.sleep(PAUSE_S)


trainer.train(paddle.batch(samples, 16), num_passes=PASSES, event_handler=told)
print(json.dumps(costs), flush=True)
"""


def train(*, passes: int = 2, pause_s: float = 0.0) -> str:
    """Four batches a pass; ``pause_s`` after each."""
    return f"PASSES, PAUSE_S = {passes}, {pause_s}\n{_TRAIN}"


def hang() -> str:
    """The same, and then it stays."""
    return train() + "signal.pause()\n"
