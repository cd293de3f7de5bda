"""The models as a v2 program trains them: layers, a reader of tuples, feeder, events, the trainer's loop."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle, islice
from typing import Any

import numpy as np

import paddle.v2 as paddle
from benchmarks.models.data import (
    CONTEXT,
    EMBEDDING,
    FEATURES,
    HIDDEN,
    gram_batches,
    house_batches,
    regression_start,
    word2vec_start,
)
from benchmarks.worker import Work

_STEPS_TO_ANSWER = 10


def prepare(settings: Mapping[str, Any]) -> Work:
    """The model of ``settings``, ready to train."""
    paddle.init(use_gpu=False, trainer_count=1)
    if settings["model"] == "regression":
        cost, start = _regression(), regression_start()
        batches = [list(zip(*pair, strict=True)) for pair in house_batches(settings["batch"])]
    else:
        cost, start = _word2vec(settings["vocabulary"]), word2vec_start(settings["vocabulary"])
        batches = [_tuples(*pair) for pair in gram_batches(settings["vocabulary"], settings["batch"])]
    parameters = paddle.parameters.create(cost)
    for name, value in start.items():
        parameters.set(name, value.reshape(parameters.get_shape(name)))
    trainer = paddle.trainer.SGD(cost=cost, parameters=parameters, update_equation=_optimizer(settings))
    last_cost = 0.0

    def on_event(event: object) -> None:
        nonlocal last_cost
        if isinstance(event, paddle.event.EndIteration):
            last_cost = event.cost

    def run(count: int) -> None:
        trainer.train(lambda: islice(cycle(batches), count), num_passes=1, event_handler=on_event)

    run(_STEPS_TO_ANSWER)
    return Work(run, last_cost)


def _word2vec(vocabulary: int) -> Any:
    integer, layer, attr = paddle.data_type.integer_value(vocabulary), paddle.layer, paddle.attr
    words = [layer.data(name=f"word{i}", type=integer) for i in range(CONTEXT)]
    table = attr.Param(name="table", l2_rate=0, sparse_update=True)
    rows = [layer.embedding(input=word, size=EMBEDDING, param_attr=table) for word in words]
    hidden = _layer(layer.concat(input=rows), HIDDEN, paddle.activation.Sigmoid(), "hidden")
    predicted = _layer(hidden, vocabulary, paddle.activation.Softmax(), "output")
    return layer.classification_cost(input=predicted, label=layer.data(name="label", type=integer))


def _regression() -> Any:
    features = paddle.layer.data(name="features", type=paddle.data_type.dense_vector(FEATURES))
    w, b = paddle.attr.Param(name="w"), paddle.attr.Param(name="b")
    predicted = paddle.layer.fc(
        input=features, size=1, act=paddle.activation.Linear(), param_attr=w, bias_attr=b
    )
    price = paddle.layer.data(name="price", type=paddle.data_type.dense_vector(1))
    return paddle.layer.square_error_cost(input=predicted, label=price)


def _layer(x: Any, size: int, act: Any, name: str) -> Any:
    w, b = paddle.attr.Param(name=f"{name}_w"), paddle.attr.Param(name=f"{name}_b")
    return paddle.layer.fc(input=x, size=size, act=act, param_attr=w, bias_attr=b)


def _optimizer(settings: Mapping[str, Any]) -> Any:
    rate, l2 = settings["learning_rate"], paddle.optimizer.L2Regularization(settings["l2"])
    if settings["rule"] == "adagrad":
        return paddle.optimizer.AdaGrad(learning_rate=rate, regularization=l2)
    return paddle.optimizer.Momentum(momentum=0, learning_rate=rate, regularization=l2)


def _tuples(context: np.ndarray, label: np.ndarray) -> list[tuple[int, ...]]:
    """Five Python integers a sample, as a reader of a text file yields them."""
    return [(*words, word) for words, word in zip(context.tolist(), label.tolist(), strict=True)]
