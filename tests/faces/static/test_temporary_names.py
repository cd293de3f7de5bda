"""What functions and layers of 2.x give has the names that 2.6.2 gives it: programs fetch by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import paddle
from paddle import nn
from paddle.nn import functional

pytestmark = pytest.mark.usefixtures("alone")


def images() -> Any:
    return paddle.static.data("images", [-1, 4, 6, 6])


def labels() -> Any:
    return paddle.static.data("labels", [-1, 1], "int64")


@pytest.mark.parametrize(
    ("layer", "name"),
    [
        (functional.relu, "relu_0.tmp_0"),
        (lambda x: functional.relu(x, name="mine"), "mine.tmp_0"),
        (lambda x: functional.mse_loss(x, x), "mean_0.tmp_0"),
        (lambda x: functional.mse_loss(x, x, "sum"), "sum_0.tmp_0"),
        (lambda x: functional.dice_loss(functional.softmax(x), labels()), "mean_0.tmp_0"),
        (lambda x: functional.cross_entropy(x, labels()), "mean_0.tmp_0"),
        (lambda x: functional.binary_cross_entropy(x, x), "mean_0.tmp_0"),
        (paddle.mean, "mean_0.tmp_0"),
        (paddle.max, "max_0.tmp_0"),
        (paddle.argmax, "argmax_0.tmp_0"),
        (lambda x: paddle.transpose(x, [1, 0]), "transpose_0.tmp_0"),
        (lambda x: paddle.squeeze(labels(), 1), "squeeze_0.tmp_0"),
        (lambda x: paddle.flatten(images()), "flatten_0.tmp_0"),
        (lambda x: nn.Linear(3, 2)(x), "linear_1.tmp_1"),
        (lambda x: nn.Linear(3, 2, bias_attr=False)(x), "linear_1.tmp_0"),
        (lambda x: nn.Conv2D(4, 2, 3)(images()), "conv2d_1.tmp_1"),
        (lambda x: nn.Embedding(10, 3)(labels()), "embedding_1.tmp_0"),
        (lambda x: nn.LayerNorm(3)(x), "layer_norm_1.tmp_2"),
        (lambda x: nn.GroupNorm(2, 4)(images()), "group_norm_0.tmp_2"),
        (lambda x: nn.BatchNorm2D(4)(images()), "batch_norm_0.tmp_2"),
        (lambda x: nn.InstanceNorm2D(4)(images()), "instance_norm_0.tmp_2"),
    ],
)
def test_of_a_layer(layer: Callable[[Any], Any], name: str) -> None:
    assert layer(paddle.static.data("x", [-1, 3])).name == name
