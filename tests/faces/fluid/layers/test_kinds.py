"""Layers refuse dtypes that the original refuses, by a TypeError that names the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.fluid import layers

LAYERS: dict[str, Callable[[Any, Any], Any]] = {
    "fc: input": lambda i, _: layers.fc(i, 3),
    "mean: x": lambda i, _: layers.mean(i),
    "relu: x": lambda i, _: layers.relu(i),
    "softmax: input": lambda i, _: layers.softmax(i),
    "matmul: y": lambda i, f: layers.matmul(f, i, transpose_y=True),
    "dropout: x": lambda i, _: layers.dropout(i, 0.5),
    "layer_norm: input": lambda i, _: layers.layer_norm(i),
    "clip: x": lambda i, _: layers.clip(i, 0, 1),
    "cross_entropy: input": lambda i, _: layers.cross_entropy(i, i),
    "square_error_cost: label": lambda i, f: layers.square_error_cost(f, i),
    "huber_loss: input": lambda i, f: layers.huber_loss(i, f, 1.0),
    "accuracy: input": lambda i, _: layers.accuracy(i, i),
    "nce: input": lambda i, _: layers.nce(i, i, 4),
    "sequence_pool: input": lambda i, _: layers.sequence_pool(i, "sum"),
    "dynamic_gru: input": lambda i, _: layers.dynamic_gru(i, 1),
}
IDS: dict[str, Callable[[Any], Any]] = {
    "embedding: input": lambda f: layers.embedding(f, [10, 3]),
    "one_hot: input": lambda f: layers.one_hot(f, 3),
    "array_write: i": lambda f: layers.array_write(f, f),
}


@pytest.mark.parametrize("name", LAYERS)
def test_integers_are_refused_where_floats_are_computed_with(name: str) -> None:
    i = layers.data("i", [3], dtype="int64", lod_level=1)
    before = len(fluid.default_main_program().global_block().ops)
    with pytest.raises(TypeError, match=f"{name} is of float16, float32, float64, and not of int64.*cast"):
        LAYERS[name](i, layers.data("f", [3]))
    assert len(fluid.default_main_program().global_block().ops) == before


@pytest.mark.parametrize("name", IDS)
def test_floats_are_refused_where_integers_name_things(name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} is of (int32, )?int64, and not of float32"):
        IDS[name](layers.data("f", [1]))


def test_what_a_layer_does_not_look_at_its_operator_refuses() -> None:
    """The original's layer lets it through, and its operator has no kernel for it."""
    given = layers.data("i", [3], dtype="int64"), layers.data("label", [1], dtype="int64")
    said = (
        r"'softmax_with_cross_entropy' \(written at .*\): Logits is of float32 or float64, and not of int64"
    )
    with pytest.raises(TypeError, match=said):
        cost = layers.softmax_with_cross_entropy(*given)
        fed = {"i": np.ones((2, 3), np.int64), "label": np.zeros((2, 1), np.int64)}
        fluid.Executor().run(feed=fed, fetch_list=[cost])
