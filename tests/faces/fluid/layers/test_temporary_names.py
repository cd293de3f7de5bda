"""What operators give has the names that 1.8.5 and 2.6.2 give it: programs fetch by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import paddle.fluid as fluid
from paddle.fluid import layers

Written = Callable[[Any, Any], Any]


def written(layer: Written) -> tuple[str, set[str]]:
    """The name of what a layer gives, and all names of its program."""
    with fluid.program_guard(fluid.Program(), fluid.Program()), fluid.unique_name.guard():
        x, label = fluid.data("x", [None, 8]), fluid.data("label", [None, 1], "int64")
        found = layer(x, label)
        return found.name, set(fluid.default_main_program().global_block().vars) - {"x", "label"}


def crf() -> Any:
    """Of sequences."""
    words = fluid.data("words", [None, 8], lod_level=1)
    return layers.linear_chain_crf(words, fluid.data("tags", [None, 1], "int64", lod_level=1))


def images(channels: int = 4) -> Any:
    return fluid.data("images", [None, channels, 3, 3])


def states(count: int, *widths: int) -> list[Any]:
    return [fluid.data(f"state_{place}", [None, widths[place]]) for place in range(count)]


def tags() -> Any:
    return layers.ctc_greedy_decoder(fluid.data("words", [None, 8], lod_level=1), 0)


@pytest.mark.parametrize(
    ("layer", "name"),
    [
        (lambda x, label: layers.nce(x, label, 20), "tmp_0"),
        (lambda x, label: layers.prelu(x, "all"), "prelu_0.tmp_0"),
        (lambda x, label: layers.bilinear_tensor_product(x, x, 4), "bilinear_tensor_product_0.tmp_0"),
        (lambda x, label: layers.l2_normalize(x, 1), "l2_normalize_0.tmp_0"),
        (lambda x, label: crf(), "linear_chain_crf_0.tmp_3"),
        (lambda x, label: layers.auc(layers.softmax(x), label)[0], "auc_0.tmp_0"),
        (lambda x, label: layers.data_norm(x), "_generated_var_2"),
        (lambda x, label: layers.data_norm(x, name="dn", act="relu"), "dn.tmp_0"),
        (lambda x, label: layers.group_norm(images(), 2), "_generated_var_2"),
        (lambda x, label: layers.group_norm(images(), 2, act="relu"), "group_norm_0.tmp_0"),
        (lambda x, label: layers.sampled_softmax_with_cross_entropy(x, label, 5), "tmp_0"),
        (lambda x, label: layers.lstm_unit(*states(3, 4, 6, 6))[0], "lstm_unit_0.tmp_1"),
        (lambda x, label: layers.lstm_unit(*states(3, 4, 6, 6))[1], "lstm_unit_0.tmp_0"),
        (lambda x, label: layers.gru_unit(*states(2, 12, 4), 12)[0], "gru_unit_0.tmp_2"),
        (lambda x, label: layers.square_error_cost(x, x), "square_error_cost_0.tmp_1"),
        (lambda x, label: layers.mse_loss(x, x), "reduce_mean_0.tmp_0"),
        (lambda x, label: layers.dice_loss(x, label), "reduce_mean_0.tmp_0"),
        (lambda x, label: layers.lrn(images()), "lrn_0.tmp_1"),
        (lambda x, label: tags(), "ctc_greedy_decoder_0.tmp_0"),
    ],
)
def test_of_a_layer(layer: Written, name: str) -> None:
    assert written(layer)[0] == name


@pytest.mark.parametrize(
    ("arithmetic", "names"),
    [
        (lambda x, label: x + 1, {"tmp_0"}),
        (lambda x, label: x * x, {"tmp_0"}),
        (lambda x, label: -x, {"tmp_0"}),
        (lambda x, label: 2 - x, {"tmp_0"}),
        (lambda x, label: label.astype("float32"), {"tmp_0"}),
        (lambda x, label: 2 / x, {"tmp_0", "tmp_1"}),
        (lambda x, label: x < 1, {"tmp_0", "tmp_1"}),
        (lambda x, label: label // 2, {"tmp_0", "tmp_1"}),
        (lambda x, label: x[0], {"x_slice_0"}),
        (lambda x, label: x[:, 1:3], {"x_slice_0"}),
        (lambda x, label: x[0][1], {"x_slice_0", "x_slice_0_slice_0"}),
        (lambda x, label: x[:, ::2], {"x_strided_slice_0"}),
        (lambda x, label: x**2, {"tmp_1"}),  # one that 1.8.5 makes of the 2 is none here
    ],
)
def test_of_arithmetic(arithmetic: Written, names: set[str]) -> None:
    assert written(arithmetic) == (max(names), names)
