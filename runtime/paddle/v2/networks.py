"""Networks: layers combined in well-known ways.

They must never know how a layer is made. Guarantee: every name of the original is there; one that needs what
this release does not have says so when it is called.
"""

from __future__ import annotations

from typing import Any

from paddle._absent import absent
from paddle.v2 import layer
from paddle.v2.activation import BaseActivation, Identity, Linear
from paddle.v2.attr import ExtraLayerAttribute, ParameterAttribute
from paddle.v2.config_base import Layer, default_name
from paddle.v2.pooling import BasePoolingType

Bias = ParameterAttribute | bool | None
Extra = ExtraLayerAttribute | None
Act = BaseActivation | None

_OF_GROUPS = (
    *("dot_product_attention", "gru_group", "gru_unit", "lstmemory_group", "lstmemory_unit"),
    *("multi_head_attention", "simple_attention", "simple_gru"),
)
_OF_IMAGES = (*("img_conv_bn_pool", "img_conv_group", "simple_img_conv_pool", "small_vgg", "vgg_16_network"),)

__all__ = [
    *("bidirectional_gru", "bidirectional_lstm", "sequence_conv_pool", "simple_gru2", "simple_lstm"),
    *("text_conv_pool", *_OF_GROUPS, *_OF_IMAGES),
]


def sequence_conv_pool(
    input: Layer,
    context_len: int,
    hidden_size: int,
    name: str | None = None,
    context_start: int | None = None,
    pool_type: BasePoolingType | None = None,
    context_proj_layer_name: str | None = None,
    context_proj_param_attr: ParameterAttribute | bool = False,
    fc_layer_name: str | None = None,
    fc_param_attr: ParameterAttribute | None = None,
    fc_bias_attr: Bias = None,
    fc_act: Act = None,
    pool_bias_attr: Bias = None,
    fc_attr: Extra = None,
    context_attr: Extra = None,
    pool_attr: Extra = None,
) -> Layer:
    """A convolution of text: a layer over ``context_len`` words at a time, and the greatest of all."""
    name = name or default_name("sequence_conv_pooling")
    around = layer.mixed(
        size=input.size * context_len,
        input=layer.context_projection(input, context_len, context_start, context_proj_param_attr),
        name=context_proj_layer_name or f"{name}_conv_proj",
        act=Linear(),
        layer_attr=context_attr,
    )
    hidden = layer.fc(
        input=around,
        size=hidden_size,
        act=fc_act,
        name=fc_layer_name or f"{name}_conv_fc",
        param_attr=fc_param_attr,
        bias_attr=fc_bias_attr,
        layer_attr=fc_attr,
    )
    return layer.pooling(hidden, pool_type, name, pool_bias_attr, layer_attr=pool_attr)


text_conv_pool = sequence_conv_pool


def simple_lstm(
    input: Layer,
    size: int,
    name: str | None = None,
    reverse: bool = False,
    mat_param_attr: ParameterAttribute | None = None,
    bias_param_attr: Bias = None,
    inner_param_attr: ParameterAttribute | None = None,
    act: Act = None,
    gate_act: Act = None,
    state_act: Act = None,
    mixed_layer_attr: Extra = None,
    lstm_cell_attr: Extra = None,
) -> Layer:
    """An LSTM, and the weights by which the input reaches its gates."""
    name = name or default_name("lstm")
    reached = layer.mixed(
        size=4 * size,
        input=layer.full_matrix_projection(input, param_attr=mat_param_attr),
        name=f"lstm_transform_{name}",
        act=Identity(),
        bias_attr=False,
        layer_attr=mixed_layer_attr,
    )
    return layer.lstmemory(
        reached,
        name=name,
        reverse=reverse,
        act=act,
        gate_act=gate_act,
        state_act=state_act,
        bias_attr=bias_param_attr,
        param_attr=inner_param_attr,
        layer_attr=lstm_cell_attr,
    )


def simple_gru2(
    input: Layer,
    size: int,
    name: str | None = None,
    reverse: bool = False,
    mixed_param_attr: ParameterAttribute | None = None,
    mixed_bias_attr: Bias = None,
    gru_param_attr: ParameterAttribute | None = None,
    gru_bias_attr: Bias = None,
    act: Act = None,
    gate_act: Act = None,
    mixed_layer_attr: Extra = None,
    gru_cell_attr: Extra = None,
) -> Layer:
    """A GRU, and the weights by which the input reaches its gates."""
    name = name or default_name("simple_gru2")
    reached = layer.mixed(
        size=3 * size,
        input=layer.full_matrix_projection(input, param_attr=mixed_param_attr),
        name=f"{name}_transform",
        bias_attr=mixed_bias_attr,
        layer_attr=mixed_layer_attr,
    )
    return layer.grumemory(
        reached,
        name=name,
        reverse=reverse,
        act=act,
        gate_act=gate_act,
        bias_attr=gru_bias_attr,
        param_attr=gru_param_attr,
        layer_attr=gru_cell_attr,
    )


def bidirectional_lstm(
    input: Layer, size: int, name: str | None = None, return_seq: bool = False, **options: Any
) -> Layer:
    """An LSTM from either end, side by side: of each the last it says or, ``return_seq``, all.

    ``options``: ``fwd_...`` and ``bwd_...`` are those of ``simple_lstm``, of one or the other; and
    ``last_seq_attr``, ``first_seq_attr``, ``concat_attr``, ``concat_act``.
    """
    return _both_ways(
        simple_lstm, input, size, name or default_name("bidirectional_lstm"), return_seq, options
    )


def bidirectional_gru(
    input: Layer, size: int, name: str | None = None, return_seq: bool = False, **options: Any
) -> Layer:
    """A GRU from either end; see ``bidirectional_lstm`` and ``simple_gru2``."""
    return _both_ways(
        simple_gru2, input, size, name or default_name("bidirectional_gru"), return_seq, options
    )


def _both_ways(
    one: Any, input: Layer, size: int, name: str, return_seq: bool, options: dict[str, Any]
) -> Layer:
    ends = {key: options.pop(key, None) for key in ("last_seq_attr", "first_seq_attr")}
    joined = {key: options.pop(f"concat_{key}", None) for key in ("act", "attr")}
    own = {
        way: {key.removeprefix(way): value for key, value in options.items() if key.startswith(way)}
        for way in ("fwd_", "bwd_")
    }
    if unknown := [key for key in options if not key.startswith(("fwd_", "bwd_"))]:
        raise TypeError(f"network {name!r} has no {unknown[0]}")
    forward = one(name=f"{name}_fw", input=input, size=size, **own["fwd_"])
    backward = one(name=f"{name}_bw", input=input, size=size, reverse=True, **own["bwd_"])
    if not return_seq:
        forward = layer.last_seq(forward, name=f"{name}_fw_last", layer_attr=ends["last_seq_attr"])
        backward = layer.first_seq(backward, name=f"{name}_bw_last", layer_attr=ends["first_seq_attr"])
    return layer.concat([forward, backward], act=joined["act"], name=name, layer_attr=joined["attr"])


def _stand_ins(names: tuple[str, ...], needs: str) -> None:
    globals().update({name: absent(f"paddle.networks.{name}", needs) for name in names})


_stand_ins(_OF_GROUPS, "it needs recurrent_group, which comes in a later release")
_stand_ins(_OF_IMAGES, "its layers convolve images, which comes in a later release")
