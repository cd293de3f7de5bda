"""Layers over the channels of images: normalized, the greatest taken, cut, framed, turned, read or enlarged.

They must never know how they are computed. Guarantee: sizes of images follow from layer to layer as in the
original.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle.v2._config import (
    BilinearInterpConfig,
    BlockExpandConfig,
    ImageConfig,
    LayerInputConfig,
    MaxOutConfig,
    NormConfig,
    PadConfig,
    SppConfig,
)
from paddle.v2._draft import Draft, dense, listed
from paddle.v2._errors import WrongCall
from paddle.v2._layers.images import image_of, places
from paddle.v2.attr import ExtraLayerAttribute, ParameterAttribute
from paddle.v2.config_base import Layer, default_name
from paddle.v2.pooling import Avg, BasePoolingType, Max

__all__ = [
    "bilinear_interp",
    "block_expand",
    "crop",
    "cross_channel_norm",
    "img_cmrnorm",
    "maxout",
    "pad",
    "rotate",
    "spp",
]

Extra = ExtraLayerAttribute | None
Image = tuple[int, int, int]
"""Channels, height, width."""


def img_cmrnorm(
    input: Layer,
    size: int,
    scale: float = 0.0128,
    power: float = 0.75,
    name: str | None = None,
    num_channels: int | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """Each pixel over a power of 1 + ``scale`` times the mean of squares in the ``size`` channels near it."""
    name = name or default_name("crmnorm")
    source, image = _seen(name, input, num_channels)
    channels, height, width = image
    draft = Draft("norm", name, size=source.size, layer_attr=layer_attr)
    draft.read(source)
    _first(draft).norm_conf = NormConfig(
        norm_type="cmrnorm-projection",
        channels=channels,
        size=size,
        scale=scale / size,
        pow=power,
        output_x=width,
        img_size=width,
        blocked=False,
        output_y=height,
        img_size_y=height,
    )
    return _done(draft, image)


def cross_channel_norm(
    input: Layer, name: str | None = None, param_attr: ParameterAttribute | None = None
) -> Layer:
    """Each pixel over the length of what all channels have there, and each channel times a learned number."""
    name = name or default_name("cross_channel_norm")
    source, (channels, height, width) = _seen(name, input, None)
    draft = Draft("norm", name, size=source.size)
    draft.read(source, param_attr, [channels, 1])
    _first(draft).norm_conf = NormConfig(
        norm_type="cross-channel-norm",
        channels=channels,
        size=source.size,
        scale=0.0,
        pow=0.0,
        output_x=width,
        img_size=width,
        blocked=False,
        output_y=height,
        img_size_y=height,
    )
    return _done(draft, (channels, height, width))


def maxout(
    input: Layer,
    groups: int,
    num_channels: int | None = None,
    name: str | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """The greatest of every ``groups`` channels that are neighbours, pixel by pixel."""
    name = name or default_name("maxout_layer")
    source, (channels, height, width) = _seen(name, input, num_channels)
    if groups < 2 or channels % groups:
        raise WrongCall(f"layer {name!r}: {channels} channels are not a multiple of groups={groups}")
    image = (channels // groups, height, width)
    draft = Draft("maxout", name, size=source.size // groups, layer_attr=layer_attr)
    draft.read(source)
    _first(draft).maxout_conf = MaxOutConfig(image_conf=_configured((channels, height, width)), groups=groups)
    return _done(draft, image)


def pad(
    input: Layer,
    pad_c: Sequence[int] | None = None,
    pad_h: Sequence[int] | None = None,
    pad_w: Sequence[int] | None = None,
    name: str | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """Zeros around an image, (before, behind) of its channels, rows and columns."""
    name = name or default_name("pad")
    source, image = _seen(name, input, None)
    around = [tuple(each or (0, 0)) for each in (pad_c, pad_h, pad_w)]
    if any(len(each) != 2 or min(each) < 0 for each in around):
        raise WrongCall(f"layer {name!r}: zeros are (before, behind), not {around}")
    channels, height, width = (size + sum(each) for size, each in zip(image, around, strict=True))
    draft = Draft("pad", name, size=channels * height * width, layer_attr=layer_attr)
    draft.read(source)
    sides = dict(zip(("pad_c", "pad_h", "pad_w"), around, strict=True))
    _first(draft).pad_conf = PadConfig(image_conf=_configured(image), **sides)
    return _done(draft, (channels, height, width))


def crop(
    input: Layer | Sequence[Layer],
    offset: Sequence[int],
    axis: int = 2,
    shape: Sequence[int] | None = None,
    name: str | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """A piece of an image: from ``offset`` on, as large as ``shape`` or as the second image of ``input``.

    Both speak of the axes from ``axis`` on, where 1 is of channels, 2 of rows and 3 of columns; ``shape`` may
    also have all four.
    """
    name = name or default_name("crop_layer")
    source, *like = listed(name, input)
    _, image = _seen(name, source, None)
    like_what = _seen(name, like[0], None)[1] if like else shape or ()
    wanted = list(like_what)[-(4 - axis) :]
    if len(wanted) != 4 - axis or not 1 <= axis <= 3 or len(offset) not in (1, len(wanted)):
        raise WrongCall(f"layer {name!r}: shape and offset are of the axes from {axis} to 3, not {wanted}")
    starts = [0] * (axis - 1) + list(offset) * (len(wanted) // len(offset))
    sizes = [*image[: axis - 1], *wanted]
    if any(
        start < 0 or start + size > whole for start, size, whole in zip(starts, sizes, image, strict=True)
    ):
        raise WrongCall(f"layer {name!r}: no {sizes} from {starts} on can be cut out of {list(image)}")
    channels, height, width = sizes
    draft = Draft("crop", name, size=channels * height * width, layer_attr=layer_attr)
    for each in (source, *like):
        draft.read(dense(name, each))
    _first(draft).image_conf = _configured(image)
    draft.config.offset, draft.config.shape = starts, sizes
    return _done(draft, (channels, height, width), axis=axis)


def spp(
    input: Layer,
    name: str | None = None,
    num_channels: int | None = None,
    pool_type: BasePoolingType | None = None,
    pyramid_height: int | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """A pyramid over an image: pooled to one pixel, to 2 x 2, to 4 x 4..., all side by side."""
    name = name or default_name("spp")
    source, image = _seen(name, input, num_channels)
    if pyramid_height is None or pyramid_height < 1:
        raise WrongCall(f"layer {name!r}: say how many levels its pyramid has (pyramid_height)")
    kind = "avg-projection" if isinstance(pool_type or Max(), Avg) else "max-projection"
    places = (4**pyramid_height - 1) // 3
    draft = Draft("spp", name, size=image[0] * places, layer_attr=layer_attr)
    draft.read(source)
    _first(draft).spp_conf = SppConfig(
        image_conf=_configured(image), pool_type=kind, pyramid_height=pyramid_height
    )
    return _done(draft, (image[0], 1, places))


def bilinear_interp(
    input: Layer,
    out_size_x: int | None = None,
    out_size_y: int | None = None,
    name: str | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """An image made larger or smaller; corners keep their places, and pixels between are mixed."""
    name = name or default_name("bilinear_interp_layer")
    source, image = _seen(name, input, None)
    if not out_size_x or not out_size_y or min(out_size_x, out_size_y) < 1:
        raise WrongCall(f"layer {name!r}: say how large the image becomes (out_size_x, out_size_y)")
    draft = Draft("bilinear_interp", name, size=image[0] * out_size_y * out_size_x, layer_attr=layer_attr)
    draft.read(source)
    _first(draft).bilinear_interp_conf = BilinearInterpConfig(
        image_conf=_configured(image), out_size_x=out_size_x, out_size_y=out_size_y
    )
    return _done(draft, (image[0], out_size_y, out_size_x))


def block_expand(
    input: Layer,
    block_x: int = 0,
    block_y: int = 0,
    stride_x: int = 0,
    stride_y: int = 0,
    padding_x: int = 0,
    padding_y: int = 0,
    num_channels: int | None = None,
    name: str | None = None,
    layer_attr: Extra = None,
) -> Layer:
    """A sequence of what a block sees of an image that it moves over, from left to right and downwards.

    An element is the pixels of its first channel, row by row, then those of the next. ``padding_x`` and
    ``padding_y``: so many zeros are around the image. A last place may stick out, into zeros; so does
    a block that is larger than the image.
    """
    name = name or default_name("block_expand_layer")
    source, (channels, height, width) = _seen(name, input, num_channels)
    draft = Draft("blockexpand", name, size=channels * block_x * block_y, layer_attr=layer_attr)
    draft.read(source)
    _first(draft).block_expand_conf = BlockExpandConfig(
        channels=channels,
        stride_x=stride_x,
        stride_y=stride_y,
        padding_x=padding_x,
        padding_y=padding_y,
        block_x=block_x,
        block_y=block_y,
        output_x=places(name, max(width, block_x - 2 * padding_x), block_x, stride_x, padding_x, ceil=True),
        output_y=places(name, max(height, block_y - 2 * padding_y), block_y, stride_y, padding_y, ceil=True),
        img_size_x=width,
        img_size_y=height,
    )
    return draft.done()


def rotate(input: Layer, height: int, width: int, name: str | None = None, layer_attr: Extra = None) -> Layer:
    """Every channel, of ``height`` rows and ``width`` columns, turned by 90 degrees clockwise."""
    name = name or default_name("rotate_layer")
    (source,) = listed(name, input)
    channels, rest = divmod(source.size, height * width)
    if rest:
        raise WrongCall(f"layer {name!r}: {source!r} is not made of images of {height} x {width} pixels")
    draft = Draft("rotate", name, size=source.size, layer_attr=layer_attr)
    draft.read(dense(name, source))
    layer = draft.done(height=height, width=width)
    layer.num_filters = channels
    return layer


def _seen(name: str, input: Layer, num_channels: int | None) -> tuple[Layer, Image]:
    """The layer that was given, and the image that it is; of one channel, if nobody says how many."""
    (source,) = listed(name, input)
    return source, image_of(name, dense(name, source), num_channels)


def _configured(image: Image) -> ImageConfig:
    return ImageConfig(channels=image[0], img_size=image[2], img_size_y=image[1])


def _first(draft: Draft) -> LayerInputConfig:
    first: LayerInputConfig = draft.config.inputs[0]
    return first


def _done(draft: Draft, image: Image, **values: int) -> Layer:
    layer = draft.done(height=image[1], width=image[2], **values)
    layer.num_filters = image[0]
    return layer
