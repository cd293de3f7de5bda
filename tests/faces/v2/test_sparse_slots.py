"""Sparse slots: what is learned from them is what is learned from the same rows spread out."""

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._engine.errors import ShapeError
from paddle._pserver.trainer.local import LocalExchange
from paddle.v2 import trainer as trainer_module

WIDTH = 12
RNG = np.random.default_rng(3)
ROWS = [
    [(int(column), round(float(RNG.normal()), 3)) for column in RNG.integers(0, WIDTH, RNG.integers(0, 5))]
    for _ in range(20)
]
KINDS = {
    "binary": (paddle.data_type.sparse_binary_vector, lambda row: [column for column, _ in row]),
    "float": (paddle.data_type.sparse_float_vector, lambda row: row),
    "dense": (paddle.data_type.dense_vector, None),
}


def spread(row, kind):
    full = np.zeros(WIDTH, np.float32)
    for column, amount in row:
        full[column] += 1 if kind == "binary" else amount
    return full


def projected(x, sparse):
    return paddle.layer.mixed(
        input=paddle.layer.full_matrix_projection(
            x, size=3, param_attr=paddle.attr.Param(name="w", **sparse)
        ),
        act=paddle.activation.Tanh(),
    )


def full(x, sparse):
    return paddle.layer.fc(input=x, size=3, param_attr=paddle.attr.Param(name="w", **sparse), bias_attr=False)


def trained(kind, data, layer, sparse):
    """The parameters after three passes, and a prediction, of a network over a slot of that kind."""
    x = paddle.layer.data(name="x", type=KINDS[kind][0](WIDTH))
    y = paddle.layer.data(name="y", type=paddle.data_type.dense_vector(1))
    out = paddle.layer.fc(input=layer(x, sparse), size=1, act=paddle.activation.Linear(), name="out")
    cost = paddle.layer.square_error_cost(input=out, label=y)
    parameters = paddle.parameters.create(cost)
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.AdaGrad(learning_rate=0.1))
    samples = [(row, [float(len(of))]) for row, of in zip(data, ROWS, strict=True)]
    trainer.train(paddle.batch(lambda: iter(samples), 8), num_passes=3)
    found = paddle.infer(out, parameters, [(row,) for row in data], feeding={"x": 0})
    return {name: parameters[name] for name in parameters}, found


@pytest.mark.parametrize("sparse", [{}, {"sparse_update": True}], ids=["dense update", "sparse update"])
@pytest.mark.parametrize("kind", ["binary", "float"])
@pytest.mark.parametrize("layer", [full, projected])
def test_what_is_learned_is_that_of_rows_spread_out(layer, kind, sparse):
    given = [KINDS[kind][1](row) for row in ROWS]
    found, predicted = trained(kind, given, layer, sparse)
    expected, by_dense = trained("dense", [spread(row, kind) for row in ROWS], layer, {})
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(predicted, by_dense, rtol=2e-5, atol=2e-6)


def test_a_slot_of_a_million_columns_is_learned_from_row_by_row():
    x = paddle.layer.data(name="x", type=paddle.data_type.sparse_binary_vector(10**6))
    attr = paddle.attr.Param(name="w", sparse_update=True)
    out = paddle.layer.fc(input=x, size=2, act=paddle.activation.Linear(), param_attr=attr)
    cost = paddle.layer.sum_cost(input=out)
    parameters = paddle.parameters.create(cost)
    before = parameters["w"]
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=0.5))
    rows = [([i, 999_999],) for i in range(200)]  # 800 MB if it were spread out
    trainer.train(lambda: iter([rows]))
    moved = np.flatnonzero((parameters["w"] != before).any(axis=1))
    assert moved.tolist() == [*range(200), 999_999]
    np.testing.assert_allclose(before[999_999] - parameters["w"][999_999], 0.5 * 200, rtol=1e-4)


def test_other_layers_have_it_spread_out_once():
    x = paddle.layer.data(name="x", type=paddle.data_type.sparse_float_vector(WIDTH))
    both = paddle.layer.concat(input=[x, x * 2])
    (found,) = paddle.infer(both, paddle.parameters.create(both), [([(1, 0.5), (1, 1.0)],)])
    assert found.tolist() == [*spread([(1, 1.5)], "float"), *spread([(1, 3.0)], "float")]


def test_a_batch_without_entries_is_one_of_zeros():
    x = paddle.layer.data(name="x", type=paddle.data_type.sparse_float_vector(WIDTH))
    out = paddle.layer.fc(input=x, size=2, act=paddle.activation.Linear(), bias_attr=False)
    assert paddle.infer(out, paddle.parameters.create(out), [([],), ([],)]).tolist() == [[0, 0], [0, 0]]


def test_what_would_have_to_be_spread_out_too_far_is_refused():
    x = paddle.layer.data(name="x", type=paddle.data_type.sparse_binary_vector(10**7))
    out = paddle.layer.sum_cost(input=x)
    with pytest.raises(
        ShapeError, match=r"14 rows of 10000000 columns are more than .* let one of these read"
    ):
        paddle.infer(out, paddle.parameters.create(out), [([],)] * 14)


def test_a_sparse_label_of_several_classes_is_spread_out():
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(2))
    label = paddle.layer.data(name="label", type=paddle.data_type.sparse_binary_vector(3))
    out = paddle.layer.fc(
        input=x, size=3, act=paddle.activation.Sigmoid(), param_attr=paddle.attr.Param(initial_std=0.0)
    )
    cost = paddle.layer.multi_binary_label_cross_entropy_cost(input=out, label=label)
    trainer = paddle.trainer.SGD(cost, paddle.parameters.create(cost), paddle.optimizer.Momentum())
    result = trainer.test(lambda: iter([[([1.0, 2.0], [0, 2]), ([1.0, 2.0], [])]]))
    assert result.cost == pytest.approx(3 * np.log(2), rel=1e-5)


def test_sequences_of_sparse_rows_are_pooled():
    x = paddle.layer.data(name="x", type=paddle.data_type.sparse_binary_vector_sequence(WIDTH))
    table = paddle.attr.Param(name="w")
    out = paddle.layer.fc(input=x, size=2, act=paddle.activation.Linear(), param_attr=table, bias_attr=False)
    pooled = paddle.layer.pooling(input=out, pooling_type=paddle.pooling.Sum())
    parameters = paddle.parameters.create(pooled)
    found = paddle.infer(pooled, parameters, [([[1, 2], [3]],), ([[4], []],)])
    w = parameters["w"]
    np.testing.assert_allclose(found, [w[1] + w[2] + w[3], w[4]], rtol=1e-6)


def test_parameter_servers_are_asked_for_the_rows_that_a_batch_names(monkeypatch):
    asked = []

    class Asked(LocalExchange):
        def prefetch(self, rows):
            asked.append({name: sorted(ids.tolist()) for name, ids in rows.items()})
            super().prefetch(rows)

    monkeypatch.setattr(trainer_module, "_remote", lambda flags: Asked())
    x = paddle.layer.data(name="x", type=paddle.data_type.sparse_binary_vector(10**6))
    attr = paddle.attr.Param(name="w", sparse_update=True)
    cost = paddle.layer.sum_cost(input=paddle.layer.fc(input=x, size=2, param_attr=attr))
    trainer = paddle.trainer.SGD(
        cost, paddle.parameters.create(cost), paddle.optimizer.Momentum(), is_local=False
    )
    trainer.train(lambda: iter([[([7, 5],), ([],)], [([999_999],)]]))
    assert asked == [{"w": [5, 7]}, {"w": [999_999]}]
