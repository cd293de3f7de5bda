"""Lowering of layers over images to the operators of the engine.

It must never know how sizes follow from each other: the configuration says them. Guarantee: what a layer
gives is a row for each image, whatever shape its operators see it in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from paddle._engine.program import Variable
from paddle.v2._config import ConvConfig, LayerConfig, OperatorConfig, PoolConfig, ProjectionConfig
from paddle.v2._lowering.output import Output

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network


def _sides(window: ConvConfig, trans: bool) -> tuple[int, int, int]:
    """Channels, height and width of what filters see."""
    sides = (window.output_y, window.output_x) if trans else (window.img_size_y, window.img_size)
    return (window.channels, *sides)


def _seen_by_filters(
    net: Network, image: Variable, weights: Variable, window: ConvConfig, filters: int, trans: bool
) -> Variable:
    """(n, filters, rows, columns)."""
    op = net.builder.op
    rows = window.channels if trans else filters
    shape = (rows, window.filter_channels, window.filter_size_y, window.filter_size)
    attrs = {
        "strides": (window.stride_y, window.stride),
        "paddings": (window.padding_y, window.padding),
        "dilations": (window.dilation_y, window.dilation),
        "groups": window.groups,
    }
    kernels = op("reshape", {"shape": shape}, X=weights)
    return op("conv2d_transpose" if trans else "conv2d", attrs, X=image, Filter=kernels)


def convolved(net: Network, value: Variable, weights: Variable, conf: ProjectionConfig) -> Variable:
    """What a projection gives: a convolution without a bias, as rows."""
    trans = conf.type == "convt"
    image = net.builder.op("reshape", {"shape": (-1, *_sides(conf.conv_conf, trans))}, X=value)
    found = _seen_by_filters(net, image, weights, conf.conv_conf, conf.num_filters, trans)
    return net.builder.op("reshape", {"shape": (-1, conf.output_size)}, X=found)


def seen_by_own_filters(net: Network, value: Variable, weights: Variable, conf: OperatorConfig) -> Variable:
    """What an operator gives: each image as its own filters see it, as rows."""
    op, window, filters = net.builder.op, conf.conv_conf, conf.num_filters
    trans, kernel = conf.type == "convt", (window.filter_size_y, window.filter_size)
    steps, zeros = (window.stride_y, window.stride), (window.padding_y, window.padding)
    larger, smaller = (window.img_size_y, window.img_size), (window.output_y, window.output_x)
    image = op("reshape", {"shape": (-1, window.channels, *(smaller if trans else larger))}, X=value)
    if trans:  # a convolution of pixels that lie apart, by filters that are turned about
        image = _apart(net, image, steps)
        shape = (-1, window.channels, filters, *kernel)
        turned = op("reverse", {"axis": 4}, X=op("reshape", {"shape": shape}, X=weights))
        turned = op("reverse", {"axis": 3}, X=turned)
        weights = op("transpose", {"axis": (0, 2, 1, 3, 4)}, X=turned)
        zeros = (kernel[0] - 1 - zeros[0], kernel[1] - 1 - zeros[1])
        steps = (1, 1)
    seen = window.channels * kernel[0] * kernel[1]
    attrs = {"kernels": kernel, "strides": steps, "paddings": (*zeros, *zeros)}
    windows = op("image_windows", attrs, X=image)
    places = larger if trans else smaller
    beside = op("reshape", {"shape": (-1, places[0] * places[1], seen)}, X=windows)
    own = op("reshape", {"shape": (-1, filters, seen)}, X=weights)
    found = op("matmul", {"transpose_Y": True}, X=own, Y=beside)
    return op("reshape", {"shape": (-1, conf.output_size)}, X=found)


def _apart(net: Network, image: Variable, steps: tuple[int, int]) -> Variable:
    """An image with zeros between its pixels."""
    op, (_, channels, tall, wide) = net.builder.op, image.shape
    if steps == (1, 1):
        return image
    single = op("reshape", {"shape": (-1, channels, tall, 1, wide, 1)}, X=image)
    behind = ((0, 0), (0, 0), (0, 0), (0, steps[0] - 1), (0, 0), (0, steps[1] - 1))
    spread = op("pad", {"paddings": behind}, X=single)
    whole = op("reshape", {"shape": (-1, channels, tall * steps[0], wide * steps[1])}, X=spread)
    ends = ((tall - 1) * steps[0] + 1, (wide - 1) * steps[1] + 1)
    return op("slice", {"axes": (2, 3), "starts": (0, 0), "ends": ends}, X=whole)


def _conv(net: Network, layer: LayerConfig) -> Output:
    (source,), trans = layer.inputs, layer.type == "exconvt"
    weights, window = net.parameter(source.input_parameter_name), source.conv_conf
    image = net.image(source.input_layer_name, *_sides(window, trans))
    found = _seen_by_filters(net, image, weights, window, layer.num_filters, trans)
    made = net.pictured(layer, with_shared_bias(net, layer, found))
    assert made.value is not None
    return replace(made, value=with_own_biases(net, layer, made.value))


def with_shared_bias(net: Network, layer: LayerConfig, found: Variable) -> Variable:
    """What filters give, (n, filters, ...), plus a bias of each filter, if the layer has these."""
    if not layer.bias_parameter_name or not layer.shared_biases:
        return found
    shape = (found.shape[1], *(1,) * (len(found.shape) - 2))
    bias = net.builder.op("reshape", {"shape": shape}, X=net.parameter(layer.bias_parameter_name))
    return net.builder.op("elementwise_add", X=found, Y=bias)


def with_own_biases(net: Network, layer: LayerConfig, flat: Variable) -> Variable:
    """Rows of images plus a bias of each column, if the layer has these."""
    if not layer.bias_parameter_name or layer.shared_biases:
        return flat
    shape = {"shape": (layer.size,)}
    bias = net.builder.op("reshape", shape, X=net.parameter(layer.bias_parameter_name))
    return net.builder.op("elementwise_add", X=flat, Y=bias)


def _pool(net: Network, layer: LayerConfig) -> Output:
    (source,), op = layer.inputs, net.builder.op
    window = source.pool_conf
    attrs = {
        "ksize": (window.size_y, window.size_x),
        "strides": (window.stride_y, window.stride),
        "paddings": (window.padding_y, window.padding),
        "ceil_mode": not _is_cut(window),
    }
    x = net.image(source.input_layer_name, window.channels, window.img_size_y, window.img_size)
    others = {}
    if window.pool_type == "avg-projection":
        found = op("average_pool2d", {**attrs, "exclusive": window.exclude_mode}, X=x)
    else:
        made = net.builder.ops("max_pool2d", attrs, X=x)
        found, others = made["Out"], {"mask": made["Places"]}
    return net.pictured(layer, found, **others)


def _is_cut(window: PoolConfig) -> bool:
    """Whether on either axis a last place is not taken, as it would reach beyond the image and its zeros."""
    down = window.img_size_y + 2 * window.padding_y - window.size_y
    across = window.img_size + 2 * window.padding - window.size_x
    return bool(
        (window.output_y - 1) * window.stride_y < down or (window.output_x - 1) * window.stride < across
    )


def _batch_norm(net: Network, layer: LayerConfig) -> Output:
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
    name, pixels = source.input_layer_name, layer.size // channels
    if net.outputs[name].frame is not None:
        x = net.image(name, channels, pixels, 1)
    else:
        x = op("reshape", {"shape": (-1, channels, pixels, 1)}, X=net.value(name))
    found = op("batch_norm", attrs, X=x, Scale=scale, Bias=bias, Mean=mean, Variance=variance)
    return net.pictured(layer, found)


IMAGE_RULES: Mapping[str, Callable[[Network, LayerConfig], Output]] = {
    "exconv": _conv,
    "exconvt": _conv,
    "pool": _pool,
    "batch_norm": _batch_norm,
}
"""Their bias is their own; activation and so on they get as other layers do."""
