"""The models as v2 programs write them: layers. Each gives its cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import paddle.v2 as paddle
from benchmarks.models.data import (
    CONTEXT,
    DENSE,
    DIGITS,
    EMBEDDING,
    FEATURES,
    FILTERS,
    HIDDEN,
    LAYERS,
    MLP,
    PIXELS,
    SIDE,
    SLOTS,
    STATE,
    TABLE,
    VECTOR,
    WIDTH,
    WORDS,
)

Layer = Any
Settings = Mapping[str, Any]


def word2vec(settings: Settings) -> Layer:
    vocabulary = settings["vocabulary"]
    rows = [_row(_integer(f"word{i}", vocabulary), EMBEDDING) for i in range(CONTEXT)]
    hidden = _layer(0, paddle.layer.concat(input=rows), HIDDEN, paddle.activation.Sigmoid())
    return _cost(_layer(1, hidden, vocabulary, paddle.activation.Softmax()), vocabulary)


def regression(settings: Settings) -> Layer:
    predicted = _layer(0, _dense("features", FEATURES), 1, paddle.activation.Linear())
    return paddle.layer.square_error_cost(input=predicted, label=_dense("price", 1))


def ctr(settings: Settings) -> Layer:
    rows = [_row(_integer(f"slot{i}", TABLE), WIDTH) for i in range(SLOTS)]
    dense = _dense("dense", DENSE)
    x = paddle.layer.concat(input=[*rows, dense])
    for number, size in enumerate(LAYERS):
        x = _layer(number, x, size, paddle.activation.Relu())
    weights = [paddle.attr.Param(name="layer3_w"), paddle.attr.Param(name="wide_w")]
    scores = paddle.layer.fc(
        input=[x, dense],
        size=2,
        act=paddle.activation.Softmax(),
        param_attr=weights,
        bias_attr=paddle.attr.Param(name="layer3_b"),
    )
    return _cost(scores, 2)


def mlp(settings: Settings) -> Layer:
    x = _dense("image", PIXELS)
    for number, size in enumerate(MLP):
        x = _layer(number, x, size, paddle.activation.Relu())
    return _cost(_layer(2, x, DIGITS, paddle.activation.Softmax()), DIGITS)


def lenet(settings: Settings) -> Layer:
    x, channels = _dense("image", PIXELS), 1
    for number, filters in enumerate(FILTERS):
        seen = paddle.layer.img_conv(
            input=x,
            filter_size=SIDE,
            num_filters=filters,
            num_channels=channels,
            act=paddle.activation.Relu(),
            param_attr=paddle.attr.Param(name=f"filter{number}_w"),
            bias_attr=paddle.attr.Param(name=f"filter{number}_b"),
        )
        x, channels = paddle.layer.img_pool(input=seen, pool_size=2, stride=2, num_channels=filters), filters
    return _cost(_layer(0, x, DIGITS, paddle.activation.Softmax()), DIGITS)


def lstm(settings: Settings) -> Layer:
    words = paddle.layer.data(name="words", type=paddle.data_type.integer_value_sequence(WORDS))
    outside = paddle.layer.fc(
        input=_row(words, VECTOR),
        size=4 * STATE,
        act=paddle.activation.Linear(),
        param_attr=paddle.attr.Param(name="outside_w"),
        bias_attr=False,
    )
    states = paddle.layer.lstmemory(
        input=outside, param_attr=paddle.attr.Param(name="before_w"), bias_attr=False
    )
    last = paddle.layer.last_seq(input=states)
    return _cost(_layer(0, last, 2, paddle.activation.Softmax()), 2)


def _integer(name: str, range: int) -> Layer:
    return paddle.layer.data(name=name, type=paddle.data_type.integer_value(range))


def _dense(name: str, size: int) -> Layer:
    return paddle.layer.data(name=name, type=paddle.data_type.dense_vector(size))


def _row(ids: Layer, size: int) -> Layer:
    table = paddle.attr.Param(name="table", l2_rate=0, sparse_update=True)
    return paddle.layer.embedding(input=ids, size=size, param_attr=table)


def _layer(number: int, x: Layer, size: int, act: Any) -> Layer:
    w, b = paddle.attr.Param(name=f"layer{number}_w"), paddle.attr.Param(name=f"layer{number}_b")
    return paddle.layer.fc(input=x, size=size, act=act, param_attr=w, bias_attr=b)


def _cost(predicted: Layer, classes: int) -> Layer:
    return paddle.layer.classification_cost(input=predicted, label=_integer("label", classes))


MODELS: Mapping[str, Callable[[Settings], Layer]] = {
    "word2vec": word2vec,
    "regression": regression,
    "ctr": ctr,
    "mlp": mlp,
    "lenet": lenet,
    "lstm": lstm,
}
