"""Layers that tag sequences: chains of tags, alignments, and how good the tags are that were found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._program.description.dtypes import VarType
from paddle._program.description.variable import Variable
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.sequence_lod import appended
from paddle.fluid.layers.shaping import squeeze, topk

__all__ = [
    "chunk_eval",
    "crf_decoding",
    "ctc_greedy_decoder",
    "edit_distance",
    "linear_chain_crf",
    "warpctc",
]


def linear_chain_crf(
    input: Variable, label: Variable, param_attr: Any = None, length: Variable | None = None
) -> Variable:
    """What the right tags of each sequence cost, -log of their probability. The parameter has a row for how
    good each tag is at the beginning, one for the end, and one for what follows each tag."""
    helper = LayerHelper("linear_chain_crf", input=input, param_attr=param_attr)
    tags = helper.input().shape[-1]
    weights = helper.create_parameter(helper.param_attr, [tags + 2, tags], helper.input_dtype())
    slots = ("Alpha", "EmissionExps", "TransitionExps", "LogLikelihood")
    made = [helper.create_variable_for_type_inference(input.dtype) for _ in slots]
    inputs = {"Emission": input, "Transition": weights, "Label": label, "Length": length}
    outputs = {slot: [each] for slot, each in zip(slots, made, strict=True)}
    helper.append_op("linear_chain_crf", inputs, outputs)
    return made[-1]


def crf_decoding(
    input: Variable, param_attr: Any, label: Variable | None = None, length: Variable | None = None
) -> Variable:
    """The most probable tags by the parameter of ``linear_chain_crf``; with ``label``, which are right."""
    helper = LayerHelper("crf_decoding", input=input, param_attr=param_attr)
    weights = helper.get_parameter(helper.param_attr.name)
    inputs = {"Emission": input, "Transition": weights, "Label": label, "Length": length}
    return appended(helper, "crf_decoding", inputs, out="ViterbiPath", dtype="int64")


def chunk_eval(
    input: Variable,
    label: Variable,
    chunk_scheme: str,
    num_chunk_types: int,
    excluded_chunk_types: Sequence[int] | None = None,
    seq_length: Variable | None = None,
) -> tuple[Variable, ...]:
    """Precision, recall and F1 of chunks, and how many were found, are there, and were found rightly.
    ``chunk_scheme``: IOB, IOE, IOBES or plain."""
    helper = LayerHelper("chunk_eval", input=input)
    ratios = [helper.create_variable_for_type_inference("float32") for _ in range(3)]
    counts = [helper.create_variable_for_type_inference("int64") for _ in range(3)]
    slots = ("Precision", "Recall", "F1-Score", "NumInferChunks", "NumLabelChunks", "NumCorrectChunks")
    attrs = {
        "num_chunk_types": num_chunk_types,
        "chunk_scheme": chunk_scheme,
        "excluded_chunk_types": list(excluded_chunk_types or ()),
    }
    inputs = {"Inference": input, "Label": label, "SeqLength": seq_length}
    outputs = {slot: [each] for slot, each in zip(slots, [*ratios, *counts], strict=True)}
    helper.append_op("chunk_eval", inputs, outputs, attrs)
    return (*ratios, *counts)


def edit_distance(
    input: Variable,
    label: Variable,
    normalized: bool = True,
    ignored_tokens: Sequence[int] | None = None,
    input_length: Variable | None = None,
    label_length: Variable | None = None,
) -> tuple[Variable, Variable]:
    """The fewest edits between each sequence and its label, over the label's length if ``normalized``; and
    how many sequences there are. ``ignored_tokens`` are left out of both."""
    helper = LayerHelper("edit_distance", input=input)
    if ignored_tokens:
        attrs = {"tokens": list(ignored_tokens)}
        input, label = (appended(helper, "sequence_erase", {"X": each}, attrs) for each in (input, label))
    out = helper.create_variable_for_type_inference(VarType.FP32, stop_gradient=True)
    count = helper.create_variable_for_type_inference(VarType.INT64, stop_gradient=True)
    inputs = {"Hyps": input, "Refs": label, "HypsLength": input_length, "RefsLength": label_length}
    outputs = {"Out": [out], "SequenceNum": [count]}
    helper.append_op("edit_distance", inputs, outputs, {"normalized": normalized})
    return out, count


def ctc_greedy_decoder(
    input: Variable,
    blank: int,
    input_length: Variable | None = None,
    padding_value: int = 0,
    name: str | None = None,
) -> Any:
    """The tags that the most probable alignment of each sequence says. With ``input_length`` sequences are
    padded, and their lengths are given, too."""
    helper = LayerHelper("ctc_greedy_decoder", input=input, name=name)
    _, tags = topk(input, k=1)
    attrs = {"merge_repeated": True, "blank": blank}
    if input_length is None:
        return appended(helper, "ctc_align", {"Input": tags}, attrs, "Output")
    flat = squeeze(tags, [2])
    out = helper.create_variable_for_type_inference(VarType.INT64)
    lengths = helper.create_variable_for_type_inference(VarType.INT64)
    inputs, outputs = (
        {"Input": flat, "InputLength": input_length},
        {"Output": [out], "OutputLength": [lengths]},
    )
    helper.append_op("ctc_align", inputs, outputs, {**attrs, "padding_value": padding_value})
    lengths.shape = (tags.shape[0], 1)
    return out, lengths


def warpctc(
    input: Variable,
    label: Variable,
    blank: int = 0,
    norm_by_times: bool = False,
    input_length: Variable | None = None,
    label_length: Variable | None = None,
    use_cudnn: bool = False,
) -> Variable:
    """What it costs that the rows of each sequence, unscaled scores of tags, say its label in some alignment.
    ``norm_by_times``: gradients are divided by the number of rows."""
    helper = LayerHelper("warpctc", input=input)
    loss = helper.create_variable_for_type_inference(input.dtype)
    grad = helper.create_variable_for_type_inference(input.dtype)
    inputs = {"Logits": input, "Label": label, "LogitsLength": input_length, "LabelLength": label_length}
    attrs = {"blank": blank, "norm_by_times": norm_by_times}
    helper.append_op("warpctc", inputs, {"Loss": [loss], "WarpCTCGrad": [grad]}, attrs)
    return loss
