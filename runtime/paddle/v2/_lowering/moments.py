"""Lowering of layers that remember: all moments of sequences, or one moment inside a recurrent group.

With sigmoid, tanh, relu or none all moments are operators of the engine, and one moment with the usual
activations; with others they are steps written out of operators.
It must never know groups. Guarantee: a layer and the group that does the same give the same, of the same
parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from paddle._engine.builder import Builder
from paddle._engine.program import Variable
from paddle._engine.steps.recurrence import Recurrence
from paddle.v2._config import LayerConfig
from paddle.v2._lowering.output import Output
from paddle.v2._lowering.sequences import merged

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network

Rule = Callable[["Network", LayerConfig], Output]


def _is_usual(layer: LayerConfig) -> bool:
    """Whether its activations are those that operators of the engine have."""
    state = layer.active_state_type if layer.HasField("active_state_type") else "tanh"
    return (layer.active_type, layer.active_gate_type, state) == ("tanh", "sigmoid", "tanh")


_FUSED = {name: name for name in ("sigmoid", "tanh", "relu")} | {"": "identity", "linear": "identity"}
"""Activations that the engine has in its operators over sequences."""


def _told(layer: LayerConfig) -> dict[str, str] | None:
    """The layer's activations as these operators are told them, None if they have not all."""
    state = layer.active_state_type if layer.HasField("active_state_type") else "tanh"
    told = {"gate": layer.active_gate_type, "candidate": layer.active_type}
    told |= {"state": state} if layer.type == "lstmemory" else {}
    return {key: _FUSED[name] for key, name in told.items()} if _FUSED.keys() >= set(told.values()) else None


def _weights(net: Network, name: str, size: int, gates: int) -> Variable:
    """The weights from what was remembered to the gates."""
    weight, shape = net.parameter(name), (size, gates * size)
    return weight if weight.shape == shape else net.builder.op("reshape", {"shape": shape}, X=weight)


def _bias(net: Network, layer: LayerConfig, width: int) -> Variable:
    if layer.bias_parameter_name:
        return net.parameter(layer.bias_parameter_name)
    return net.builder.op("fill_constant", {"shape": (1, width), "value": 0.0})


def _columns(builder: Builder, rows: Variable, start: int, end: int) -> Variable:
    return builder.op("slice", {"axes": (1,), "starts": (start,), "ends": (end,)}, X=rows)


def _lstm(net: Network, layer: LayerConfig, x: Variable, state: Variable, peep: Variable) -> Output:
    """One moment of an LSTM with peepholes, out of operators. ``x`` is all that reaches the gates."""
    op, h = net.builder.op, layer.size

    def bent(value: Variable, activation: str) -> Variable:
        return net.activated(layer.name, activation, value)

    def looking(gate: int, seen: Variable) -> Variable:
        look = op("elementwise_mul", X=seen, Y=_columns(net.builder, peep, (gate - 1) * h, gate * h))
        reached = op("sum", X=[_columns(net.builder, x, gate * h, (gate + 1) * h), look])
        return bent(reached, layer.active_gate_type)

    candidate = bent(_columns(net.builder, x, 0, h), layer.active_type)
    entering = op("elementwise_mul", X=candidate, Y=looking(1, state))
    now = op("sum", X=[entering, op("elementwise_mul", X=state, Y=looking(2, state))])
    hidden = op("elementwise_mul", X=bent(now, layer.active_state_type), Y=looking(3, now))
    return Output(hidden, others={"state": now})


def _gru(net: Network, layer: LayerConfig, x: Variable, former: Variable, weight: Variable) -> Variable:
    """One moment of a GRU, out of operators. ``x`` is what reaches the gates from outside, bias included."""
    op, h = net.builder.op, layer.size
    flat = op("reshape", {"shape": (1, 3 * h * h)}, X=weight)
    to_gates = op("reshape", {"shape": (h, 2 * h)}, X=_columns(net.builder, flat, 0, 2 * h * h))
    to_candidate = op("reshape", {"shape": (h, h)}, X=_columns(net.builder, flat, 2 * h * h, 3 * h * h))
    reached = op("sum", X=[_columns(net.builder, x, 0, 2 * h), op("mul", X=former, Y=to_gates)])
    gates = net.activated(layer.name, layer.active_gate_type, reached)
    update, reset = (_columns(net.builder, gates, at, at + h) for at in (0, h))
    kept = op("mul", X=op("elementwise_mul", X=reset, Y=former), Y=to_candidate)
    candidate = op("sum", X=[_columns(net.builder, x, 2 * h, 3 * h), kept])
    candidate = net.activated(layer.name, layer.active_type, candidate)
    change = op("elementwise_mul", X=op("elementwise_sub", X=candidate, Y=former), Y=update)
    return op("sum", X=[former, change])


def _lstm_step(net: Network, layer: LayerConfig) -> Output:
    x, state = (net.value(each.input_layer_name) for each in layer.inputs)
    peep = _bias(net, layer, 3 * layer.size)
    if not _is_usual(layer):
        return _lstm(net, layer, x, state, peep)
    made = net.builder.ops("lstm_step", X=x, State=state, Bias=peep)
    return Output(made["Out"], others={"state": made["Next"]})


def _gru_step(net: Network, layer: LayerConfig) -> Output:
    x, former = (net.value(each.input_layer_name) for each in layer.inputs)
    weight = _weights(net, layer.inputs[0].input_parameter_name, layer.size, 3)
    bias = _bias(net, layer, 3 * layer.size)
    if not _is_usual(layer):
        return Output(_gru(net, layer, net.builder.op("elementwise_add", X=x, Y=bias), former, weight))
    return Output(net.builder.op("gru_step", X=x, State=former, Weight=weight, Bias=bias))


class _Walk:
    """A recurrence of a layer by itself: what it reads at each moment, and what it is one moment later."""

    def __init__(self, net: Network, layer: LayerConfig) -> None:
        (self._source,) = (each.input_layer_name for each in layer.inputs)
        self.net, self.layer = net, layer
        self.recurrence = Recurrence(net.builder, layer.reversed)
        self.step = net.inside(self.recurrence.step)
        offsets = merged(net, self._source, layer.name)
        self.x = self.recurrence.each(net.value(self._source), offsets)

    def memory(self) -> Variable:
        """What a row of the layer's size was."""
        return self.recurrence.memory(self.layer.size)

    def done(self, out: Variable) -> Output:
        """What comes out of all moments."""
        (rows,) = self.recurrence.done([out])
        return Output(rows, runs=self.net.runs(self._source, self.layer.name))


def _lstm_sequences(net: Network, layer: LayerConfig) -> Output:
    walk, size = _Walk(net, layer), layer.size
    hidden, state, step = walk.memory(), walk.memory(), walk.step
    weight = _weights(step, layer.inputs[0].input_parameter_name, size, 4)
    bias, op = _bias(step, layer, 7 * size), step.builder.op
    given = op("elementwise_add", X=walk.x, Y=_columns(step.builder, bias, 0, 4 * size))
    reached = op("sum", X=[given, op("mul", X=hidden, Y=weight)])
    made = _lstm(step, layer, reached, state, _columns(step.builder, bias, 4 * size, 7 * size))
    assert made.value is not None
    walk.recurrence.remember(hidden, made.value)
    walk.recurrence.remember(state, made.others["state"])
    return walk.done(made.value)


def _gru_sequences(net: Network, layer: LayerConfig) -> Output:
    walk, size = _Walk(net, layer), layer.size
    former, step = walk.memory(), walk.step
    weight = _weights(step, layer.inputs[0].input_parameter_name, size, 3)
    given = step.builder.op("elementwise_add", X=walk.x, Y=_bias(step, layer, 3 * size))
    now = _gru(step, layer, given, former, weight)
    walk.recurrence.remember(former, now)
    return walk.done(now)


def _simple(net: Network, layer: LayerConfig) -> Output:
    """act(x + bias + former x weight)."""
    walk = _Walk(net, layer)
    former, step = walk.memory(), walk.step
    op, weight = step.builder.op, step.parameter(layer.inputs[0].input_parameter_name)
    given = op("elementwise_add", X=walk.x, Y=_bias(step, layer, layer.size))
    reached = op("sum", X=[given, op("mul", X=former, Y=weight)])
    now = step.activated(layer.name, layer.active_type, reached)
    walk.recurrence.remember(former, now)
    return walk.done(now)


def _fused(type: str, gates: int, bias: int, written: Rule) -> Rule:
    """A rule for all moments, with so many gates and numbers of bias for each column."""

    def rule(net: Network, layer: LayerConfig) -> Output:
        told = _told(layer)
        if told is None:
            return written(net, layer)
        (source,), size = layer.inputs, layer.size
        out = net.builder.op(
            type,
            {"is_reverse": layer.reversed, **told},
            X=net.value(source.input_layer_name),
            Weight=_weights(net, source.input_parameter_name, size, gates),
            Bias=_bias(net, layer, bias * size),
            Offsets=merged(net, source.input_layer_name, layer.name),
        )
        return Output(out, runs=net.runs(source.input_layer_name, layer.name))

    return rule


def _got(net: Network, layer: LayerConfig) -> Output:
    (source,) = layer.inputs
    output = net.outputs[source.input_layer_name]
    return Output(output.others[source.input_layer_argument], runs=output.runs)


def _is_end(net: Network, layer: LayerConfig) -> Output:
    (source,) = layer.inputs
    found = net.builder.op("is_id", {"id": layer.eos_id}, X=net.ids(source.input_layer_name))
    return Output(id=found, runs=net.outputs[source.input_layer_name].runs)


MOMENT_RULES: Mapping[str, Rule] = {
    "lstmemory": _fused("lstm", 4, 7, _lstm_sequences),
    "gated_recurrent": _fused("gru", 3, 3, _gru_sequences),
    "recurrent": _simple,
    "lstm_step": _lstm_step,
    "gru_step": _gru_step,
    "get_output": _got,
    "eos_id": _is_end,
}
"""What has bias and activation inside."""
