"""Rows of a table that batches pass by: what a program puts there is not penalised for steps before it."""

import numpy as np
import pytest

import paddle.v2 as paddle


@pytest.fixture
def trained():
    """A sparse table of which training touched some rows, and its trainer."""
    word = paddle.layer.data(name="word", type=paddle.data_type.integer_value(6))
    table = paddle.attr.Param(name="table", initial_std=0.5, sparse_update=True)
    vector = paddle.layer.embedding(input=word, size=4, param_attr=table)
    label = paddle.layer.data(name="label", type=paddle.data_type.dense_vector(4))
    cost = paddle.layer.square_error_cost(input=vector, label=label)
    parameters = paddle.parameters.create(cost)
    trainer = trainer_of(cost, parameters)
    trainer.train(lambda: iter([[(0, np.zeros(4))], [(1, np.zeros(4))], [(0, np.zeros(4))]]))
    return cost, parameters, trainer


def trainer_of(cost, parameters):
    decay = paddle.optimizer.L2Regularization(0.5)
    optimizer = paddle.optimizer.Momentum(learning_rate=0.1, regularization=decay)
    return paddle.trainer.SGD(cost, parameters, optimizer)


def test_values_that_are_set_between_passes_stay(trained):
    _, parameters, _ = trained
    value = np.ones((6, 4), np.float32)
    parameters["table"] = value
    assert np.array_equal(parameters["table"], value)


def test_values_that_another_trainer_made_stay_when_the_first_goes_on(trained):
    cost, parameters, first = trained
    trainer_of(cost, parameters).train(lambda: iter([[(2, np.ones(4))]]))
    value = parameters["table"]
    with pytest.warns(RuntimeWarning, match="had no batch"):
        first.train(lambda: iter([]))
    assert np.array_equal(parameters["table"], value)


def test_what_is_read_has_caught_up(trained):
    _, parameters, trainer = trained
    before = parameters["table"]
    trainer.train(lambda: iter([[(0, np.zeros(4))]] * 3))
    np.testing.assert_allclose(parameters["table"][2:], before[2:] * (1 - 0.1 * 0.5) ** 3, rtol=1e-6)
