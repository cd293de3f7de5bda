"""One model, written for two generations of the API, has the same loss at every step.

v2 adds up the gradients of a batch's samples where fluid takes their mean, so the rate of v2 is that of fluid
over the size of the batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
import paddle.v2 as paddle

WORDS, WIDTH, HIDDEN, BATCH, STEPS = 20, 4, 6, 8, 5


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with (
        fluid.program_guard(fluid.Program(), fluid.Program()),
        fluid.scope_guard(fluid.executor.Scope()),
        fluid.unique_name.guard(),
    ):
        yield


def _learned_in_v2(
    cost: Any, rows: list[list[Any]], rate: float
) -> tuple[dict[str, np.ndarray], list[float]]:
    """First values by name, and the cost of every batch."""
    parameters = paddle.parameters.create(cost)
    first = {name: parameters.get(name).copy() for name in parameters.names()}
    optimizer = paddle.optimizer.Momentum(momentum=0.0, learning_rate=rate / BATCH)
    trainer = paddle.trainer.SGD(cost=cost, parameters=parameters, update_equation=optimizer)
    costs: list[float] = []

    def handler(event: Any) -> None:
        if isinstance(event, paddle.event.EndIteration):
            costs.append(event.cost)

    trainer.train(paddle.batch(lambda: iter(rows), BATCH), 1, handler)
    return first, costs


def _learned_in_fluid(
    loss: Any, feeds: list[dict[str, np.ndarray]], rate: float, first: dict[str, np.ndarray]
) -> list[float]:
    fluid.optimizer.SGD(learning_rate=rate).minimize(loss)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    for name, value in first.items():
        tensor = fluid.global_scope().find_var(name).get_tensor()
        tensor.set(value.reshape(tensor.shape()), fluid.CPUPlace())
    return [float(np.ravel(exe.run(feed=feed, fetch_list=[loss])[0])[0]) for feed in feeds]


def test_a_linear_regression_is_the_same_in_v2_and_fluid() -> None:
    paddle.init(use_gpu=False, trainer_count=1)
    generator = np.random.default_rng(2)
    x = generator.normal(size=(BATCH * STEPS, 3)).astype(np.float32)
    y = (x @ [[1.0], [2.0], [-1.0]]).astype(np.float32)
    given = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(3))
    named = {"param_attr": paddle.attr.Param(name="w"), "bias_attr": paddle.attr.Param(name="b")}
    predicted = paddle.layer.fc(input=given, size=1, act=paddle.activation.Linear(), **named)
    label = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    cost = paddle.layer.square_error_cost(input=predicted, label=label)
    first, costs = _learned_in_v2(cost, [[a, b] for a, b in zip(x, y, strict=True)], 0.1)

    layers = fluid.layers
    predicted = layers.fc(input=layers.data("x", [3]), size=1, param_attr="w", bias_attr="b")
    loss = layers.mean(layers.square_error_cost(input=predicted, label=layers.data("y", [1])))
    cut = [slice(BATCH * step, BATCH * (step + 1)) for step in range(STEPS)]
    losses = _learned_in_fluid(loss, [{"x": x[at], "y": y[at]} for at in cut], 0.1, first)
    np.testing.assert_allclose(losses, costs, rtol=1e-5)
    assert losses[-1] < losses[0]


def test_a_language_model_is_the_same_in_v2_and_fluid() -> None:
    paddle.init(use_gpu=False, trainer_count=1)
    grams = np.random.default_rng(3).integers(0, WORDS, (BATCH * STEPS, 3))
    ids = [paddle.layer.data(name=f"w{at}", type=paddle.data_type.integer_value(WORDS)) for at in range(3)]
    shared = paddle.attr.Param(name="table")
    words = [paddle.layer.embedding(input=each, size=WIDTH, param_attr=shared) for each in ids[:2]]
    hidden = paddle.layer.fc(
        input=paddle.layer.concat(input=words),
        size=HIDDEN,
        act=paddle.activation.Tanh(),
        param_attr=paddle.attr.Param(name="w"),
        bias_attr=paddle.attr.Param(name="b"),
    )
    chances = paddle.layer.fc(
        input=hidden,
        size=WORDS,
        act=paddle.activation.Softmax(),
        param_attr=paddle.attr.Param(name="v"),
        bias_attr=paddle.attr.Param(name="c"),
    )
    cost = paddle.layer.cross_entropy_cost(input=chances, label=ids[2])
    first, costs = _learned_in_v2(cost, [row.tolist() for row in grams], 0.5)

    layers = fluid.layers
    ids = [layers.data(f"w{at}", [1], dtype="int64") for at in range(3)]
    words = [layers.embedding(each, [WORDS, WIDTH], param_attr="table") for each in ids[:2]]
    hidden = layers.fc(layers.concat(words, axis=1), HIDDEN, act="tanh", param_attr="w", bias_attr="b")
    chances = layers.fc(hidden, WORDS, act="softmax", param_attr="v", bias_attr="c")
    loss = layers.mean(layers.cross_entropy(chances, ids[2]))
    feeds = [
        {f"w{at}": grams[BATCH * step : BATCH * (step + 1), at : at + 1] for at in range(3)}
        for step in range(STEPS)
    ]
    np.testing.assert_allclose(_learned_in_fluid(loss, feeds, 0.5, first), costs, rtol=1e-5)
