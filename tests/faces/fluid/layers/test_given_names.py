"""Names that layers give, by which programs fetch and load: those that PaddlePaddle 1.8.5 gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import paddle.fluid as fluid

layers = fluid.layers


def image(channels: int = 4) -> Any:
    return fluid.data("image", [None, channels, 6, 6])


def word() -> Any:
    return fluid.data("word", [None, 1], "int64")


NAMES: list[tuple[Callable[[], Any], str, list[str]]] = [
    (
        lambda: layers.conv2d(image(), 4, 3, groups=4, use_cudnn=False),
        "depthwise_conv2d_0.tmp_1",
        ["depthwise_conv2d_0.w_0", "depthwise_conv2d_0.b_0"],
    ),
    (lambda: layers.conv2d(image(), 8, 3, groups=4), "conv2d_0.tmp_1", ["conv2d_0.w_0", "conv2d_0.b_0"]),
    (
        lambda: layers.conv2d(image(1), 8, 3, use_cudnn=False, bias_attr=False),
        "conv2d_0.tmp_0",
        ["conv2d_0.w_0"],
    ),
    (
        lambda: layers.conv2d_transpose(
            image(), 4, filter_size=3, groups=4, use_cudnn=False, bias_attr=False
        ),
        "depthwise_conv2d_transpose_0.tmp_0",
        ["depthwise_conv2d_transpose_0.w_0"],
    ),
    (lambda: layers.embedding(word(), [5, 3]), "embedding_0.tmp_0", ["embedding_0.w_0"]),
    (
        lambda: layers.batch_norm(image()),
        "batch_norm_0.tmp_2",
        [f"batch_norm_0.{part}" for part in ("w_0", "b_0", "w_1", "w_2")],
    ),
    (
        lambda: layers.layer_norm(fluid.data("x", [None, 8])),
        "layer_norm_0.tmp_2",
        ["layer_norm_0.w_0", "layer_norm_0.b_0"],
    ),
    (lambda: layers.accuracy(fluid.data("x", [None, 8]), word()), "accuracy_0.tmp_0", []),
]


@pytest.mark.parametrize(("write", "name", "parameters"), NAMES, ids=[name for _, name, _ in NAMES])
def test_layers_give_the_names_of_the_original(write: Any, name: str, parameters: list[str]) -> None:
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        assert write().name == name
        assert [each.name for each in fluid.default_main_program().all_parameters()] == parameters
