"""Tables that do not learn, such as embeddings trained elsewhere: looked up, and kept by the trainer."""

import io

import numpy as np
import pytest

import paddle.v2 as paddle
from paddle._pserver.trainer.local import LocalExchange
from paddle.v2 import trainer as trainer_module

ROWS = [(i % 6, i % 5, [0.5 * (i % 3)]) for i in range(12)]


def network(**frozen):
    """A table that learns beside one that ``frozen`` says how to treat."""
    word, other = (
        paddle.layer.data(name=name, type=paddle.data_type.integer_value(6)) for name in ("word", "other")
    )
    target = paddle.layer.data(name="target", type=paddle.data_type.dense_vector(1))
    attrs = [
        paddle.attr.Param(name="frozen", is_static=True, initial_std=0.5, **frozen),
        paddle.attr.Param(name="learns", initial_std=0.5, sparse_update=True),
    ]
    vectors = [
        paddle.layer.embedding(input=data, size=4, param_attr=attr)
        for data, attr in zip((word, other), attrs, strict=True)
    ]
    out = paddle.layer.fc(input=vectors, size=1, act=paddle.activation.Linear(), name="out")
    return paddle.layer.square_error_cost(input=out, label=target), word


def trained(is_local, **frozen):
    cost, _ = network(**frozen)
    parameters = paddle.parameters.create(cost)
    optimizer = paddle.optimizer.Momentum(learning_rate=0.01)
    trainer = paddle.trainer.SGD(cost, parameters, optimizer, is_local=is_local)
    before = parameters["frozen"]
    trainer.train(lambda: iter([ROWS[:7], ROWS[7:]]), num_passes=2)
    assert np.array_equal(parameters["frozen"], before)
    tested = trainer.test(lambda: iter([ROWS])).cost
    written = io.BytesIO()
    trainer.save_parameter_to_tar(written)
    written.seek(0)
    saved = paddle.parameters.Parameters.from_tar(written)
    return tested, {name: saved[name].tolist() for name in saved}


@pytest.mark.parametrize("is_local", [True, False])
def test_a_frozen_table_that_is_updated_sparsely_trains_as_one_that_is_not(monkeypatch, is_local):
    monkeypatch.setattr(trainer_module, "_remote", lambda flags: LocalExchange())
    assert trained(is_local, sparse_update=True) == trained(is_local)


def test_a_sparse_table_that_no_cost_depends_on_is_looked_up_in_all_the_same():
    """As what an extra layer computes from."""
    cost, word = network()
    table = paddle.attr.Param(name="aside", sparse_update=True)
    aside = paddle.layer.embedding(input=word, size=2, param_attr=table)
    paddle.evaluator.sum(input=aside, name="total")
    parameters = paddle.parameters.create([cost, aside])
    trainer = paddle.trainer.SGD(
        cost, parameters, paddle.optimizer.Momentum(learning_rate=0.01), extra_layers=aside
    )
    totals = []

    def handle(event):
        if isinstance(event, paddle.event.EndPass):
            totals.append(event.metrics["total"])

    trainer.train(lambda: iter([ROWS]), event_handler=handle)
    assert totals == [pytest.approx(parameters["aside"].sum() / 6, rel=1e-4)]
