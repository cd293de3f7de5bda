"""Layers over the pixels of images: in another order, some of them multiplied, or put back where they were.

They must never know how they are computed. Guarantee: sizes of images follow from layer to layer as in the
original.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle.v2._config import ImageConfig, ReshapeConfig, ScaleSubRegionConfig, UpsampleConfig
from paddle.v2._draft import Draft, dense, listed
from paddle.v2._errors import WrongCall
from paddle.v2._layers.images import image_of
from paddle.v2.activation import BaseActivation, Identity
from paddle.v2.attr import ExtraLayerAttribute
from paddle.v2.config_base import Layer, default_name

__all__ = ["scale_sub_region", "switch_order", "upsample"]

Extra = ExtraLayerAttribute | None
_BOUNDS = 6


def scale_sub_region(input: Layer, indices: Layer, value: float, name: str | None = None) -> Layer:
    """An image of which a piece is times ``value``.

    A row of ``indices`` says which: first and last channel, row and column, which count from 1.
    """
    name = name or default_name("scale_sub_region")
    (source,), (bounds,) = listed(name, input), listed(name, indices)
    channels, height, width = image_of(name, dense(name, source), None)
    if bounds.size != _BOUNDS:
        raise WrongCall(
            f"layer {name!r}: indices are {_BOUNDS} numbers, first and last of channels, rows and columns, "
            f"not those of {bounds!r}"
        )
    draft = Draft("scale_sub_region", name, size=source.size)
    draft.read(source)
    draft.read(dense(name, bounds))
    image = ImageConfig(channels=channels, img_size=width, img_size_y=height)
    draft.config.inputs[0].scale_sub_region_conf = ScaleSubRegionConfig(image_conf=image, value=float(value))
    layer = draft.done(height=height, width=width)
    layer.num_filters = channels
    return layer


def switch_order(
    input: Layer,
    name: str | None = None,
    reshape_axis: int | None = None,
    act: BaseActivation | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """Images whose channels come last: the axes are sample, row, column and channel.

    Those before ``reshape_axis`` (1, 2 or 3) become rows of output, the others its columns: with 3 there is a
    row of channels for each pixel.
    """
    name = name or default_name("switch_order")
    (source,) = listed(name, input)
    if reshape_axis not in (1, 2, 3):
        raise WrongCall(f"layer {name!r}: reshape_axis is 1, 2 or 3, not {reshape_axis!r}")
    channels, height, width = image_of(name, dense(name, source), None)
    size = {1: height * width * channels, 2: width * channels, 3: channels}[reshape_axis]
    draft = Draft("switch_order", name, size=size, act=act or Identity(), layer_attr=layer_attr)
    draft.read(source)
    image = ImageConfig(channels=channels, img_size=width, img_size_y=height)
    draft.config.inputs[0].image_conf = image
    axes = ReshapeConfig(height_axis=list(range(reshape_axis)), width_axis=list(range(reshape_axis, 4)))
    return draft.done(reshape_conf=axes)


def upsample(
    input: Sequence[Layer],
    name: str | None = None,
    scale: int | None = None,
    scale_y: int | None = None,
    upsample_size: int | None = None,
    upsample_size_y: int | None = None,
    pad_out_x: bool = False,
    pad_out_y: bool = False,
    layer_attr: Extra = None,
) -> Layer:
    """Pixels of an image, each put where a pooling took one from, and zeros elsewhere.

    ``input`` is the image and the ``img_pool`` with ``MaxWithMask``. It becomes ``scale`` times as large,
    less one where ``pad_out_x`` or ``pad_out_y``, or ``upsample_size`` x ``upsample_size_y``.
    """
    name = name or default_name("upsample")
    source, *pools = listed(name, input)
    channels, height, width = image_of(name, dense(name, source), None)
    if len(pools) != 1 or pools[0].layer_type != "pool" or not _has_mask(pools[0]):
        raise WrongCall(
            f"layer {name!r}: input is an image and the img_pool with pool_type=MaxWithMask() whose places "
            f"its pixels go to, not {[source, *pools]}"
        )
    if pools[0].size != source.size:
        raise WrongCall(f"layer {name!r}: {pools[0]!r} took other pixels than {source!r} has")
    if scale is None and upsample_size is None:
        raise WrongCall(f"layer {name!r}: say how large the image becomes (scale, or upsample_size)")
    if upsample_size is not None:
        wide, tall = upsample_size, upsample_size_y or upsample_size
    else:
        across, down = scale or 0, scale_y or scale or 0
        wide, tall = width * across - bool(pad_out_x), height * down - bool(pad_out_y)
    if wide < 1 or tall < 1:
        raise WrongCall(f"layer {name!r}: an image of {tall} x {wide} has no pixel")
    draft = Draft("upsample", name, size=channels * tall * wide, layer_attr=layer_attr)
    draft.read(source)
    draft.read(pools[0])
    image = ImageConfig(channels=channels, img_size=width, img_size_y=height)
    draft.config.inputs[0].upsample_conf = UpsampleConfig(
        image_conf=image, upsample_size=wide, upsample_size_y=tall
    )
    layer = draft.done(height=tall, width=wide)
    layer.num_filters = channels
    return layer


def _has_mask(pool: Layer) -> bool:
    return str(pool.config.inputs[0].pool_conf.pool_type) == "max-pool-with-mask"
