"""Lowering of layers over the channels of images.

It must never know how sizes follow from each other: the configuration says them. Guarantee: what a layer
gives is a row for each image.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from paddle._engine.program import Variable
from paddle.v2._config import ImageConfig, LayerConfig
from paddle.v2._lowering.output import Output

if TYPE_CHECKING:
    from paddle.v2._lowering.network import Network


_BLACK = 1e-6


def _image(net: Network, layer: LayerConfig, channels: int, height: int, width: int) -> Variable:
    return net.image(layer.inputs[0].input_layer_name, channels, height, width)


def _of(net: Network, layer: LayerConfig, image: ImageConfig) -> Variable:
    return _image(net, layer, image.channels, image.img_size_y, image.img_size)


def _norm(net: Network, layer: LayerConfig) -> Output:
    conf = layer.inputs[0].norm_conf
    image = _image(net, layer, conf.channels, conf.img_size_y, conf.img_size)
    if conf.norm_type == "cross-channel-norm":
        return net.pictured(layer, _over_channels(net, layer, image))
    attrs = {"n": conf.size, "alpha": conf.scale, "beta": conf.pow}
    return net.pictured(layer, net.builder.op("lrn", attrs, X=image))


def _over_channels(net: Network, layer: LayerConfig, image: Variable) -> Variable:
    """A little is added to the squares, so that a black pixel is not divided by nothing."""
    op, scale = net.builder.op, net.parameter(layer.inputs[0].input_parameter_name)
    squares = op("reduce_sum", {"dim": 1, "keep_dim": True}, X=op("square", X=image))
    unit = op("elementwise_div", X=image, Y=op("sqrt", X=op("scale", {"bias": _BLACK}, X=squares)))
    return op("elementwise_mul", X=unit, Y=op("reshape", {"shape": (-1, 1, 1)}, X=scale))


def _maxout(net: Network, layer: LayerConfig) -> Output:
    conf = layer.inputs[0].maxout_conf
    image = _of(net, layer, conf.image_conf)
    return net.pictured(layer, net.builder.op("maxout", {"groups": conf.groups}, X=image))


def _pad(net: Network, layer: LayerConfig) -> Output:
    conf = layer.inputs[0].pad_conf
    around = ((0, 0), tuple(conf.pad_c), tuple(conf.pad_h), tuple(conf.pad_w))
    return net.pictured(
        layer, net.builder.op("pad", {"paddings": around}, X=_of(net, layer, conf.image_conf))
    )


def _crop(net: Network, layer: LayerConfig) -> Output:
    image, starts = _of(net, layer, layer.inputs[0].image_conf), tuple(layer.offset)
    ends = tuple(start + size for start, size in zip(starts, layer.shape, strict=True))
    attrs = {"axes": (1, 2, 3), "starts": starts, "ends": ends}
    return net.pictured(layer, net.builder.op("slice", attrs, X=image))


def _spp(net: Network, layer: LayerConfig) -> Output:
    """At each level windows as large as needed for that many places, with zeros evenly around the image."""
    net.check_closed(layer)
    conf, op = layer.inputs[0].spp_conf, net.builder.op
    image, sizes = _of(net, layer, conf.image_conf), (conf.image_conf.img_size_y, conf.image_conf.img_size)
    type, exclusive = (
        ("max_pool2d", {}) if conf.pool_type == "max-projection" else ("average_pool2d", {"exclusive": True})
    )
    levels = []
    for level in range(conf.pyramid_height):
        windows = tuple(-(-size // 2**level) for size in sizes)
        zeros = tuple(
            (window * 2**level - size + 1) // 2 for window, size in zip(windows, sizes, strict=True)
        )
        attrs = {"ksize": windows, "strides": windows, "paddings": zeros, **exclusive}
        pooled = op(type, attrs, X=image)
        levels.append(op("reshape", {"shape": (-1, conf.image_conf.channels * 4**level)}, X=pooled))
    return Output(levels[0] if len(levels) == 1 else op("concat", X=levels), runs=net.runs_read(layer))


def _bilinear_interp(net: Network, layer: LayerConfig) -> Output:
    conf = layer.inputs[0].bilinear_interp_conf
    image, size = _of(net, layer, conf.image_conf), (conf.out_size_y, conf.out_size_x)
    return net.pictured(layer, net.builder.op("bilinear_interp", {"size": size}, X=image))


def _rotate(net: Network, layer: LayerConfig) -> Output:
    """Rows from the last to the first become columns from the first on."""
    op = net.builder.op
    image = _image(net, layer, layer.size // (layer.height * layer.width), layer.height, layer.width)
    turned = op("transpose", {"axis": (0, 1, 3, 2)}, X=op("reverse", {"axis": 2}, X=image))
    return net.pictured(layer, turned)


MAP_RULES: Mapping[str, Callable[[Network, LayerConfig], Output]] = {
    "norm": _norm,
    "maxout": _maxout,
    "pad": _pad,
    "crop": _crop,
    "spp": _spp,
    "bilinear_interp": _bilinear_interp,
    "rotate": _rotate,
}
