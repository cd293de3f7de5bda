"""Rows of the operators that tell how good the tags of sequences are, and which are the best.

Sequences may also be given padded, with their lengths, as later releases do. It must never know what a tag
means.
"""

from __future__ import annotations

from itertools import groupby, pairwise

import numpy as np

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import hosts, lowers
from paddle._program.lowering.value import Value
from paddle._program.ops.runs import sequences, unpadded
from paddle._program.running.host import Host
from paddle._program.running.lod_tensor import LoDTensor, offsets


def _rows(low: Lowering, op: Operator, slot: str, lengths: str) -> Value:
    """Sequences, or padded ones whose lengths another slot has, one after another."""
    if not low.has(op, lengths):
        return sequences(low, op, slot)
    rows, ends = unpadded(low, low.input(op, slot).variable, low.input(op, lengths).variable)
    return Value(rows, (ends,))


def _tags(low: Lowering, op: Operator, slot: str, lengths: str) -> Value:
    found = _rows(low, op, slot, lengths)
    return Value(low.op("reshape", {"shape": (-1, 1)}, X=found.variable), found.runs)


@lowers("linear_chain_crf")
def _linear_chain_crf(low: Lowering, op: Operator) -> None:
    x, label = _rows(low, op, "Emission", "Length"), _tags(low, op, "Label", "Length")
    weights = low.input(op, "Transition").variable
    cost = low.op(
        "linear_chain_crf", X=x.variable, Label=label.variable, Transition=weights, Offsets=x.runs[-1]
    )
    low.give(op, "LogLikelihood", cost, ())


@lowers("crf_decoding")
def _crf_decoding(low: Lowering, op: Operator) -> None:
    """The best tags or, where there is a label, which of them are right."""
    x, weights = _rows(low, op, "Emission", "Length"), low.input(op, "Transition").variable
    best = low.op("crf_decoding", X=x.variable, Transition=weights, Offsets=x.runs[-1])
    if low.has(op, "Label"):
        label = _tags(low, op, "Label", "Length").variable
        wrong = low.op("cast", {"dtype": "int64"}, X=low.op("differs", X=best, Y=label))
        best = low.op("is_id", {"id": 0}, X=wrong)
    if low.has(op, "Length"):
        best = _padded_again(low, op, best, x.runs[-1])
    low.give(op, "ViterbiPath", best, () if low.has(op, "Length") else x.runs, dtype=VarType.INT64)


def _padded_again(low: Lowering, op: Operator, best: EngineVariable, ends: EngineVariable) -> EngineVariable:
    longest = low.input(op, "Emission").variable.shape[1]
    places = low.op("count_up", {"maxlen": longest}, X=low.op("sequence_lengths", Offsets=ends))
    none = low.op("fill_constant", {"shape": (1,), "value": 0, "dtype": "int64"})
    padded = low.op("sequence_pad", X=best, Offsets=ends, Pad=none, Places=places)
    return low.op("reshape", {"shape": (-1, longest)}, X=padded)


@lowers("warpctc", blank=0, norm_by_times=False)
def _warpctc(low: Lowering, op: Operator) -> None:
    if low.has(op, "LogitsLength"):  # padded, and a row for each moment
        turned = low.op("transpose", {"axis": (1, 0, 2)}, X=low.input(op, "Logits").variable)
        x = Value(*_of_lengths(low, turned, low.input(op, "LogitsLength").variable))
    else:
        x = sequences(low, op, "Logits")
    label = _tags(low, op, "Label", "LabelLength")
    cost = low.op(
        "ctc",
        {"blank": op.attr("blank"), "norm_by_times": bool(op.attr("norm_by_times"))},
        X=low.op("softmax", X=x.variable),
        Offsets=x.runs[-1],
        Label=label.variable,
        LabelOffsets=label.runs[-1],
    )
    low.give(op, "Loss", cost, ())


def _of_lengths(
    low: Lowering, padded: EngineVariable, lengths: EngineVariable
) -> tuple[EngineVariable, tuple[EngineVariable, ...]]:
    rows, ends = unpadded(low, padded, lengths)
    return rows, (ends,)


@lowers("edit_distance", normalized=False)
def _edit_distance(low: Lowering, op: Operator) -> None:
    said, right = _tags(low, op, "Hyps", "HypsLength"), _tags(low, op, "Refs", "RefsLength")
    made = low.builder.ops(
        "edit_distance",
        {"normalized": bool(op.attr("normalized"))},
        X=said.variable,
        Offsets=said.runs[-1],
        Label=right.variable,
        LabelOffsets=right.runs[-1],
    )
    low.give(op, "Out", made["Out"], ())
    low.give(op, "SequenceNum", made["Count"], ())


_CHUNKS = {
    "Precision": "Out",
    "Recall": "Recall",
    "F1-Score": "F1",
    "NumInferChunks": "Inferred",
    "NumLabelChunks": "Labelled",
    "NumCorrectChunks": "Correct",
}


@lowers("chunk_eval", num_chunk_types=1, chunk_scheme="IOB", excluded_chunk_types=())
def _chunk_eval(low: Lowering, op: Operator) -> None:
    said, right = _tags(low, op, "Inference", "SeqLength"), _tags(low, op, "Label", "SeqLength")
    attrs = {
        "scheme": op.attr("chunk_scheme"),
        "types": op.attr("num_chunk_types"),
        "excluded": tuple(op.attr("excluded_chunk_types") or ()),
    }
    made = low.builder.ops("chunk_eval", attrs, X=said.variable, Label=right.variable, Offsets=said.runs[-1])
    for slot, ours in _CHUNKS.items():
        low.give(op, slot, made[ours], ())


def tensor_of(host: Host, op: Operator, slot: str) -> LoDTensor:
    """What is in a slot that takes sequences only."""
    value = host.input(op, slot)
    if not isinstance(value, LoDTensor) or not value.lod():
        raise BadProgram(
            f"operator {op.type!r} works on sequences, and {op.input(slot)[0]!r} in slot {slot!r} has none: "
            "feed a LoDTensor"
        )
    return value


def _like_input(op: Operator) -> None:
    given = op.block._var_recursive(op.input_arg_names[0])
    made = op.block._var_recursive(op.output_arg_names[0])
    made.shape, made.lod_level = (-1, *given.shape[1:]), given.lod_level
    made.dtype = given.dtype


@hosts("sequence_erase", infer=_like_input, tokens=())
def _sequence_erase(host: Host, op: Operator) -> None:
    """The sequences without these tokens."""
    x = tensor_of(host, op, "X")
    ids, lod = x.array(), x.lod()
    stays = ~np.isin(ids.reshape(-1), np.asarray(op.attr("tokens"), ids.dtype))
    lod[-1] = offsets(int(stays[a:b].sum()) for a, b in pairwise(lod[-1]))
    host.give(op, "Out", LoDTensor(ids[stays], lod))


@hosts("ctc_align", infer=_like_input, blank=0, merge_repeated=True, padding_value=0)
def _ctc_align(host: Host, op: Operator) -> None:
    """What alignments say: the same tag again and blanks are left out."""
    if op.input("InputLength"):
        _align_padded(host, op)
        return
    x = tensor_of(host, op, "Input")
    tags, lod = x.array().reshape(-1), x.lod()
    found = [_said(op, tags[a:b]) for a, b in pairwise(lod[-1])]
    lod[-1] = offsets(map(len, found))
    flat = np.array([tag for each in found for tag in each], tags.dtype).reshape(-1, 1)
    if not len(flat):  # the original gives one row that means nothing
        flat, lod[-1] = np.full((1, 1), -1, tags.dtype), [0, *[1] * len(found)]
    host.give(op, "Output", LoDTensor(flat, lod))


def _said(op: Operator, tags: np.ndarray) -> list[int]:
    listed: list[int] = tags.tolist()
    if op.attr("merge_repeated"):
        listed = [tag for tag, _ in groupby(listed)]
    return [tag for tag in listed if tag != op.attr("blank")]


def _align_padded(host: Host, op: Operator) -> None:
    tags, lengths = np.asarray(host.input(op, "Input")), np.asarray(host.input(op, "InputLength")).reshape(-1)
    out = np.full(tags.shape, op.attr("padding_value"), tags.dtype)
    found = [_said(op, row[:length]) for row, length in zip(tags, lengths, strict=True)]
    for row, each in zip(out, found, strict=True):
        row[: len(each)] = each
    host.give(op, "Output", out)
    host.give(op, "OutputLength", np.array([[len(each)] for each in found], np.int64))
