"""Rows of LSTM and GRU: over whole sequences, or one moment of them.

Whole sequences are one operator of the engine. Gates stand in the original's order: candidate, input,
forget, output of ``lstm``; update, reset, candidate of ``gru``, whose weights are those of the gates and
behind them, in the same memory, those of the candidate. It must never know a layer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from paddle._engine.builder import Builder
from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.runs import sequences

_ACTIVATIONS = ("identity", "sigmoid", "tanh", "relu")
"""In the order of the numbers by which ``gru_unit`` names them."""


def bent(builder: Builder, value: EngineVariable, activation: Any) -> EngineVariable:
    """A value after the activation of that name or number."""
    name = _ACTIVATIONS[activation] if isinstance(activation, int) else str(activation)
    if name not in _ACTIVATIONS:
        raise BadProgram(f"an activation here is one of {', '.join(_ACTIVATIONS)}, not {activation!r}")
    return value if name == "identity" else builder.op(name, X=value)


def columns(builder: Builder, rows: EngineVariable, start: int, end: int) -> EngineVariable:
    """Those from ``start`` to below ``end``."""
    return builder.op("slice", {"axes": (1,), "starts": (start,), "ends": (end,)}, X=rows)


def _beginning(low: Lowering, op: Operator, **slots: str) -> dict[str, EngineVariable]:
    """What is there to begin with, by the slots of the engine."""
    return {slot: low.input(op, own).variable for slot, own in slots.items() if low.has(op, own)}


def _fused(op: Operator, *names: str) -> list[str]:
    """The activations that attributes name."""
    found = [str(op.attr(name)) for name in names]
    if unknown := set(found) - set(_ACTIVATIONS):
        raise BadProgram(f"an activation here is one of {', '.join(_ACTIVATIONS)}, not {unknown.pop()!r}")
    return found


_LSTM = {
    "use_peepholes": True,
    "is_reverse": False,
    "gate_activation": "sigmoid",
    "cell_activation": "tanh",
    "candidate_activation": "tanh",
}


@lowers("lstm", **_LSTM)
def _lstm(low: Lowering, op: Operator) -> None:
    _sequences_of_lstm(low, op, "Hidden", {}, {})


@lowers("lstmp", **_LSTM, proj_activation="tanh", cell_clip=0.0, proj_clip=0.0)
def _lstmp(low: Lowering, op: Operator) -> None:
    (projection,) = _fused(op, "proj_activation")
    clips = {slot: float(op.attrs.get(name) or 0.0) for slot, name in _CLIPS.items()}
    projected = {"Projection": low.input(op, "ProjWeight").variable}
    _sequences_of_lstm(low, op, "Projection", projected, {"projection": projection, **clips})


_CLIPS = {"clip": "cell_clip", "projection_clip": "proj_clip"}


def _sequences_of_lstm(
    low: Lowering, op: Operator, out: str, inputs: Mapping[str, EngineVariable], told: Mapping[str, Any]
) -> None:
    """``out``: the slot of what is remembered. Of a bias without peepholes the gates' part is all."""
    x, weight = sequences(low, op, "Input"), low.input(op, "Weight").variable
    gate, candidate, state = _fused(op, "gate_activation", "candidate_activation", "cell_activation")
    width = weight.shape[1]
    if not low.has(op, "Bias"):
        bias = low.op("fill_constant", {"shape": (1, width), "value": 0.0})
    else:
        bias = low.input(op, "Bias").variable
        if not op.attr("use_peepholes") and bias.shape[1] != width:
            bias = columns(low.builder, bias, 0, width)
    time = {"is_reverse": bool(op.attr("is_reverse"))}
    attrs = {**time, "gate": gate, "candidate": candidate, "state": state, **told}
    slots = {"X": x.variable, "Weight": weight, "Bias": bias, "Offsets": x.runs[-1], **inputs}
    made = low.builder.ops(op.type, attrs, **slots, **_beginning(low, op, First="H0", FirstState="C0"))
    low.give(op, out, made["Out"], x.runs)
    low.give(op, "Cell", low.op("in_rows", time, X=made["States"], Offsets=x.runs[-1]), x.runs)


def _gru_moment(
    builder: Builder, x: EngineVariable, former: EngineVariable, weight: EngineVariable, op: Operator
) -> Mapping[str, EngineVariable]:
    """``x`` is what reaches the gates from outside, bias included."""
    h = former.shape[1]
    flat = builder.op("reshape", {"shape": (1, 3 * h * h)}, X=weight)
    to_gates = builder.op("reshape", {"shape": (h, 2 * h)}, X=columns(builder, flat, 0, 2 * h * h))
    to_candidate = builder.op("reshape", {"shape": (h, h)}, X=columns(builder, flat, 2 * h * h, 3 * h * h))
    reached = builder.op("sum", X=[columns(builder, x, 0, 2 * h), builder.op("mul", X=former, Y=to_gates)])
    gates = bent(builder, reached, op.attr("gate_activation"))
    update, reset = columns(builder, gates, 0, h), columns(builder, gates, h, 2 * h)
    kept = builder.op("elementwise_mul", X=reset, Y=former)
    inner = builder.op(
        "sum", X=[columns(builder, x, 2 * h, 3 * h), builder.op("mul", X=kept, Y=to_candidate)]
    )
    candidate = bent(builder, inner, op.attr("activation"))
    start, goal = (candidate, former) if op.attr("origin_mode") else (former, candidate)
    change = builder.op("elementwise_mul", X=builder.op("elementwise_sub", X=goal, Y=start), Y=update)
    gate = builder.op("concat", {"axis": 1}, X=[gates, candidate])
    return {"Hidden": builder.op("sum", X=[start, change]), "Gate": gate, "ResetHiddenPrev": kept}


@lowers("gru", is_reverse=False, gate_activation="sigmoid", activation="tanh", origin_mode=False)
def _gru(low: Lowering, op: Operator) -> None:
    x, weight = sequences(low, op, "Input"), low.input(op, "Weight").variable
    if low.has(op, "Bias"):
        bias = low.input(op, "Bias").variable
    else:
        bias = low.op("fill_constant", {"shape": (1, weight.shape[1]), "value": 0.0})
    gate, candidate = _fused(op, "gate_activation", "activation")
    attrs = {"is_reverse": bool(op.attr("is_reverse")), "gate": gate, "candidate": candidate}
    attrs["is_origin"] = bool(op.attr("origin_mode"))
    slots = {"X": x.variable, "Weight": weight, "Bias": bias, "Offsets": x.runs[-1]}
    out = low.op("gru", attrs, **slots, **_beginning(low, op, First="H0"))
    low.give(op, "Hidden", out, x.runs)


@lowers("gru_unit", activation=2, gate_activation=1, origin_mode=False)
def _gru_unit(low: Lowering, op: Operator) -> None:
    x, former = low.input(op, "Input"), low.input(op, "HiddenPrev")
    given = x.variable
    if low.has(op, "Bias"):
        given = low.op("elementwise_add", X=given, Y=low.input(op, "Bias").variable)
    weight = low.input(op, "Weight").variable
    for slot, found in _gru_moment(low.builder, given, former.variable, weight, op).items():
        low.give(op, slot, found, ())


@lowers("lstm_unit", forget_bias=0.0)
def _lstm_unit(low: Lowering, op: Operator) -> None:
    """Gates stand here in the order input, forget, output, candidate."""
    x, former = low.input(op, "X"), low.input(op, "C_prev")
    h, forget, builder = former.variable.shape[1], float(op.attr("forget_bias")), low.builder

    def gate(number: int, activation: str, bias: float = 0.0) -> EngineVariable:
        own = columns(builder, x.variable, number * h, (number + 1) * h)
        return builder.op(activation, X=builder.op("scale", {"bias": bias}, X=own) if bias else own)

    multiplied: Callable[..., EngineVariable] = lambda a, b: low.op("elementwise_mul", X=a, Y=b)  # noqa: E731
    entering = multiplied(gate(0, "sigmoid"), gate(3, "tanh"))
    cell = low.op("sum", X=[multiplied(gate(1, "sigmoid", forget), former.variable), entering])
    low.give(op, "C", cell, ())
    low.give(op, "H", multiplied(gate(2, "sigmoid"), low.op("tanh", X=cell)), ())
