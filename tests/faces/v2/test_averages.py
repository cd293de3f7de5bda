"""Parameters averaged over steps: what a trainer with a ModelAverage saves."""

import io

import numpy as np
import pytest

import paddle.v2 as paddle


def network(sparse):
    word = paddle.layer.data(name="word", type=paddle.data_type.integer_value(6))
    label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(3))
    table = paddle.attr.Param(name="table", initial_std=0.5, sparse_update=sparse)
    vector = paddle.layer.embedding(input=word, size=4, param_attr=table)
    out = paddle.layer.fc(input=vector, size=3, act=paddle.activation.Softmax())
    return paddle.layer.classification_cost(input=out, label=label)


def batches():
    return paddle.batch(lambda: iter([(i % 6, i % 3) for i in range(10)]), 4)


def saved_by(trainer):
    file = io.BytesIO()
    trainer.save_parameter_to_tar(file)
    file.seek(0)
    return paddle.parameters.Parameters.from_tar(file)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_mean_over_steps_is_saved_and_training_and_tests_go_on_without_it(sparse):
    cost = network(sparse)
    parameters = paddle.parameters.create(cost)
    averaged = paddle.optimizer.ModelAverage(average_window=1.0)
    optimizer = paddle.optimizer.Momentum(learning_rate=0.1, model_average=averaged)
    trainer = paddle.trainer.SGD(cost, parameters, optimizer)
    steps = {name: [] for name in parameters}

    def keep(each):
        if isinstance(each, paddle.event.EndIteration):
            for name, values in steps.items():
                values.append(parameters[name])

    start = saved_by(trainer)
    assert all(np.array_equal(start[name], parameters[name]) for name in parameters)
    trainer.train(batches(), num_passes=2, event_handler=keep)
    cost, found = trainer.test(batches()).cost, saved_by(trainer)
    for name, values in steps.items():
        np.testing.assert_allclose(found[name], np.mean(values, axis=0), rtol=1e-5, atol=1e-6)
        assert not np.array_equal(found[name], values[-1])
        assert np.array_equal(parameters[name], values[-1])
    assert trainer.test(batches()).cost == cost


def test_another_trainer_that_took_the_parameters_over_is_what_is_saved():
    cost = network(sparse=False)
    parameters = paddle.parameters.create(cost)
    average = paddle.optimizer.ModelAverage(average_window=1.0)
    first = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(model_average=average))
    first.train(batches())
    paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum()).train(batches())
    saved = saved_by(first)
    assert all(np.array_equal(saved[name], parameters[name]) for name in parameters)
