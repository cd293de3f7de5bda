"""Warming: what jobs usually compile is compiled before there is a job, once for a runtime and its node.

    python -m paddle._warm

trains a model as small as can be for some steps with each of the usual update rules, with a dense table and
with a sparse one, without any pserver, and one with a wide layer; adds up rows as who has a pserver does;
and reads a line of slots.
Shards and trainers find the compiled code where numba keeps it. It must never be needed: whoever does not
find something compiles it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import paddle.v2 as paddle
from paddle._data.lines import Lines
from paddle._data.slot import Slot
from paddle._engine.rows import SparseRows, ascends, each_once, put

_WORDS, _WIDTH, _BATCH = 8, 4, 2


def main() -> None:
    """Warm all of it."""
    paddle.init()
    optimizers = (
        paddle.optimizer.Momentum(momentum=0),
        paddle.optimizer.Momentum(momentum=0.9),
        paddle.optimizer.AdaGrad(learning_rate=1e-3),
        paddle.optimizer.Adam(learning_rate=1e-3),
    )
    for number, optimizer in enumerate(optimizers):
        for is_sparse in (False, True):
            _train(f"{number}_{is_sparse}", optimizer, is_sparse=is_sparse)
    SparseRows(np.zeros(_BATCH, np.int64), np.zeros((_BATCH, _WIDTH), np.float32), _WORDS).merged()
    put(np.zeros((_WORDS, _WIDTH), np.float32), each_once(np.arange(3)), np.zeros((3, _WIDTH), np.float32))
    ascends(np.arange(3))
    for rows in (16, 300):
        _train_wide(rows)
    Lines((Slot("words", False, False), Slot("score", True, True, (1,))), "nowhere").read(b"1 2 1 0.5\n")


def _train(name: str, optimizer: object, *, is_sparse: bool) -> None:
    table = paddle.attr.Param(name=f"table_{name}", sparse_update=is_sparse)
    words = [
        paddle.layer.data(name=f"word_{name}_{n}", type=paddle.data_type.integer_value(_WORDS))
        for n in (0, 1)
    ]
    embedded = [paddle.layer.embedding(input=word, size=_WIDTH, param_attr=table) for word in words]
    hidden = paddle.layer.fc(
        input=paddle.layer.concat(input=embedded), size=_WIDTH, act=paddle.activation.Sigmoid()
    )
    guess = paddle.layer.fc(input=hidden, size=_WORDS, act=paddle.activation.Softmax())
    label = paddle.layer.data(name=f"label_{name}", type=paddle.data_type.integer_value(_WORDS))
    cost = paddle.layer.classification_cost(input=guess, label=label)
    trainer = paddle.trainer.SGD(cost, paddle.parameters.create(cost), optimizer)
    trainer.train(paddle.batch(_samples, _BATCH), num_passes=1)


def _train_wide(rows: int) -> None:
    """As small a layer as the engine multiplies by loops of its own, those for few rows or those for many."""
    x = paddle.layer.data(name=f"wide_{rows}", type=paddle.data_type.dense_vector(64))
    label = paddle.layer.data(name=f"wide_label_{rows}", type=paddle.data_type.integer_value(256))
    guess = paddle.layer.fc(input=x, size=256, act=paddle.activation.Softmax())
    cost = paddle.layer.classification_cost(input=guess, label=label)
    trainer = paddle.trainer.SGD(cost, paddle.parameters.create(cost), paddle.optimizer.Momentum(momentum=0))
    trainer.train(paddle.batch(lambda: iter([(np.zeros(64, np.float32), 0)] * rows), rows), num_passes=1)


def _samples() -> Iterator[tuple[int, int, int]]:
    for number in range(3 * _BATCH):
        yield number % _WORDS, (number + 1) % _WORDS, (number + 2) % _WORDS


if __name__ == "__main__":
    main()
