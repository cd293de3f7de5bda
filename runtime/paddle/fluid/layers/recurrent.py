"""LSTM and GRU: layers over whole sequences, and one moment of them for loops that people write."""

from __future__ import annotations

from typing import Any

from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.nn import fc
from paddle.fluid.layers.tensor import concat

__all__ = [
    "dynamic_gru",
    "dynamic_lstm",
    "dynamic_lstmp",
    "gru_unit",
    "lstm_unit",
]

_ACTIVATIONS = {"identity": 0, "sigmoid": 1, "tanh": 2, "relu": 3}


def dynamic_lstm(
    input: Variable,
    size: int,
    h_0: Variable | None = None,
    c_0: Variable | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_peepholes: bool = True,
    is_reverse: bool = False,
    gate_activation: str = "sigmoid",
    cell_activation: str = "tanh",
    candidate_activation: str = "tanh",
    dtype: Any = "float32",
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """Hidden values and cells of an LSTM, ``size / 4`` wide. ``input`` is ``size`` wide: what reaches the
    gates from outside, which a layer such as ``fc`` before it computes."""
    _check_width("dynamic_lstm", input, size, 4)
    helper = LayerHelper("lstm", input=input, param_attr=param_attr, bias_attr=bias_attr, name=name)
    width = size // 4
    inputs = _weights(helper, input, [width, size], (7 if use_peepholes else 4) * width, dtype)
    inputs |= {"H0": h_0, "C0": c_0}
    attrs = {
        "use_peepholes": use_peepholes,
        "is_reverse": is_reverse,
        "gate_activation": gate_activation,
        "cell_activation": cell_activation,
        "candidate_activation": candidate_activation,
    }
    hidden, cell = _made(helper, "lstm", inputs, ("Hidden", "Cell"), attrs, dtype)
    return hidden, cell


def dynamic_lstmp(
    input: Variable,
    size: int,
    proj_size: int,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_peepholes: bool = True,
    is_reverse: bool = False,
    gate_activation: str = "sigmoid",
    cell_activation: str = "tanh",
    candidate_activation: str = "tanh",
    proj_activation: str = "tanh",
    dtype: Any = "float32",
    name: str | None = None,
    h_0: Variable | None = None,
    c_0: Variable | None = None,
    cell_clip: float | None = None,
    proj_clip: float | None = None,
) -> tuple[Variable, Variable]:
    """An LSTM whose hidden values are projected to ``proj_size``; that is what it remembers, and gives."""
    _check_width("dynamic_lstmp", input, size, 4)
    helper = LayerHelper("lstmp", input=input, param_attr=param_attr, bias_attr=bias_attr, name=name)
    width = size // 4
    weight = helper.create_parameter(helper.param_attr, [proj_size, size], dtype)
    projection = helper.create_parameter(helper.param_attr, [width, proj_size], dtype)
    bias_size = (7 if use_peepholes else 4) * width
    bias = helper.create_parameter(helper.bias_attr, [1, bias_size], dtype, is_bias=True)
    inputs = {"Input": input, "Weight": weight, "ProjWeight": projection, "Bias": bias, "H0": h_0, "C0": c_0}
    attrs = {
        "use_peepholes": use_peepholes,
        "is_reverse": is_reverse,
        "gate_activation": gate_activation,
        "cell_activation": cell_activation,
        "candidate_activation": candidate_activation,
        "proj_activation": proj_activation,
        "cell_clip": cell_clip or 0.0,
        "proj_clip": proj_clip or 0.0,
    }
    out, cell = _made(helper, "lstmp", inputs, ("Projection", "Cell"), attrs, dtype)
    return out, cell


def dynamic_gru(
    input: Variable,
    size: int,
    param_attr: Any = None,
    bias_attr: Any = None,
    is_reverse: bool = False,
    gate_activation: str = "sigmoid",
    candidate_activation: str = "tanh",
    h_0: Variable | None = None,
    origin_mode: bool = False,
) -> Variable:
    """Hidden values of a GRU, ``size`` wide. ``input`` is ``3 * size`` wide. ``origin_mode``: the update gate
    says how much of the former value stays, not of the new one comes."""
    _check_width("dynamic_gru", input, 3 * size, 3)
    helper = LayerHelper("gru", input=input, param_attr=param_attr, bias_attr=bias_attr)
    inputs = _weights(helper, input, [size, 3 * size], 3 * size, input.dtype) | {"H0": h_0}
    attrs = {
        "is_reverse": is_reverse,
        "gate_activation": gate_activation,
        "activation": candidate_activation,
        "origin_mode": origin_mode,
    }
    (hidden,) = _made(helper, "gru", inputs, ("Hidden",), attrs, input.dtype)
    return hidden


def gru_unit(
    input: Variable,
    hidden: Variable,
    size: int,
    param_attr: Any = None,
    bias_attr: Any = None,
    activation: str = "tanh",
    gate_activation: str = "sigmoid",
    origin_mode: bool = False,
) -> tuple[Variable, Variable, Variable]:
    """One moment of a GRU whose state is ``size / 3`` wide: the new state, the former one after the reset
    gate, and all gates."""
    for each in (activation, gate_activation):
        if each not in _ACTIVATIONS:
            raise BadArgument(f"gru_unit has the activations {', '.join(_ACTIVATIONS)}, not {each!r}")
    helper = LayerHelper("gru_unit", input=input, param_attr=param_attr, bias_attr=bias_attr)
    inputs = _weights(helper, input, [size // 3, size], size, input.dtype) | {"HiddenPrev": hidden}
    attrs = {
        "activation": _ACTIVATIONS[activation],
        "gate_activation": _ACTIVATIONS[gate_activation],
        "origin_mode": origin_mode,
    }
    slots = ("Gate", "ResetHiddenPrev", "Hidden")
    gate, reset, updated = _made(helper, "gru_unit", inputs, slots, attrs, input.dtype)
    return updated, reset, gate


def lstm_unit(
    x_t: Variable,
    hidden_t_prev: Variable,
    cell_t_prev: Variable,
    forget_bias: float = 0.0,
    param_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> tuple[Variable, Variable]:
    """One moment of an LSTM without peepholes, its product of matrices included: hidden value and cell."""
    for said, each in (("x_t", x_t), ("hidden_t_prev", hidden_t_prev), ("cell_t_prev", cell_t_prev)):
        if len(each.shape) != 2:
            raise BadArgument(f"lstm_unit: {said} is a matrix, and has the shape {list(each.shape)}")
    helper = LayerHelper("lstm_unit", input=x_t, name=name)
    beside = concat([x_t, hidden_t_prev], axis=1)
    reached = fc(beside, 4 * cell_t_prev.shape[1], param_attr=param_attr, bias_attr=bias_attr)
    inputs = {"X": reached, "C_prev": cell_t_prev}
    cell, hidden = _made(helper, "lstm_unit", inputs, ("C", "H"), {"forget_bias": forget_bias}, x_t.dtype)
    return hidden, cell


def _check_width(layer: str, input: Variable, size: int, gates: int) -> None:
    if not isinstance(input, Variable):
        raise BadArgument(f"{layer}: input is a Variable of the program, not {input!r}")
    if size % gates:
        raise BadArgument(f"{layer}: size is a multiple of {gates}, not {size}")
    if input.shape[-1] not in (-1, size):
        raise BadArgument(
            f"{layer}: {input.name!r} is {input.shape[-1]} wide, where {size} reach the gates: let a layer "
            f"such as fc(size={size}) come before it"
        )


def _weights(helper: LayerHelper, input: Variable, shape: list[int], bias: int, dtype: Any) -> dict[str, Any]:
    weight = helper.create_parameter(helper.param_attr, shape, dtype)
    made = helper.create_parameter(helper.bias_attr, [1, bias], dtype, is_bias=True)
    return {"Input": input, "Weight": weight, "Bias": made}


def _made(
    helper: LayerHelper, type: str, inputs: Any, slots: tuple[str, ...], attrs: Any, dtype: Any
) -> list[Variable]:
    outputs = [helper.create_variable_for_type_inference(dtype) for _ in slots]
    given = {slot: [each] for slot, each in inputs.items() if each is not None}
    helper.append_op(type, given, {s: [o] for s, o in zip(slots, outputs, strict=True)}, attrs)
    return outputs
