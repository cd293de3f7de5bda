"""Lowering of layers that find objects by boxes.

It must never know how boxes are chosen. Guarantee: as of all lowering; numbers of a box lie side by side, as
they are told pixel by pixel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any

from paddle._engine.program import Variable
from paddle.v2._config import LayerConfig, LayerInputConfig, PriorBoxConfig
from paddle.v2._lowering.output import Output
from paddle.v2._lowering.sequences import merged

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network

_EQUAL = 1e-6


def _priors(net: Network, layer: LayerConfig) -> Output:
    net.check_closed(layer)
    told, image = (net.layer(each.input_layer_name) for each in layer.inputs)
    conf = layer.inputs[0].priorbox_conf
    sizes = _sizes(conf)
    cells = layer.size // (8 * len(sizes))
    columns = int(told.width) or round(sqrt(cells))
    attrs = {
        "grid": (cells // columns, columns),
        "image": (int(image.height), int(image.width)),
        "sizes": sizes,
        "variances": tuple(conf.variance),
    }
    return Output(net.builder.op("prior_boxes", attrs))


def _sizes(conf: PriorBoxConfig) -> tuple[tuple[float, float], ...]:
    """Width and height of each box of a cell."""
    found: list[tuple[float, float]] = []
    for at, size in enumerate(conf.min_size):
        found.append((size, size))
        found += [(sqrt(size * conf.max_size[at]),) * 2] if conf.max_size else []
        for ratio in conf.aspect_ratio:
            if abs(ratio - 1) >= _EQUAL:
                found += [(size * sqrt(each), size / sqrt(each)) for each in (ratio, 1 / ratio)]
    return tuple(found)


def _by_pixel(net: Network, inputs: Sequence[LayerInputConfig]) -> Variable:
    """What layers of images give, all channels of a pixel side by side, one layer behind the other."""
    op, parts = net.builder.op, []
    for each in inputs:
        layer, value = net.layer(each.input_layer_name), net.value(each.input_layer_name)
        pixels = int(layer.height) * int(layer.width)
        if pixels > 1:
            apart = op("reshape", {"shape": (-1, layer.size // pixels, pixels)}, X=value)
            turned = op("transpose", {"axis": (0, 2, 1)}, X=apart)
            value = op("reshape", {"shape": (-1, layer.size)}, X=turned)
        parts.append(value)
    return parts[0] if len(parts) == 1 else op("concat", X=parts)


def _boxes(net: Network, layer: LayerConfig, first: int, count: int) -> dict[str, Variable]:
    """Offsets, scores and priors; the first layer of offsets is the input of number ``first``."""
    return {
        "Loc": _by_pixel(net, layer.inputs[first : first + count]),
        "Conf": _by_pixel(net, layer.inputs[first + count :]),
        "Priors": net.value(layer.inputs[0].input_layer_name),
    }


def _told(conf: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(conf, name) for name in ("num_classes", "background_id", *names)}


def _loss(net: Network, layer: LayerConfig) -> Output:
    op, label = net.builder.op, layer.inputs[1].input_layer_name
    conf = layer.inputs[0].multibox_loss_conf
    boxes = _boxes(net, layer, 2, conf.input_num)
    told = _told(conf, "overlap_threshold", "neg_pos_ratio", "neg_overlap")
    offsets = merged(net, label, layer.name)
    cost = op("multibox_loss", told, **boxes, Label=net.value(label), Offsets=offsets)
    return Output(op("of_batch", X=cost, Like=boxes["Loc"]))


def _found(net: Network, layer: LayerConfig) -> Output:
    conf = layer.inputs[0].detection_output_conf
    told = _told(conf, "nms_threshold", "nms_top_k", "keep_top_k", "confidence_threshold")
    made = net.builder.ops("detection_output", told, **_boxes(net, layer, 1, conf.input_num))
    return Output(made["Out"], filled=made["Offsets"])


def _regions(net: Network, layer: LayerConfig) -> Output:
    op, (source, regions) = net.builder.op, (each.input_layer_name for each in layer.inputs)
    conf, told = layer.inputs[0].roi_pool_conf, net.layer(source)
    channels = layer.size // (conf.pooled_height * conf.pooled_width)
    pixels = told.size // channels
    columns = int(told.width) or round(sqrt(pixels))
    image = op("reshape", {"shape": (-1, channels, pixels // columns, columns)}, X=net.value(source))
    attrs = {"cells": (conf.pooled_height, conf.pooled_width), "scale": conf.spatial_scale}
    found = op("region_max", attrs, X=image, Regions=net.value(regions))
    flat = op("reshape", {"shape": (-1, layer.size)}, X=found)
    return Output(flat, runs=net.outputs[regions].runs)


BOX_RULES: Mapping[str, Callable[[Network, LayerConfig], Output]] = {
    "priorbox": _priors,
    "multibox_loss": _loss,
    "detection_output": _found,
    "roi_pool": _regions,
}
"""What gets bias, activation and so on from the network as other layers do."""
