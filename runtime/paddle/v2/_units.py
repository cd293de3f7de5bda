"""Networks of one moment, and groups that run them: LSTM and GRU whose inside a program can look at.

They must never know how a group is run. Guarantee: what they compute is what ``lstmemory`` and ``grumemory``
do, which are faster.
"""

from __future__ import annotations

from paddle.v2 import layer
from paddle.v2.activation import BaseActivation, Identity
from paddle.v2.attr import ExtraLayerAttribute, ParameterAttribute
from paddle.v2.config_base import Layer, default_name

__all__ = ["gru_group", "gru_unit", "lstmemory_group", "lstmemory_unit", "simple_gru"]

Param = ParameterAttribute | None
Bias = ParameterAttribute | bool | None
Extra = ExtraLayerAttribute | None
Act = BaseActivation | None


def lstmemory_unit(
    input: Layer,
    out_memory: Layer | None = None,
    name: str | None = None,
    size: int | None = None,
    param_attr: Param = None,
    act: Act = None,
    gate_act: Act = None,
    state_act: Act = None,
    input_proj_bias_attr: Bias = None,
    input_proj_layer_attr: Extra = None,
    lstm_bias_attr: Bias = None,
    lstm_layer_attr: Extra = None,
    mixed_bias_attr: Bias = None,
    mixed_layer_attr: Extra = None,
    get_output_layer_attr: Extra = None,
) -> Layer:
    """One moment of an LSTM, with its memories: ``input`` is what reaches the gates from outside.

    ``mixed_bias_attr`` and ``mixed_layer_attr`` are what 0.10 calls ``input_proj_bias_attr`` and
    ``input_proj_layer_attr``; ``get_output_layer_attr`` is 0.10's own, of the layer that gives the state.
    """
    name = name or default_name("lstm_unit")
    size = input.size // 4 if size is None else size
    former = layer.memory(name=name, size=size) if out_memory is None else out_memory
    state = layer.memory(name=f"{name}_state", size=size)
    bias_attr = mixed_bias_attr if input_proj_bias_attr is None else input_proj_bias_attr
    reached = layer.mixed(
        size=4 * size,
        input=[layer.identity_projection(input), layer.full_matrix_projection(former, param_attr=param_attr)],
        name=f"{name}_input_recurrent",
        act=Identity(),
        bias_attr=bias_attr,
        layer_attr=input_proj_layer_attr or mixed_layer_attr,
    )
    made = layer.lstm_step(
        reached, state, size, act, name, gate_act, state_act, lstm_bias_attr, lstm_layer_attr
    )
    layer.get_output(made, "state", name=f"{name}_state", layer_attr=get_output_layer_attr)
    return made


def lstmemory_group(
    input: Layer,
    size: int | None = None,
    name: str | None = None,
    out_memory: Layer | None = None,
    reverse: bool = False,
    param_attr: Param = None,
    act: Act = None,
    gate_act: Act = None,
    state_act: Act = None,
    input_proj_bias_attr: Bias = None,
    input_proj_layer_attr: Extra = None,
    lstm_bias_attr: Bias = None,
    lstm_layer_attr: Extra = None,
    mixed_bias_attr: Bias = None,
    mixed_layer_attr: Extra = None,
    get_output_layer_attr: Extra = None,
) -> Layer:
    """An LSTM as a recurrent group of ``lstmemory_unit``, which see."""
    name = name or default_name("lstm_group")

    def step(given: Layer) -> Layer:
        return lstmemory_unit(
            given,
            out_memory,
            name,
            size,
            param_attr,
            act,
            gate_act,
            state_act,
            input_proj_bias_attr,
            input_proj_layer_attr,
            lstm_bias_attr,
            lstm_layer_attr,
            mixed_bias_attr,
            mixed_layer_attr,
            get_output_layer_attr,
        )

    return layer.recurrent_group(step, input, reverse, f"{name}_recurrent_group")


def gru_unit(
    input: Layer,
    memory_boot: Layer | None = None,
    size: int | None = None,
    name: str | None = None,
    gru_bias_attr: Bias = None,
    gru_param_attr: Param = None,
    act: Act = None,
    gate_act: Act = None,
    gru_layer_attr: Extra = None,
    naive: bool = False,
) -> Layer:
    """One moment of a GRU, with its memory: ``input`` is what reaches the gates from outside.

    ``naive``: written out of mixed layers, see ``gru_step_naive``.
    """
    name = name or default_name("gru_unit")
    size = input.size // 3 if size is None else size
    former = layer.memory(name=name, size=size, boot_layer=memory_boot)
    step = layer.gru_step_naive if naive else layer.gru_step
    return step(
        input=input,
        output_mem=former,
        size=size,
        act=act,
        name=name,
        gate_act=gate_act,
        bias_attr=gru_bias_attr,
        param_attr=gru_param_attr,
        layer_attr=gru_layer_attr,
    )


def gru_group(
    input: Layer,
    memory_boot: Layer | None = None,
    size: int | None = None,
    name: str | None = None,
    reverse: bool = False,
    gru_bias_attr: Bias = None,
    gru_param_attr: Param = None,
    act: Act = None,
    gate_act: Act = None,
    gru_layer_attr: Extra = None,
    naive: bool = False,
) -> Layer:
    """A GRU as a recurrent group of ``gru_unit``, which see."""
    name = name or default_name("gru_group")

    def step(given: Layer) -> Layer:
        return gru_unit(
            given,
            memory_boot,
            size,
            name,
            gru_bias_attr,
            gru_param_attr,
            act,
            gate_act,
            gru_layer_attr,
            naive,
        )

    return layer.recurrent_group(step, input, reverse, f"{name}_recurrent_group")


def simple_gru(
    input: Layer,
    size: int,
    name: str | None = None,
    reverse: bool = False,
    mixed_param_attr: Param = None,
    mixed_bias_param_attr: Bias = None,
    mixed_layer_attr: Extra = None,
    gru_bias_attr: Bias = None,
    gru_param_attr: Param = None,
    act: Act = None,
    gate_act: Act = None,
    gru_layer_attr: Extra = None,
    naive: bool = False,
) -> Layer:
    """A GRU as a group, and the weights by which the input reaches its gates; ``simple_gru2`` is faster."""
    name = name or default_name("simple_gru")
    reached = layer.mixed(
        size=3 * size,
        input=layer.full_matrix_projection(input, param_attr=mixed_param_attr),
        name=f"{name}_transform",
        bias_attr=mixed_bias_param_attr,
        layer_attr=mixed_layer_attr,
    )
    return gru_group(
        reached,
        None,
        size,
        name,
        reverse,
        gru_bias_attr,
        gru_param_attr,
        act,
        gate_act,
        gru_layer_attr,
        naive,
    )
