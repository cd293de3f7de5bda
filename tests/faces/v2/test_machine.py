"""What a handler sees of a batch: outputs of layers by event.gm, gradients by Parameters.get_grad."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._absent import AbsentName

layer, activation = paddle.layer, paddle.activation
RNG = np.random.default_rng(11)
ROWS = [(RNG.normal(size=6).astype("float32"), int(RNG.integers(3))) for _ in range(20)]


def network() -> Any:
    """With dropout, a batch norm, whose averages move, and a layer of ids."""
    x = layer.data(name="x", type=paddle.data_type.dense_vector(6))
    label = layer.data(name="label", type=paddle.data_type.integer_value(3))
    hidden = layer.fc(input=x, size=5, act=activation.Tanh(), name="hidden", bias_attr=False)
    normal = layer.batch_norm(input=hidden, act=activation.Relu(), name="normal")
    dropped = layer.dropout(normal, 0.5)
    out = layer.fc(input=dropped, size=3, act=activation.Softmax(), name="out")
    return layer.classification_cost(input=out, label=label, name="cost")


def trained(handler: Any, count: int = 1, optimizer: Any = None, cost: Any = None) -> Any:
    paddle.init(use_gpu=False, trainer_count=count)
    cost = cost or network()
    parameters = paddle.parameters.create(cost)
    optimizer = optimizer or paddle.optimizer.Momentum(momentum=0, learning_rate=0.1)
    trainer = paddle.trainer.SGD(cost, parameters, optimizer)
    trainer.train(
        paddle.batch(lambda: iter(ROWS), 8), num_passes=2, event_handler=lambda e: handler(e, parameters)
    )
    return parameters


@pytest.mark.parametrize("count", [1, 2])
def test_outputs_are_those_that_the_cost_was_computed_of(count: int) -> None:
    costs = []

    def handler(event: Any, parameters: Any) -> None:
        if isinstance(event, paddle.event.EndIteration):
            found = event.gm.getLayerOutputs(["cost", "hidden", "label"])
            costs.append((float(found["cost"]["value"].mean()), event.cost))
            assert found["hidden"]["value"].shape == (len(found["cost"]["value"]), 5)
            assert found["hidden"]["id"] is None and found["label"]["value"] is None

    trained(handler, count)
    assert len(costs) == 6
    seen, told = zip(*costs, strict=True)
    np.testing.assert_allclose(seen, told, rtol=1e-5)  # of the first batch, too, which is computed again


def test_who_looks_changes_nothing() -> None:
    def looks(event: Any, parameters: Any) -> None:
        if isinstance(event, paddle.event.EndForwardBackward) and event.batch_id % 2 == 0:
            event.gm.getLayerOutputs("normal")
            parameters.get_grad("_out.w0")

    first, second = trained(looks), trained(lambda event, parameters: None)
    for name in first.names():
        np.testing.assert_array_equal(first[name], second[name])


@pytest.mark.parametrize("count", [1, 2])
def test_a_gradient_is_what_a_step_moves_by(count: int) -> None:
    before: dict[str, np.ndarray] = {}
    asked = []

    def handler(event: Any, parameters: Any) -> None:
        if isinstance(event, paddle.event.BeginIteration):
            before.update({name: parameters[name] for name in parameters.names()})
        if isinstance(event, paddle.event.EndForwardBackward):
            for name in ("_hidden.w0", "_out.w0", "_out.wbias"):
                slope = parameters.get_grad(name)
                assert slope.shape == parameters.get_shape(name) and np.abs(slope).max() > 0
                moved = parameters[name] - before[name]
                np.testing.assert_allclose(moved, -0.1 * slope, rtol=1e-3, atol=1e-6)
                asked.append(name)

    trained(handler, count)
    assert len(asked) == 18


def test_a_table_has_a_gradient_of_all_its_rows() -> None:
    word = layer.data(name="x", type=paddle.data_type.integer_value(9))
    table = paddle.attr.Param(name="table", sparse_update=True)
    out = layer.fc(
        input=layer.embedding(input=word, size=4, param_attr=table), size=3, act=activation.Softmax()
    )
    label = layer.data(name="label", type=paddle.data_type.integer_value(3))
    cost = layer.classification_cost(input=out, label=label)
    parameters, found = paddle.parameters.create(cost), []

    def handler(event: Any) -> None:
        if isinstance(event, paddle.event.EndIteration):
            found.append(np.flatnonzero(np.abs(parameters.get_grad("table")).sum(1)).tolist())

    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(momentum=0, learning_rate=0.1))
    trainer.train(paddle.batch(lambda: iter([(1, 0), (4, 1), (7, 2), (7, 0)]), 2), 1, handler)
    assert found == [[1, 4], [7]]


def test_what_the_machine_has_not_it_says() -> None:
    def handler(event: Any, parameters: Any) -> None:
        if isinstance(event, paddle.event.EndPass):
            with pytest.raises(ValueError, match="no layer 'nowhere' whose output could be read"):
                event.gm.getLayerOutputs("nowhere")
            with pytest.raises(AbsentName, match=r"event.gm.getParameters is not in this release"):
                event.gm.getParameters()

    trained(handler)
