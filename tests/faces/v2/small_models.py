"""The models that tests of the whole engine train: one of each kind that v2 programs are, small.

Each is a function that writes a network and gives its cost; ``rows_of`` draws samples for whatever it reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import paddle.v2 as paddle
from paddle.v2.data_type import DataType, InputType, SequenceType

layer, data_type, activation = paddle.layer, paddle.data_type, paddle.activation
Rows = list[tuple[Any, ...]]


def _label(classes: int) -> Any:
    return layer.data(name="label", type=data_type.integer_value(classes))


def _words(vocabulary: int = 30) -> Any:
    return layer.data(name="words", type=data_type.integer_value_sequence(vocabulary))


def _classified(hidden: Any, classes: int) -> Any:
    predicted = layer.fc(input=hidden, size=classes, act=activation.Softmax())
    return layer.classification_cost(input=predicted, label=_label(classes))


def linear_regression() -> Any:
    x = layer.data(name="x", type=data_type.dense_vector(13))
    y = layer.data(name="y", type=data_type.dense_vector(1))
    return layer.square_error_cost(input=layer.fc(input=x, size=1, act=activation.Linear()), label=y)


def digits() -> Any:
    """Layers of every activation that is fused with its bias, one that is not, and one without a bias."""
    hidden = layer.data(name="image", type=data_type.dense_vector(48))
    for act in (activation.Relu(), activation.Tanh(), activation.Sigmoid(), activation.STanh()):
        hidden = layer.fc(input=hidden, size=24, act=act)
    hidden = layer.fc(input=hidden, size=16, act=activation.Tanh(), bias_attr=False)
    return _classified(layer.dropout(hidden, 0.2), 10)


def lenet() -> Any:
    image = layer.data(name="image", type=data_type.dense_vector(144), height=12, width=12)
    conv = paddle.networks.simple_img_conv_pool(
        image,
        filter_size=3,
        num_filters=4,
        num_channel=1,
        pool_size=2,
        pool_stride=2,
        act=activation.Relu(),
    )
    return _classified(layer.fc(input=conv, size=12, act=activation.Tanh()), 10)


def normalized_images() -> Any:
    image = layer.data(name="image", type=data_type.dense_vector(3 * 64), height=8, width=8)
    group = paddle.networks.img_conv_group(
        image,
        conv_num_filter=[4, 4],
        pool_size=2,
        num_channels=3,
        conv_act=activation.Relu(),
        conv_with_batchnorm=True,
        pool_stride=2,
        pool_type=paddle.pooling.Max(),
    )
    return _classified(group, 5)


def word2vec(is_sparse: bool = True) -> Any:
    table = paddle.attr.Param(name="table", sparse_update=is_sparse, l2_rate=0.0)
    names = ("first", "second", "third", "fourth")
    words = [layer.data(name=name, type=data_type.integer_value(40)) for name in names]
    rows = [layer.embedding(input=word, size=8, param_attr=table) for word in words]
    hidden = layer.fc(input=layer.concat(input=rows), size=20, act=activation.Sigmoid())
    return _classified(hidden, 40)


def word2vec_dense() -> Any:
    return word2vec(is_sparse=False)


def click_rate() -> Any:
    """Two tables and numbers side by side, and a wide part that is sparse rows."""
    tables = [paddle.attr.Param(name=name, sparse_update=True) for name in "ab"]
    slots = [layer.data(name=f"slot{i}", type=data_type.integer_value(25)) for i in range(5)]
    rows = [layer.embedding(input=slot, size=4, param_attr=tables[i // 3]) for i, slot in enumerate(slots)]
    numbers = layer.data(name="numbers", type=data_type.dense_vector(6))
    deep = layer.concat(input=[*rows, numbers])
    for _ in range(2):
        deep = layer.fc(input=deep, size=16, act=activation.Relu())
    wide = layer.data(name="wide", type=data_type.sparse_binary_vector(50))
    return _classified([deep, wide], 2)


def bag_of_words() -> Any:
    rows = layer.embedding(input=_words(), size=8, param_attr=paddle.attr.Param(sparse_update=True))
    kinds = paddle.pooling.Sum(), paddle.pooling.Avg(), paddle.pooling.SquareRootN(), paddle.pooling.Max()
    own = layer.embedding(input=_words_again(), size=8)
    pools = [layer.pooling(rows, kind) for kind in kinds]
    return _classified([*pools, layer.pooling(own, paddle.pooling.Avg())], 2)


def _words_again() -> Any:
    return layer.data(name="title", type=data_type.integer_value_sequence(20))


def text_windows() -> Any:
    rows = layer.embedding(input=_words(), size=6)
    return _classified(paddle.networks.sequence_conv_pool(rows, context_len=3, hidden_size=10), 2)


def lstm() -> Any:
    rows = layer.embedding(input=_words(), size=6)
    both = paddle.networks.bidirectional_lstm(rows, 5)
    return _classified(layer.fc(input=both, size=8, act=activation.Tanh()), 2)


def gru() -> Any:
    rows = layer.embedding(input=_words(), size=6)
    return _classified(layer.last_seq(paddle.networks.simple_gru2(rows, 5)), 2)


def attending() -> Any:
    """Groups, one of which attends to what the other gives; of what it says every second element counts."""
    rows = layer.embedding(input=_words(), size=6)
    encoded = paddle.networks.simple_gru(rows, 5)

    def step(word: Any, seen: Any) -> Any:
        former = layer.memory(name="state", size=5)
        context = paddle.networks.simple_attention(seen, seen, former)
        return layer.fc(input=[word, context, former], size=5, act=activation.Tanh(), name="state")

    states = layer.recurrent_group(step=step, input=[rows, layer.StaticInput(encoded)])
    return _classified(layer.pooling(layer.last_seq(states, stride=2)), 2)


def shared_weights() -> Any:
    """One table and one matrix that two towers share, and two costs."""
    table, w = paddle.attr.Param(name="table"), paddle.attr.Param(name="w")
    words = [layer.data(name=name, type=data_type.integer_value(12)) for name in ("left", "right")]
    rows = [layer.embedding(input=word, size=5, param_attr=table) for word in words]
    towers = [layer.fc(input=row, size=7, act=activation.Tanh(), param_attr=w) for row in rows]
    y = layer.data(name="y", type=data_type.dense_vector(7))
    return [layer.square_error_cost(input=tower, label=y) for tower in towers]


MODELS: dict[str, Callable[[], Any]] = {
    model.__name__: model
    for model in (
        linear_regression,
        digits,
        lenet,
        normalized_images,
        word2vec,
        word2vec_dense,
        click_rate,
        bag_of_words,
        text_windows,
        lstm,
        gru,
        attending,
        shared_weights,
    )
}


def rows_of(types: list[tuple[str, InputType]], count: int, seed: int) -> Rows:
    """Samples for data layers of these types, in their order."""
    random = np.random.default_rng(seed)
    return [tuple(_drawn(random, type) for _, type in types) for _ in range(count)]


def _drawn(random: np.random.Generator, type: InputType) -> Any:
    if type.seq_type == SequenceType.SEQUENCE:
        return [_one(random, type) for _ in range(random.integers(1, 6))]
    return _one(random, type)


def _one(random: np.random.Generator, type: InputType) -> Any:
    if type.type == DataType.Index:
        return int(random.integers(type.dim))
    if type.type == DataType.SparseNonValue:
        return random.integers(0, type.dim, 4).tolist()
    return random.normal(size=type.dim).astype(np.float32)
