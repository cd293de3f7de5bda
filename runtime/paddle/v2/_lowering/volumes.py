"""Lowering of layers over images of three dimensions.

It must never know how sizes follow from each other: the configuration says them. Guarantee: what a layer
gives is a row for each volume.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from paddle._engine import volumes
from paddle._engine.program import Variable
from paddle._engine.volumes import Moving
from paddle.v2._config import ConvConfig, LayerConfig, PoolConfig
from paddle.v2._lowering.images import with_own_biases, with_shared_bias

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network


def _moving(conf: ConvConfig | PoolConfig, window: int) -> Moving:
    zeros = int(conf.padding_z), int(conf.padding_z)
    around = int(conf.padding_y), int(conf.padding_y), int(conf.padding), int(conf.padding)
    planes = {"strides": (int(conf.stride_y), int(conf.stride)), "paddings": around}
    return Moving(window, int(conf.stride_z), zeros, 1, planes)


def _conv(net: Network, layer: LayerConfig) -> Variable:
    (source,), op = layer.inputs, net.builder.op
    conf, trans = source.conv_conf, layer.type == "deconv3d"
    moving = _moving(conf, conf.filter_size_z)
    moving.planes["groups"] = conf.groups
    window = (conf.filter_size_z, conf.filter_size_y, conf.filter_size)
    larger, smaller = (
        (conf.img_size_z, conf.img_size_y, conf.img_size),
        (conf.output_z, conf.output_y, conf.output_x),
    )
    weights, value = net.parameter(source.input_parameter_name), net.value(source.input_layer_name)
    x = op("reshape", {"shape": (-1, conf.channels, *(smaller if trans else larger))}, X=value)
    if trans:
        parted = (conf.groups, conf.filter_channels, *window, conf.channels // conf.groups)
        turned = op("transpose", {"axis": (0, 5, 1, 2, 3, 4)}, X=op("reshape", {"shape": parted}, X=weights))
        filters = op("reshape", {"shape": (conf.channels, conf.filter_channels, *window)}, X=turned)
        found = volumes.laid_down(net.builder, x, filters, moving, conf.img_size_z)
    else:
        shape = (layer.num_filters, conf.filter_channels, *window)
        filters = op("reshape", {"shape": shape}, X=weights)
        found = volumes.convolved(net.builder, x, filters, moving)
    flat = op("reshape", {"shape": (-1, layer.size)}, X=with_shared_bias(net, layer, found))
    return with_own_biases(net, layer, flat)


def _pool(net: Network, layer: LayerConfig) -> Variable:
    (source,), op = layer.inputs, net.builder.op
    conf = source.pool_conf
    shape = (-1, conf.channels, conf.img_size_z, conf.img_size_y, conf.img_size)
    x = op("reshape", {"shape": shape}, X=net.value(source.input_layer_name))
    how = "max" if conf.pool_type == "max-projection" else "avg"
    told = {"ceil_mode": _sticks_out(conf)} | ({} if how == "max" else {"exclusive": True})
    window = (conf.size_z, conf.size_y, conf.size_x)
    made = volumes.by_axes(net.builder, x, *volumes.passes(how, window, _moving(conf, conf.size_z), told))
    return op("reshape", {"shape": (-1, layer.size)}, X=made.out)


def _sticks_out(conf: PoolConfig) -> bool:
    """Whether the last place reaches beyond the volume and its zeros, on any axis."""
    axes = (
        (conf.output_x, conf.stride, conf.img_size, conf.padding, conf.size_x),
        (conf.output_y, conf.stride_y, conf.img_size_y, conf.padding_y, conf.size_y),
        (conf.output_z, conf.stride_z, conf.img_size_z, conf.padding_z, conf.size_z),
    )
    return any((places - 1) * step > size + 2 * zeros - window for places, step, size, zeros, window in axes)


VOLUME_RULES: Mapping[str, Callable[[Network, LayerConfig], Variable]] = {
    "conv3d": _conv,
    "deconv3d": _conv,
    "pool3d": _pool,
}
"""Their bias is their own; activation and so on they get as other layers do."""
