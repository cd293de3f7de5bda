"""What operators give has the names that 1.8.5 and 2.6.2 give it: programs fetch by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
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


def share() -> Any:
    return fluid.data("share", [None, 1])


def boxes() -> list[Any]:
    return [fluid.data(f"box_{place}", [5, 4]) for place in range(2)] + [
        fluid.data("target", [None, 4], lod_level=1)
    ]


def found() -> Any:
    first, spread, _ = boxes()
    places, scores = fluid.data("places", [2, 5, 4]), fluid.data("scores", [2, 5, 3])
    return layers.detection_output(places, scores, first, spread)


def beams() -> list[Any]:
    before = [fluid.data("pre_ids", [None, 1], "int64"), fluid.data("pre_scores", [None, 1])]
    return [*before, *(fluid.data(f"next_{kind}", [None, 4], kind, 2) for kind in ("int64", "float32"))]


def walked() -> Any:
    steps, words = layers.StaticRNN(), fluid.data("words", [5, 3, 8])
    with steps.step():
        word = steps.step_input(words)
        before = steps.memory(shape=[-1, 8], batch_ref=word)
        steps.update_memory(before, word + before)
        steps.step_output(word)
    return steps()


def walked_along() -> Any:
    steps, words = layers.DynamicRNN(), fluid.data("words", [None, 8], lod_level=1)
    with steps.block():
        steps.output(steps.step_input(words) * 2.0)
    return steps()


def either(x: Any) -> Any:
    ways = layers.IfElse(fluid.data("which", [None, 1], "bool"))
    with ways.true_block():
        ways.output(ways.input(x) * 2.0)
    with ways.false_block():
        ways.output(ways.input(x) * 3.0)
    return ways()[0]


def aligned() -> Any:
    words, lengths = fluid.data("words", [None, 4, 8]), fluid.data("lengths", [None, 1], "int64")
    return layers.ctc_greedy_decoder(words, 0, input_length=lengths)


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
        (lambda x, label: layers.cross_entropy(x, label), "cross_entropy2_0.tmp_0"),
        (lambda x, label: layers.cross_entropy(x, x, soft_label=True), "cross_entropy_0.tmp_0"),
        (lambda x, label: layers.margin_rank_loss(*[share()] * 3), "margin_rank_loss_0.tmp_0"),
        (lambda x, label: layers.margin_rank_loss(*[share()] * 3, name="m"), "m.tmp_0"),
        (lambda x, label: layers.transpose(x, [1, 0]), "transpose_0.tmp_0"),
        (lambda x, label: layers.squeeze(label, [1]), "squeeze_0.tmp_0"),
        (lambda x, label: layers.unsqueeze(x, [1]), "unsqueeze2_0.tmp_0"),
        (lambda x, label: layers.flatten(images()), "flatten_0.tmp_0"),
        (lambda x, label: layers.clip(x, 0.0, 1.0), "clip_0.tmp_0"),
        (lambda x, label: layers.clip(x, 0.0, 1.0, name="held"), "held"),
        (lambda x, label: layers.clip_by_norm(x, 1.0, name="held"), "held"),
        (lambda x, label: layers.pixel_shuffle(images(), 2), "pixel_shuffle_0.tmp_0"),
        (lambda x, label: layers.shuffle_channel(images(), 2), "shuffle_channel_0.tmp_0"),
        (lambda x, label: layers.shuffle_channel(images(), 2, name="turned"), "turned.tmp_0"),
        (lambda x, label: layers.rank(x), "assign_0.tmp_0"),
        (lambda x, label: layers.assign(np.ones([2, 3], "float32")), "assign_0.tmp_0"),
        (lambda x, label: layers.zeros_like(x), "zeros_like_0.tmp_0"),
        (lambda x, label: layers.ones_like(x), "ones_like_0.tmp_0"),
        (lambda x, label: layers.eye(3), "eye_0.tmp_0"),
        (lambda x, label: layers.eye(3, batch_shape=[2]), "stack_0.tmp_0"),
        (lambda x, label: layers.diag(np.ones(3, "float32")), "diag_0.tmp_0"),
        (lambda x, label: layers.linspace(0.0, 1.0, 5, "float32"), "linspace_0.tmp_0"),
        (lambda x, label: layers.range(0, 10, 2, "int32"), "range_0.tmp_0"),
        (lambda x, label: layers.randn([2, 3], name="drawn"), "drawn.tmp_0"),
        (lambda x, label: layers.clamp(x, 0.0, 1.0), "clamp_0.tmp_0"),
        (lambda x, label: layers.fill_constant([layers.rank(x), 2], "float32", 1.0), "fill_constant_0.tmp_0"),
        (lambda x, label: layers.expand(x, [1, layers.rank(x)]), "expand_0.tmp_1"),
        (lambda x, label: layers.reshape(x, [-1, layers.rank(x)]), "reshape2_0.tmp_1"),
        (lambda x, label: layers.reshape(x, [-1, 4, 2], act="relu"), "reshape2_0.tmp_2"),
        (lambda x, label: fluid.embedding(label, [10, 4]), "embedding_0.tmp_0"),
        (lambda x, label: layers.continuous_value_model(x, x[:, :2]), "_generated_var_0"),
        (lambda x, label: layers.array_write(x, layers.zeros([1], "int64")), "array_write_0.out"),
        (lambda x, label: layers.beam_search(*beams(), 2, 0)[0], "beam_search_0.tmp_1"),
        (lambda x, label: layers.Print(x), "print_x_0.tmp_0"),
        (lambda x, label: walked(), "static_rnn_0.tmp_0"),
        (lambda x, label: walked_along(), "array_to_lod_tensor_0.tmp_0"),
        (lambda x, label: either(x), "merge_lod_tensor_0.tmp_0"),
        (lambda x, label: layers.read_file(layers.py_reader(4, [[-1, 2]], ["float32"])), "read_file_0.tmp_0"),
        (lambda x, label: layers.prior_box(images(), images(), [4.0], name="first")[0], "first.tmp_0"),
        (lambda x, label: layers.box_coder(*boxes()), "box_coder_0.tmp_0"),
        (lambda x, label: layers.box_coder(*boxes(), name="coded"), "coded.tmp_0"),
        (lambda x, label: found(), "detection_output_0.tmp_0"),
        (lambda x, label: aligned()[1], "ctc_greedy_decoder_0.tmp_1"),
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
