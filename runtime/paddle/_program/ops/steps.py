"""Rows of steps that are taken at each moment of sequences: DynamicRNN's and StaticRNN's.

Both are one operator with a block, whose attributes say which of its names stand for what: ``steps`` for the
element of a moment, ``statics`` for what is the same at all moments, ``memories`` for what was remembered,
``nexts`` for what is remembered next, ``results`` for what is given, ``ranked`` for memories that begin in
the order of lengths. StaticRNN's is read as the
original writes it, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle._engine.program import Variable as EngineVariable
from paddle._engine.steps.recurrence import Recurrence
from paddle._program.description.block import Block
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram, NoSequences
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.lowering.value import Value
from paddle._program.ops.runs import picked
from paddle._program.ops.sizes import anything

_NAMES: dict[str, Any] = {
    **dict.fromkeys(("steps", "statics", "memories", "nexts", "boots", "results", "ranked"), ()),
    "starts": (),
    "reverse": False,
}


@lowers("dynamic_recurrent", **_NAMES)
def _dynamic(low: Lowering, op: Operator) -> None:
    """Walks along sequences, by the engine's recurrence."""
    recurrence = Recurrence(low.builder, bool(op.attr("reverse")))
    along: list[Value] = []

    def around(name: str) -> Value:
        return _standing(recurrence, low.value(name))

    inner = low.inside(op.attr("sub_block"), recurrence.step, around)
    for name, value in zip(op.attr("steps"), low.inputs(op, "Steps"), strict=True):
        if not value.runs:
            said = op.input("Steps")[len(along)]
            raise NoSequences(
                f"DynamicRNN.step_input takes sequences, and {said!r} has none (lod_level 0)", said
            )
        along.append(value)
        inner.env[name] = _of_moment(recurrence, value)
    for name, value in zip(op.attr("statics"), low.inputs(op, "Statics"), strict=True):
        inner.env[name] = _standing(recurrence, value)
    runs = along[0].runs if along else ()
    count = len(op.attr("memories"))
    remembered = [_remembered(low, inner, recurrence, op, each, runs) for each in range(count)]
    inner.lower(inner.block.ops)
    for memory, name in zip(remembered, op.attr("nexts"), strict=True):
        recurrence.remember(memory, inner.value(name).variable)
    results = [inner.value(name) for name in op.attr("results")]
    made = recurrence.done([each.variable for each in results])
    for index, (rows, result) in enumerate(zip(made, results, strict=True)):
        ends = recurrence.ends(result.variable) if result.runs else None
        low.give(op, "Out", rows, along[0].runs[:1] + (() if ends is None else (ends,)), index=index)


def _of_moment(recurrence: Recurrence, value: Value) -> Value:
    if len(value.runs) == 1:
        return Value(recurrence.each(value.variable, value.runs[0]))
    own, ends = recurrence.inner(value.variable, value.runs[1], value.runs[0])
    return Value(own, (ends,))


def _standing(recurrence: Recurrence, value: Value) -> Value:
    """What does not change from moment to moment: a row, or a sequence, for each sequence, or one for all."""
    if value.runs:
        own, ends = recurrence.static_runs(value.variable, value.runs[-1])
        return Value(own, (ends,))
    if value.variable.shape[:1] == (-1,):
        return Value(recurrence.static(value.variable))
    return Value(recurrence.shared(value.variable))


def _remembered(
    low: Lowering,
    inner: Lowering,
    recurrence: Recurrence,
    op: Operator,
    at: int,
    runs: Sequence[EngineVariable],
) -> Any:
    name, boot = op.attr("memories")[at], op.attr("boots")[at]
    described = inner.block._var_recursive(name)
    width, start = described.shape[-1], op.attr("starts")[at]
    first = low.value(boot).variable if boot else None
    if first is not None and runs and name in op.attr("ranked"):
        first = picked(low, first, _ranks(low, runs[0]))
    dtype = "float32" if first is None else first.dtype
    memory = recurrence.memory(width, first, start=start, dtype=dtype)
    inner.env[name] = Value(memory)
    return memory


def _ranks(low: Lowering, offsets: EngineVariable) -> EngineVariable:
    """The place of each sequence among all by their lengths, the longest first."""
    lengths = low.op("sequence_lengths", Offsets=offsets)
    order = low.builder.ops("argsort", {"axis": 0, "descending": True}, X=lengths)["Indices"]
    return low.builder.ops("argsort", {"axis": 0, "descending": False}, X=order)["Indices"]


@lowers("recurrent", **_NAMES)
def _static(low: Lowering, op: Operator) -> None:
    """As many moments as the first size of the inputs says, written out one after another."""
    if op.outputs.get("outputs"):
        op = _in_our_words(op)
    block: Block = op.attr("sub_block")
    inputs = low.inputs(op, "Steps")
    if not inputs:
        raise BadProgram(f"StaticRNN takes a step_input, which says how often (written at {op.where})")
    count = inputs[0].variable.shape[0]
    if count < 0 and not low.infers:
        raise BadProgram(
            "StaticRNN.step_input takes tensors whose first size, that of moments, is known when it is run: "
            f"use DynamicRNN for sequences (written at {op.where})"
        )
    told, count = count, 1 if low.infers else count  # one moment says what all are like
    states = [low.value(name) for name in op.input("Boots")]
    given: list[list[Any]] = [[] for _ in op.attr("results")]
    moments = range(count - 1, -1, -1) if op.attr("reverse") else range(count)
    for moment in moments:
        inner = low.inside(block, low.builder, low.value)
        for name, value in zip(op.attr("steps"), inputs, strict=True):
            inner.env[name] = Value(_element(low, value, moment))
        inner.env.update(zip(op.attr("memories"), states, strict=True))
        inner.lower(block.ops)
        states = [inner.value(name) for name in op.attr("nexts")]
        for parts, name in zip(given, op.attr("results"), strict=True):
            parts.append(inner.value(name).variable)
    for index, parts in enumerate(given):
        out = _stacked(low, parts[::-1] if op.attr("reverse") else parts)
        if low.infers:
            out = anything(low, (told, *out.shape[1:]), out.dtype)
        low.give(op, "Out", out, (), index=index)


def _in_our_words(op: Operator) -> Operator:
    """The original's, where a name in the block stands for the element of what has that name outside."""
    names: dict[str, Any] = {
        "steps": op.input("inputs"),
        "memories": op.attr("ex_states"),
        "nexts": op.attr("states"),
        "results": op.output("outputs"),
    }
    inputs = {"Steps": op.input("inputs"), "Boots": op.input("initial_states"), "X": op.input("parameters")}
    told = {**_NAMES, **op.attrs, **names}
    made = Operator(op.block, op.type, inputs, {"Out": op.output("outputs")}, told)
    made.where = op.where
    return made


def _element(low: Lowering, value: Value, moment: int) -> Any:
    if value.variable.shape[0] < 0:  # it is only being written
        return anything(low, value.variable.shape[1:], value.variable.dtype)
    attrs = {"axes": (0,), "starts": (moment,), "ends": (moment + 1,)}
    return low.op("squeeze", {"axes": (0,)}, X=low.op("slice", attrs, X=value.variable))


def _stacked(low: Lowering, parts: list[Any]) -> Any:
    lined = [low.op("unsqueeze", {"axes": (0,)}, X=each) for each in parts]
    return lined[0] if len(lined) == 1 else low.op("concat", {"axis": 0}, X=lined)
