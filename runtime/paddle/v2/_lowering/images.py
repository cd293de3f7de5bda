"""Lowering of layers over images to the operators of the engine.

It must never know how sizes follow from each other: the configuration says them. Guarantee: what a layer
gives is a row for each image, whatever shape its operators see it in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from paddle._engine.program import Variable
from paddle.v2._config import ConvConfig, LayerConfig, PoolConfig, ProjectionConfig

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network


def _seen_by_filters(
    net: Network, value: Variable, weights: Variable, window: ConvConfig, filters: int, trans: bool
) -> Variable:
    """(n, filters, rows, columns)."""
    op = net.builder.op
    rows = window.channels if trans else filters
    shape = (rows, window.filter_channels, window.filter_size_y, window.filter_size)
    sides = (window.output_y, window.output_x) if trans else (window.img_size_y, window.img_size)
    attrs = {
        "strides": (window.stride_y, window.stride),
        "paddings": (window.padding_y, window.padding),
        "dilations": (window.dilation_y, window.dilation),
        "groups": window.groups,
    }
    kernels = op("reshape", {"shape": shape}, X=weights)
    image = op("reshape", {"shape": (-1, window.channels, *sides)}, X=value)
    return op("conv2d_transpose" if trans else "conv2d", attrs, X=image, Filter=kernels)


def convolved(net: Network, value: Variable, weights: Variable, conf: ProjectionConfig) -> Variable:
    """What a projection gives: a convolution without a bias, as rows."""
    trans = conf.type == "convt"
    found = _seen_by_filters(net, value, weights, conf.conv_conf, conf.num_filters, trans)
    return net.builder.op("reshape", {"shape": (-1, conf.output_size)}, X=found)


def _conv(net: Network, layer: LayerConfig) -> Variable:
    (source,), filters = layer.inputs, layer.num_filters
    weights = net.parameter(source.input_parameter_name)
    value = net.value(source.input_layer_name)
    found = _seen_by_filters(net, value, weights, source.conv_conf, filters, layer.type == "exconvt")
    return biased(net, layer, found)


def biased(net: Network, layer: LayerConfig, found: Variable) -> Variable:
    """What filters give, (n, filters, ...), plus a bias of each filter or of each column, as rows."""
    op, filters = net.builder.op, layer.num_filters
    if layer.bias_parameter_name and layer.shared_biases:
        shape = (filters, *(1,) * (len(found.shape) - 2))
        bias = op("reshape", {"shape": shape}, X=net.parameter(layer.bias_parameter_name))
        found = op("elementwise_add", X=found, Y=bias)
    flat = op("reshape", {"shape": (-1, layer.size)}, X=found)
    if layer.bias_parameter_name and not layer.shared_biases:
        bias = op("reshape", {"shape": (layer.size,)}, X=net.parameter(layer.bias_parameter_name))
        flat = op("elementwise_add", X=flat, Y=bias)
    return flat


def _pool(net: Network, layer: LayerConfig) -> Variable:
    (source,), op = layer.inputs, net.builder.op
    window = source.pool_conf
    image = {"shape": (-1, window.channels, window.img_size_y, window.img_size)}
    attrs = {
        "ksize": (window.size_y, window.size_x),
        "strides": (window.stride_y, window.stride),
        "paddings": (window.padding_y, window.padding),
        "ceil_mode": _sticks_out(window),
    }
    x = op("reshape", image, X=net.value(source.input_layer_name))
    if window.pool_type == "max-projection":
        found = op("max_pool2d", attrs, X=x)
    else:
        found = op("average_pool2d", {**attrs, "exclusive": window.exclude_mode}, X=x)
    return op("reshape", {"shape": (-1, layer.size)}, X=found)


def _sticks_out(window: PoolConfig) -> bool:
    """Whether the last place reaches beyond the image and its zeros, on either axis."""
    down = window.img_size_y + 2 * window.padding_y - window.size_y
    across = window.img_size + 2 * window.padding - window.size_x
    return bool(
        (window.output_y - 1) * window.stride_y > down or (window.output_x - 1) * window.stride > across
    )


def _batch_norm(net: Network, layer: LayerConfig) -> Variable:
    op, source = net.builder.op, layer.inputs[0]
    channels = source.image_conf.channels
    scale, mean, variance = (net.parameter(each.input_parameter_name) for each in layer.inputs)
    bias = (
        net.parameter(layer.bias_parameter_name)
        if layer.bias_parameter_name
        else op("fill_constant", {"shape": (1, channels), "value": 0.0})
    )
    attrs = {"epsilon": layer.epsilon, "momentum": layer.moving_average_fraction}
    if layer.HasField("use_global_stats"):
        attrs["use_global_stats"] = layer.use_global_stats
    x = net.value(source.input_layer_name)
    if channels != layer.size:
        x = op("reshape", {"shape": (-1, channels, layer.size // channels)}, X=x)
    found = op("batch_norm", attrs, X=x, Scale=scale, Bias=bias, Mean=mean, Variance=variance)
    return found if channels == layer.size else op("reshape", {"shape": (-1, layer.size)}, X=found)


IMAGE_RULES: Mapping[str, Callable[[Network, LayerConfig], Variable]] = {
    "exconv": _conv,
    "exconvt": _conv,
    "pool": _pool,
    "batch_norm": _batch_norm,
}
"""Their bias is their own; activation and so on they get as other layers do."""
