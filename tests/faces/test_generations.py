"""One model, written for three generations of the API, has the same loss at every step.

v2 adds up the gradients of a batch's samples where fluid and fleet take their mean, so the rate of v2 is
theirs over the size of the batch. Fleet trains alone here, and as the one worker of a job with servers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import paddle
import paddle.distributed.fleet as fleet
import paddle.fluid as fluid
import paddle.v2 as v2
from paddle._program.description.written import fresh
from tests.pserver.service.endpoints import Endpoints

WORDS, WIDTH, HIDDEN, BATCH, STEPS = 20, 4, 6, 8, 5
Values = dict[str, np.ndarray]


@pytest.fixture(autouse=True)
def _afresh() -> Iterator[None]:
    with fresh():
        yield


@pytest.fixture(params=["alone", "1x1", "1x2"])
def servers(request: pytest.FixtureRequest) -> Endpoints | None:
    """Those of a job of one worker; None where it trains alone."""
    return None if request.param == "alone" else Endpoints(int(request.param[-1]))


def _learned_in_v2(cost: Any, rows: list[list[Any]], rate: float) -> tuple[Values, list[float]]:
    """First values by name, and the cost of every batch."""
    parameters = v2.parameters.create(cost)
    first = {name: parameters.get(name).copy() for name in parameters.names()}
    optimizer = v2.optimizer.Momentum(momentum=0.0, learning_rate=rate / BATCH)
    trainer = v2.trainer.SGD(cost=cost, parameters=parameters, update_equation=optimizer)
    costs: list[float] = []

    def handler(event: Any) -> None:
        if isinstance(event, v2.event.EndIteration):
            costs.append(event.cost)

    trainer.train(v2.batch(lambda: iter(rows), BATCH), 1, handler)
    return first, costs


def _learned_in_fluid(loss: Any, feeds: list[Values], rate: float, first: Values) -> list[float]:
    fluid.optimizer.SGD(learning_rate=rate).minimize(loss)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    for name, value in first.items():
        tensor = fluid.global_scope().find_var(name).get_tensor()
        tensor.set(value.reshape(tensor.shape()), fluid.CPUPlace())
    return [float(np.ravel(exe.run(feed=feed, fetch_list=[loss])[0])[0]) for feed in feeds]


def _learned_in_fleet(
    loss: Any, feeds: list[Values], rate: float, first: Values, servers: Endpoints | None
) -> list[float]:
    if servers is None:
        fleet.init(is_collective=True)
    else:
        fleet.init(
            fleet.UserDefinedRoleMaker(
                current_id=0, role=fleet.Role.WORKER, worker_num=1, server_endpoints=servers.names
            )
        )
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = False
    optimizer = fleet.distributed_optimizer(paddle.optimizer.SGD(learning_rate=rate), strategy)
    optimizer.minimize(loss)
    exe = paddle.static.Executor(paddle.CPUPlace())
    exe.run(paddle.static.default_startup_program())
    for name, value in first.items():
        tensor = paddle.static.global_scope().find_var(name).get_tensor()
        tensor.set(value.reshape(tensor.shape()), paddle.CPUPlace())
    fleet.init_worker()
    losses = [float(np.ravel(exe.run(feed=feed, fetch_list=[loss])[0])[0]) for feed in feeds]
    fleet.stop_worker()
    return losses


@contextmanager
def _static() -> Iterator[None]:
    """Programs of the last generation, with a scope of their own."""
    with fresh():
        paddle.enable_static()
        yield


def _assert_same(costs: Sequence[float], losses: Sequence[float]) -> None:
    np.testing.assert_allclose(losses, costs, rtol=2e-6)
    assert len(costs) == STEPS and costs[-1] < costs[0]


def test_a_linear_regression_is_the_same_in_all_generations(servers: Endpoints | None) -> None:
    v2.init(use_gpu=False, trainer_count=1)
    generator = np.random.default_rng(2)
    x = generator.normal(size=(BATCH * STEPS, 3)).astype(np.float32)
    y = (x @ [[1.0], [2.0], [-1.0]]).astype(np.float32)
    given = v2.layer.data(name="x", type=v2.data_type.dense_vector(3))
    named = {"param_attr": v2.attr.Param(name="w"), "bias_attr": v2.attr.Param(name="b")}
    predicted = v2.layer.fc(input=given, size=1, act=v2.activation.Linear(), **named)
    label = v2.layer.data(name="y", type=v2.data_type.dense_vector(1))
    cost = v2.layer.square_error_cost(input=predicted, label=label)
    first, costs = _learned_in_v2(cost, [[a, b] for a, b in zip(x, y, strict=True)], 0.1)
    cut = [slice(BATCH * step, BATCH * (step + 1)) for step in range(STEPS)]
    feeds = [{"x": x[at], "y": y[at]} for at in cut]

    layers = fluid.layers
    predicted = layers.fc(input=layers.data("x", [3]), size=1, param_attr="w", bias_attr="b")
    loss = layers.mean(layers.square_error_cost(input=predicted, label=layers.data("y", [1])))
    _assert_same(costs, _learned_in_fluid(loss, feeds, 0.1, first))

    with _static():
        given, label = paddle.static.data("x", [None, 3]), paddle.static.data("y", [None, 1])
        predicted = paddle.nn.Linear(3, 1, weight_attr="w", bias_attr="b")(given)
        loss = paddle.mean(paddle.nn.functional.square_error_cost(predicted, label))
        _assert_same(costs, _learned_in_fleet(loss, feeds, 0.1, first, servers))


def test_a_language_model_is_the_same_in_all_generations(servers: Endpoints | None) -> None:
    v2.init(use_gpu=False, trainer_count=1)
    grams = np.tile(np.random.default_rng(3).integers(0, WORDS, (BATCH, 3)), (STEPS, 1))
    ids = [v2.layer.data(name=f"w{at}", type=v2.data_type.integer_value(WORDS)) for at in range(3)]
    shared = v2.attr.Param(name="table")
    words = [v2.layer.embedding(input=each, size=WIDTH, param_attr=shared) for each in ids[:2]]
    hidden = v2.layer.fc(
        input=v2.layer.concat(input=words),
        size=HIDDEN,
        act=v2.activation.Tanh(),
        param_attr=v2.attr.Param(name="w"),
        bias_attr=v2.attr.Param(name="b"),
    )
    chances = v2.layer.fc(
        input=hidden,
        size=WORDS,
        act=v2.activation.Softmax(),
        param_attr=v2.attr.Param(name="v"),
        bias_attr=v2.attr.Param(name="c"),
    )
    cost = v2.layer.cross_entropy_cost(input=chances, label=ids[2])
    first, costs = _learned_in_v2(cost, [row.tolist() for row in grams], 0.5)
    feeds = [
        {f"w{at}": grams[BATCH * step : BATCH * (step + 1), at : at + 1] for at in range(3)}
        for step in range(STEPS)
    ]

    layers = fluid.layers
    ids = [layers.data(f"w{at}", [1], dtype="int64") for at in range(3)]
    words = [layers.embedding(each, [WORDS, WIDTH], param_attr="table") for each in ids[:2]]
    hidden = layers.fc(layers.concat(words, axis=1), HIDDEN, act="tanh", param_attr="w", bias_attr="b")
    chances = layers.fc(hidden, WORDS, act="softmax", param_attr="v", bias_attr="c")
    loss = layers.mean(layers.cross_entropy(chances, ids[2]))
    _assert_same(costs, _learned_in_fluid(loss, feeds, 0.5, first))

    with _static():
        nn = paddle.nn
        ids = [paddle.static.data(f"w{at}", [None, 1], "int64") for at in range(3)]
        table = nn.Embedding(WORDS, WIDTH, sparse=True, weight_attr=paddle.ParamAttr(name="table"))
        words = [paddle.reshape(table(each), [-1, WIDTH]) for each in ids[:2]]
        hidden = nn.Linear(2 * WIDTH, HIDDEN, weight_attr="w", bias_attr="b")(paddle.concat(words, axis=1))
        scores = nn.Linear(HIDDEN, WORDS, weight_attr="v", bias_attr="c")(paddle.tanh(hidden))
        loss = paddle.mean(nn.functional.cross_entropy(scores, ids[2]))
        _assert_same(costs, _learned_in_fleet(loss, feeds, 0.5, first, servers))
