"""What the trainers of the benchmark run: a line that is fitted, and marks of how far they have come."""

from paddle._launch.report import reporter

reporter().message("mark: runs")

import numpy as np  # noqa: E402  after the first mark: what it takes to import is a phase

import paddle.v2 as paddle  # noqa: E402

paddle.init(use_gpu=False, trainer_count=1)
reporter().message("mark: imported")
x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(8))
y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
cost = paddle.layer.square_error_cost(
    input=paddle.layer.fc(input=x, size=1, act=paddle.activation.Linear()), label=y
)
trainer = paddle.trainer.SGD(
    cost=cost,
    parameters=paddle.parameters.create(cost),
    update_equation=paddle.optimizer.Momentum(momentum=0),
    is_local=False,
)


def samples():
    """Sixteen, the same everywhere."""
    numbers = np.random.default_rng(1)
    for row in numbers.normal(size=(16, 8)):
        yield row.tolist(), [float(row.sum())]


trainer.train(reader=paddle.batch(samples, batch_size=8), feeding={"x": 0, "y": 1}, num_passes=1)
