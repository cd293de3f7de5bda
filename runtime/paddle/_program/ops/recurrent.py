"""Rows of LSTM and GRU: over whole sequences, or one moment of them.

With the usual activations and nothing to start from, whole sequences are one operator of the engine; else a
recurrence written out of operators. Gates stand in the original's order: candidate, input, forget, output of
``lstm``; update, reset, candidate of ``gru``, whose weights are those of the gates and behind them, in the
same memory, those of the candidate. It must never know a layer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paddle._engine.builder import Builder
from paddle._engine.program import Parameter as EngineParameter
from paddle._engine.program import Variable as EngineVariable
from paddle._engine.steps.recurrence import Recurrence
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.lowering.value import Value
from paddle._program.ops.runs import sequences

_ACTIVATIONS = ("identity", "sigmoid", "tanh", "relu")
"""In the order of the numbers by which ``gru_unit`` names them."""
_USUAL = {
    "gate_activation": "sigmoid",
    "cell_activation": "tanh",
    "candidate_activation": "tanh",
    "activation": "tanh",
}


def bent(builder: Builder, value: EngineVariable, activation: Any) -> EngineVariable:
    """A value after the activation of that name or number."""
    name = _ACTIVATIONS[activation] if isinstance(activation, int) else str(activation)
    if name not in _ACTIVATIONS:
        raise BadProgram(f"an activation here is one of {', '.join(_ACTIVATIONS)}, not {activation!r}")
    return value if name == "identity" else builder.op(name, X=value)


def columns(builder: Builder, rows: EngineVariable, start: int, end: int) -> EngineVariable:
    """Those from ``start`` to below ``end``."""
    return builder.op("slice", {"axes": (1,), "starts": (start,), "ends": (end,)}, X=rows)


def _is_usual(op: Operator) -> bool:
    return all(op.attrs.get(name, usual) == usual for name, usual in _USUAL.items())


@dataclass(frozen=True)
class _Walk:
    """A recurrence over the sequences in ``Input``; ``shared``: weights that every moment reads."""

    low: Lowering
    op: Operator
    source: Value
    recurrence: Recurrence

    @classmethod
    def of(cls, low: Lowering, op: Operator) -> _Walk:
        walk = Recurrence(low.builder, bool(op.attr("is_reverse")))
        return cls(low, op, sequences(low, op, "Input"), walk)

    @property
    def step(self) -> Builder:
        return self.recurrence.step

    def each(self, rows: EngineVariable) -> EngineVariable:
        return self.recurrence.each(rows, self.source.runs[-1])

    def memory(self, slot: str, width: int) -> EngineVariable:
        """What is remembered, at first what is in the slot, if anything is."""
        boot = self.low.input(self.op, slot).variable if self.low.has(self.op, slot) else None
        return self.recurrence.memory(width, boot)

    def shared(self, variable: EngineVariable) -> EngineVariable:
        """A parameter, where the step sees it."""
        if not isinstance(variable, EngineParameter):
            raise BadProgram(f"operator {self.op.type!r} takes parameters as weights, not {variable.name!r}")
        if variable.name not in self.step.program.main.variables:
            self.step.program.main.add(variable)
        return variable

    def done(self, outputs: Sequence[EngineVariable]) -> list[EngineVariable]:
        return self.recurrence.done(outputs)


def _moment(
    builder: Builder, reached: EngineVariable, cell: EngineVariable, peep: EngineVariable | None, op: Operator
) -> tuple[EngineVariable, EngineVariable]:
    """Hidden value before any projection, and cell, of one moment. ``reached``: what reaches all gates."""
    h, gate = cell.shape[1], op.attr("gate_activation")

    def part(number: int, seen: EngineVariable) -> EngineVariable:
        own = columns(builder, reached, number * h, (number + 1) * h)
        if peep is None:
            return own
        look = builder.op(
            "elementwise_mul", X=seen, Y=columns(builder, peep, (number + 3) * h, (number + 4) * h)
        )
        return builder.op("sum", X=[own, look])

    candidate = bent(builder, columns(builder, reached, 0, h), op.attr("candidate_activation"))
    enter, keep = (bent(builder, part(number, cell), gate) for number in (1, 2))
    entering = builder.op("elementwise_mul", X=candidate, Y=enter)
    kept = builder.op("elementwise_mul", X=cell, Y=keep)
    now = builder.op("sum", X=[entering, kept])
    clip = float(op.attrs.get("cell_clip") or 0.0)
    if clip > 0:
        now = builder.op("brelu", {"t_min": -clip, "t_max": clip}, X=now)
    leave = bent(builder, part(3, now), gate)
    hidden = builder.op("elementwise_mul", X=leave, Y=bent(builder, now, op.attr("cell_activation")))
    return hidden, now


def _with_bias(low: Lowering, op: Operator, x: EngineVariable, width: int) -> EngineVariable:
    """The input with the part of the bias that every gate has."""
    if not low.has(op, "Bias"):
        return x
    bias = low.input(op, "Bias").variable
    bias = bias if bias.shape[1] == width else columns(low.builder, bias, 0, width)
    return low.op("elementwise_add", X=x, Y=bias)


def _written_lstm(low: Lowering, op: Operator) -> tuple[EngineVariable, EngineVariable]:
    """Hidden values (or projections of them) and cells of all moments."""
    walk, weight = _Walk.of(low, op), low.input(op, "Weight").variable
    size = weight.shape[1] // 4
    x = walk.each(_with_bias(low, op, walk.source.variable, 4 * size))
    hidden, cell = walk.memory("H0", weight.shape[0]), walk.memory("C0", size)
    builder, peep = walk.step, None
    if op.attr("use_peepholes") and low.has(op, "Bias"):
        peep = walk.shared(low.input(op, "Bias").variable)
    reached = builder.op("sum", X=[x, builder.op("mul", X=hidden, Y=walk.shared(weight))])
    out, now = _moment(builder, reached, cell, peep, op)
    if low.has(op, "ProjWeight"):
        projection = walk.shared(low.input(op, "ProjWeight").variable)
        out = bent(builder, builder.op("mul", X=out, Y=projection), op.attr("proj_activation"))
        clip = float(op.attrs.get("proj_clip") or 0.0)
        if clip > 0:
            out = builder.op("brelu", {"t_min": -clip, "t_max": clip}, X=out)
    walk.recurrence.remember(hidden, out)
    walk.recurrence.remember(cell, now)
    first, second = walk.done([out, now])
    return first, second


_LSTM = {
    "use_peepholes": True,
    "is_reverse": False,
    "gate_activation": "sigmoid",
    "cell_activation": "tanh",
    "candidate_activation": "tanh",
}


@lowers("lstm", **_LSTM)
def _lstm(low: Lowering, op: Operator) -> None:
    x = sequences(low, op, "Input")
    is_short = _is_usual(op) and not (low.has(op, "H0") or low.has(op, "C0")) and low.has(op, "Bias")
    if is_short and not _reads(low, op, "Cell"):
        weight, bias = low.input(op, "Weight").variable, low.input(op, "Bias").variable
        if not op.attr("use_peepholes"):
            none = {"shape": (1, 3 * weight.shape[0]), "value": 0.0}
            bias = low.op("concat", {"axis": 1}, X=[bias, low.op("fill_constant", none)])
        attrs = {"is_reverse": bool(op.attr("is_reverse"))}
        made = low.builder.ops("lstm", attrs, X=x.variable, Weight=weight, Bias=bias, Offsets=x.runs[-1])
        low.give(op, "Hidden", made["Out"], x.runs)
        if low.infers:
            low.give(op, "Cell", made["States"], x.runs)
        return
    hidden, cell = _written_lstm(low, op)
    low.give(op, "Hidden", hidden, x.runs)
    low.give(op, "Cell", cell, x.runs)


def _reads(low: Lowering, op: Operator, slot: str) -> bool:
    """Whether anybody asks for what is in an output slot."""
    names = set(op.output(slot))
    read = {name for each in low.block.program.blocks for op in each.ops for name in op.input_arg_names}
    return not low.infers and not names.isdisjoint(read | low.wanted)


@lowers("lstmp", **_LSTM, proj_activation="tanh", cell_clip=0.0, proj_clip=0.0)
def _lstmp(low: Lowering, op: Operator) -> None:
    x = sequences(low, op, "Input")
    projection, cell = _written_lstm(low, op)
    low.give(op, "Projection", projection, x.runs)
    low.give(op, "Cell", cell, x.runs)


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
    if _is_usual(op) and not op.attr("origin_mode") and not low.has(op, "H0"):
        if low.has(op, "Bias"):
            bias = low.input(op, "Bias").variable
        else:
            bias = low.op("fill_constant", {"shape": (1, weight.shape[1]), "value": 0.0})
        attrs = {"is_reverse": bool(op.attr("is_reverse"))}
        out = low.op("gru", attrs, X=x.variable, Weight=weight, Bias=bias, Offsets=x.runs[-1])
    else:
        walk = _Walk.of(low, op)
        given = walk.each(_with_bias(low, op, x.variable, weight.shape[1]))
        former = walk.memory("H0", weight.shape[0])
        now = _gru_moment(walk.step, given, former, walk.shared(weight), op)["Hidden"]
        walk.recurrence.remember(former, now)
        (out,) = walk.done([now])
    low.give(op, "Hidden", out, x.runs)


@lowers("gru_unit", activation=2, gate_activation=1, origin_mode=False)
def _gru_unit(low: Lowering, op: Operator) -> None:
    x, former = low.input(op, "Input"), low.input(op, "HiddenPrev")
    given = x.variable
    if low.has(op, "Bias"):
        given = low.op("elementwise_add", X=given, Y=low.input(op, "Bias").variable)
    weight = low.input(op, "Weight").variable
    for slot, found in _gru_moment(low.builder, given, former.variable, weight, op).items():
        low.give(op, slot, found, former.runs or x.runs)


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
    low.give(op, "C", cell, former.runs)
    low.give(op, "H", multiplied(gate(2, "sigmoid"), low.op("tanh", X=cell)), former.runs)
