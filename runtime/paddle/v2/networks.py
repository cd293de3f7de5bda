"""Networks: layers combined in well-known ways.

They must never know how a layer is made. Guarantee: every name of the original is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paddle.v2 import _attention, _units, layer
from paddle.v2._attention import *  # noqa: F403
from paddle.v2._errors import WrongCall
from paddle.v2._units import *  # noqa: F403
from paddle.v2.activation import BaseActivation, Identity, Linear, Relu, Softmax
from paddle.v2.attr import ExtraLayerAttribute, ParameterAttribute
from paddle.v2.config_base import Layer, default_name
from paddle.v2.pooling import BasePoolingType, Max

Bias = ParameterAttribute | bool | None
Extra = ExtraLayerAttribute | None
Act = BaseActivation | None

__all__ = [
    *("bidirectional_gru", "bidirectional_lstm", "sequence_conv_pool", "simple_gru2", "simple_lstm"),
    *("img_conv_bn_pool", "img_conv_group", "img_separable_conv", "simple_img_conv_pool", "small_vgg"),
    *("dropout_layer", "text_conv_pool", "vgg_16_network", *_attention.__all__, *_units.__all__),
]

dropout_layer = layer.dropout


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
        raise WrongCall(f"network {name!r} has no {unknown[0]}")
    forward = one(name=f"{name}_fw", input=input, size=size, **own["fwd_"])
    backward = one(name=f"{name}_bw", input=input, size=size, reverse=True, **own["bwd_"])
    if not return_seq:
        forward = layer.last_seq(forward, name=f"{name}_fw_last", layer_attr=ends["last_seq_attr"])
        backward = layer.first_seq(backward, name=f"{name}_bw_last", layer_attr=ends["first_seq_attr"])
    return layer.concat([forward, backward], act=joined["act"], name=name, layer_attr=joined["attr"])


def simple_img_conv_pool(
    input: Layer,
    filter_size: int,
    num_filters: int,
    pool_size: int,
    name: str | None = None,
    pool_type: BasePoolingType | None = None,
    act: Act = None,
    groups: int = 1,
    conv_stride: int = 1,
    conv_padding: int = 0,
    bias_attr: Bias = None,
    num_channel: int | None = None,
    param_attr: ParameterAttribute | None = None,
    shared_bias: bool = True,
    conv_layer_attr: Extra = None,
    pool_stride: int = 1,
    pool_padding: int = 0,
    pool_layer_attr: Extra = None,
) -> Layer:
    """A convolution, and pooling of what it gives."""
    name = name or default_name("conv_pool")
    convolved = layer.img_conv(
        input,
        filter_size,
        num_filters,
        f"{name}_conv",
        num_channel,
        act,
        groups,
        conv_stride,
        conv_padding,
        bias_attr=bias_attr,
        param_attr=param_attr,
        shared_biases=shared_bias,
        layer_attr=conv_layer_attr,
    )
    return layer.img_pool(
        convolved,
        pool_size,
        f"{name}_pool",
        pool_type=pool_type,
        stride=pool_stride,
        padding=pool_padding,
        layer_attr=pool_layer_attr,
    )


def img_conv_bn_pool(
    input: Layer,
    filter_size: int,
    num_filters: int,
    pool_size: int,
    name: str | None = None,
    pool_type: BasePoolingType | None = None,
    act: Act = None,
    groups: int = 1,
    conv_stride: int = 1,
    conv_padding: int = 0,
    conv_bias_attr: Bias = None,
    num_channel: int | None = None,
    conv_param_attr: ParameterAttribute | None = None,
    shared_bias: bool = True,
    conv_layer_attr: Extra = None,
    bn_param_attr: ParameterAttribute | None = None,
    bn_bias_attr: Bias = None,
    bn_layer_attr: Extra = None,
    pool_stride: int = 1,
    pool_padding: int = 0,
    pool_layer_attr: Extra = None,
) -> Layer:
    """A convolution, batch normalization with ``act``, and pooling of what it gives."""
    name = name or default_name("conv_bn_pool")
    convolved = layer.img_conv(
        input,
        filter_size,
        num_filters,
        f"{name}_conv",
        num_channel,
        Linear(),
        groups,
        conv_stride,
        conv_padding,
        bias_attr=conv_bias_attr,
        param_attr=conv_param_attr,
        shared_biases=shared_bias,
        layer_attr=conv_layer_attr,
    )
    normal = layer.batch_norm(
        convolved, act, f"{name}_bn", False, None, bn_bias_attr, bn_param_attr, bn_layer_attr
    )
    return layer.img_pool(
        normal, pool_size, f"{name}_pool", None, pool_type, pool_stride, pool_padding, pool_layer_attr
    )


def img_conv_group(
    input: Layer,
    conv_num_filter: Sequence[int],
    pool_size: int,
    num_channels: int | None = None,
    conv_padding: Any = 1,
    conv_filter_size: Any = 3,
    conv_act: Any = None,
    conv_with_batchnorm: Any = False,
    conv_batchnorm_drop_rate: Any = 0,
    pool_stride: int = 1,
    pool_type: BasePoolingType | None = None,
    param_attr: ParameterAttribute | None = None,
) -> Layer:
    """Convolutions one after another, and pooling of what the last one gives.

    What is said of convolutions is one for all, or a list with one for each.
    """
    given = (conv_padding, conv_filter_size, conv_act, conv_with_batchnorm, conv_batchnorm_drop_rate)
    each = (one if isinstance(one, Sequence) else [one] * len(conv_num_filter) for one in given)
    found = input
    for filters, zeros, size, act, is_normal, drop_rate in zip(conv_num_filter, *each, strict=True):
        channels, num_channels = num_channels, None
        own = Linear() if is_normal else act
        found = layer.img_conv(
            found, size, filters, num_channels=channels, act=own, padding=zeros, param_attr=param_attr
        )
        if is_normal:
            extra = ExtraLayerAttribute(drop_rate=drop_rate) if drop_rate else None
            found = layer.batch_norm(found, act, layer_attr=extra)
    return layer.img_pool(found, pool_size, pool_type=pool_type, stride=pool_stride)


def img_separable_conv(
    input: Layer,
    num_channels: int,
    num_out_channels: int,
    filter_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    depth_multiplier: int = 1,
    act: Act = None,
    bias_attr: Bias = None,
    param_attr: ParameterAttribute | None = None,
    shared_bias: bool = True,
    layer_type: str = "exconv",
    name: str | None = None,
) -> Layer:
    """A convolution of each channel by itself, then one of 1 x 1 that mixes them, and act.

    ``depth_multiplier``: so many filters a channel. ``param_attr`` and ``bias_attr`` are those of both.
    """
    name = name or default_name("separable_conv")
    shared: dict[str, Any] = {
        "bias_attr": bias_attr,
        "param_attr": param_attr,
        "shared_biases": shared_bias,
        "layer_type": layer_type,
    }
    between = num_channels * depth_multiplier
    each = layer.img_conv(
        input,
        filter_size,
        between,
        f"{name}_depthwise_conv",
        num_channels,
        Linear(),
        num_channels,
        stride,
        padding,
        **shared,
    )
    return layer.img_conv(each, 1, num_out_channels, f"{name}_pointwise_conv", between, act, **shared)


def small_vgg(input_image: Layer, num_channels: int, num_classes: int) -> Layer:
    """Ten convolutions with batch normalization in four groups, and two layers: for small images."""
    found, channels = input_image, num_channels
    for filters, drop_rates in ((64, [0.3, 0]), (128, [0.4, 0]), (256, [0.4, 0.4, 0]), (512, [0.4, 0.4, 0])):
        found = img_conv_group(
            found,
            [filters] * len(drop_rates),
            pool_size=2,
            num_channels=channels,
            conv_act=Relu(),
            conv_with_batchnorm=True,
            conv_batchnorm_drop_rate=drop_rates,
            pool_stride=2,
            pool_type=Max(),
        )
        channels = filters
    found = layer.img_pool(found, pool_size=2, stride=2, pool_type=Max())
    found = layer.dropout(found, dropout_rate=0.5)
    found = layer.fc(found, size=512, act=Linear(), layer_attr=ExtraLayerAttribute(drop_rate=0.5))
    found = layer.batch_norm(found, act=Relu())
    return layer.fc(found, size=num_classes, act=Softmax())


def vgg_16_network(input_image: Layer, num_channels: int, num_classes: int = 1000) -> Layer:
    """Thirteen convolutions in five groups, and three layers: VGG with 16 layers of weights."""
    found: Layer = input_image
    channels: int | None = num_channels
    for filters, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        found = img_conv_group(
            found,
            [filters] * count,
            pool_size=2,
            num_channels=channels,
            conv_act=Relu(),
            pool_stride=2,
            pool_type=Max(),
        )
        channels = None
    for _ in range(2):
        found = layer.fc(found, size=4096, act=Relu(), layer_attr=ExtraLayerAttribute(drop_rate=0.5))
    return layer.fc(found, size=num_classes, act=Softmax())
