"""Layers that remember: one moment of them, for steps of recurrent groups, and the plainest one of all
moments.

They must never know how they are computed. Guarantee: names and shapes of parameters are the original's, and
so those of ``grumemory`` and ``gru_step`` are the same. Of ``lstmemory``'s bias ``lstm_step`` has the part
that looks at the state.
"""

from __future__ import annotations

from typing import Any

from paddle.v2._draft import Draft, dense, listed
from paddle.v2._errors import WrongCall
from paddle.v2._layers.projections import (
    MixedLayer,
    dotmul_operator,
    full_matrix_projection,
    identity_projection,
)
from paddle.v2.activation import BaseActivation, Identity, Sigmoid, Tanh
from paddle.v2.attr import ExtraLayerAttribute, ParameterAttribute
from paddle.v2.config_base import Layer, default_name

__all__ = ["eos", "gru_step", "gru_step_naive", "lstm_step", "recurrent"]

Bias = ParameterAttribute | bool | None
Extra = ExtraLayerAttribute | None
Act = BaseActivation | None


def recurrent(
    input: Layer,
    act: Act = None,
    bias_attr: Bias = None,
    param_attr: ParameterAttribute | None = None,
    name: str | None = None,
    reverse: bool = False,
    layer_attr: Extra = None,
) -> Layer:
    """act(input + bias + what it gave one moment earlier x weight); act is Tanh where none is given."""
    name = name or default_name("recurrent_layer")
    (source,) = listed(name, input)
    draft = Draft("recurrent", name, size=source.size, act=act or Tanh(), layer_attr=layer_attr)
    draft.read(dense(name, source), param_attr, [source.size, source.size])
    draft.bias(bias_attr, by_default=True)
    return draft.done(reversed=bool(reverse))


def lstm_step(
    input: Layer,
    state: Layer,
    size: int | None = None,
    act: Act = None,
    name: str | None = None,
    gate_act: Act = None,
    state_act: Act = None,
    bias_attr: Bias = None,
    layer_attr: Extra = None,
) -> Layer:
    """One moment of an LSTM. ``input``, four times as wide, is all that reaches candidate, input gate,
    forget gate and output gate; ``state`` the state of the moment before. The new one is ``get_output``'s
    "state"."""
    name = name or default_name("lstm_step")
    _check(name, input, state, size, 4)
    draft = Draft("lstm_step", name, size=state.size, act=act or Tanh(), layer_attr=layer_attr)
    draft.read(dense(name, input))
    draft.read(dense(name, state))
    draft.bias(bias_attr, by_default=True, dims=[1, 3 * state.size])
    gates, bent = (gate_act or Sigmoid()).name, (state_act or Tanh()).name
    layer = draft.done(active_gate_type=gates, active_state_type=bent)
    layer.outputs.append("state")
    return layer


def gru_step(
    input: Layer,
    output_mem: Layer,
    size: int | None = None,
    act: Act = None,
    name: str | None = None,
    gate_act: Act = None,
    bias_attr: Bias = None,
    param_attr: ParameterAttribute | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """One moment of a GRU. ``input``, three times as wide, is what reaches update gate, reset gate and
    candidate from outside; ``output_mem`` what the layer gave one moment earlier."""
    name = name or default_name("gru_step")
    _check(name, input, output_mem, size, 3)
    h = output_mem.size
    draft = Draft("gru_step", name, size=h, act=act or Tanh(), layer_attr=layer_attr)
    draft.read(dense(name, input), param_attr, [h, 3 * h])
    draft.read(dense(name, output_mem))
    draft.bias(bias_attr, by_default=True, dims=[1, 3 * h])
    return draft.done(active_gate_type=(gate_act or Sigmoid()).name)


def gru_step_naive(
    input: Layer,
    output_mem: Layer,
    size: int | None = None,
    name: str | None = None,
    act: Act = None,
    gate_act: Act = None,
    bias_attr: Bias = None,
    param_attr: ParameterAttribute | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """The same written out of mixed layers, which may drop out and bound errors; it has parameters of its
    own, one for each gate, unless ``param_attr`` has a name: then all three are one."""
    name = name or default_name("gru_step_naive")
    _check(name, input, output_mem, size, 3)
    h = output_mem.size
    if isinstance(bias_attr, ParameterAttribute) and bias_attr.name:
        raise WrongCall(f"layer {name!r} has three biases: a bias_attr with a name would make them one")
    bias = True if bias_attr is None else bias_attr

    def gate(part: int, what: str, seen: Layer, activation: BaseActivation) -> Layer:
        reached = identity_projection(input, part * h, h)
        recalled = full_matrix_projection(seen, param_attr=param_attr)
        return _sum(f"{name}_{what}", [reached, recalled], activation, bias, layer_attr)

    update = gate(0, "update", output_mem, gate_act or Sigmoid())
    reset = gate(1, "reset", output_mem, gate_act or Sigmoid())
    kept = _sum(f"{name}_reset_output", [dotmul_operator(output_mem, reset)])
    candidate = gate(2, "output_candidate", kept, act or Tanh())
    forgotten = dotmul_operator(output_mem, update, scale=-1)
    return _sum(name, [identity_projection(output_mem), forgotten, dotmul_operator(candidate, update)])


def eos(input: Layer, eos_id: int, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """Of each id whether it is the one that ends a sequence: 1 or 0."""
    name = name or default_name("eos_layer")
    (source,) = listed(name, input)
    draft = Draft("eos_id", name, size=source.size, layer_attr=layer_attr)
    draft.read(source)
    return draft.done(eos_id=eos_id)


def _sum(
    name: str,
    parts: list[Any],
    act: BaseActivation | None = None,
    bias: Bias = False,
    layer_attr: Extra = None,
) -> Layer:
    draft = Draft("mixed", name, act=act or Identity(), layer_attr=layer_attr)
    layer = MixedLayer(draft, bias)
    with layer:
        for part in parts:
            layer += part
    return layer


def _check(name: str, input: Layer, former: Layer, size: int | None, gates: int) -> None:
    if input.size != gates * former.size:
        raise WrongCall(
            f"layer {name!r}: its input has {input.size} columns, it takes {gates} times those of what it "
            f"remembers, {gates} * {former.size}"
        )
    if size not in (None, former.size):
        raise WrongCall(f"layer {name!r}: what it remembers has size {former.size}, not {size}")
