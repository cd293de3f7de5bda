"""Lowering of layers over the pixels of images.

It must never know how sizes follow from each other: the configuration says them. Guarantee: as of all
lowering.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from paddle._engine.program import Variable
from paddle.v2._config import ImageConfig, LayerConfig
from paddle.v2._lowering.output import Output

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network


def _image(net: Network, layer: LayerConfig, of: ImageConfig) -> Variable:
    return net.image(layer.inputs[0].input_layer_name, of.channels, of.img_size_y, of.img_size)


def _scaled(net: Network, layer: LayerConfig) -> Output:
    conf, bounds = layer.inputs[0].scale_sub_region_conf, net.value(layer.inputs[1].input_layer_name)
    image = _image(net, layer, conf.image_conf)
    return net.pictured(layer, net.builder.op("scale_piece", {"value": conf.value}, X=image, Bounds=bounds))


def _switched(net: Network, layer: LayerConfig) -> Output:
    """Rows of it are no samples, but for one order."""
    op, image = net.builder.op, _image(net, layer, layer.inputs[0].image_conf)
    turned = op("transpose", {"axis": (0, 2, 3, 1)}, X=image)
    return Output(op("reshape", {"shape": (-1, layer.size)}, X=turned))


def _upsampled(net: Network, layer: LayerConfig) -> Output:
    conf, pool = layer.inputs[0].upsample_conf, net.outputs[layer.inputs[1].input_layer_name]
    attrs = {"size": (conf.upsample_size_y, conf.upsample_size)}
    image = _image(net, layer, conf.image_conf)
    return net.pictured(layer, net.builder.op("unpool", attrs, X=image, Places=pool.others["mask"]))


PIXEL_RULES: Mapping[str, Callable[[Network, LayerConfig], Output]] = {
    "scale_sub_region": _scaled,
    "switch_order": _switched,
    "upsample": _upsampled,
}
"""What gets bias, activation and so on from the network as other layers do."""
