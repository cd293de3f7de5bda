"""Images of three dimensions: a row is channels, one after another, each plane by plane of an image.

They must never know how they are computed. Guarantee: sizes follow from layer to layer as in the original; of
three numbers the first is of x, across, the last of z, the depth.
"""

from __future__ import annotations

from collections.abc import Sequence

from paddle.v2._config import ConvConfig, PoolConfig
from paddle.v2._draft import Draft, dense, listed
from paddle.v2._errors import WrongCall
from paddle.v2._layers.images import Bias, Extra, back, channels_of, places
from paddle.v2.activation import BaseActivation, Relu
from paddle.v2.attr import ParameterAttribute
from paddle.v2.config_base import Layer, default_name
from paddle.v2.pooling import Avg, BasePoolingType, Max

__all__ = ["img_conv3d", "img_pool3d"]

Sides = int | Sequence[int]
Three = tuple[int, int, int]
_TYPES = {False: "conv3d", True: "deconv3d"}


def img_conv3d(
    input: Layer,
    filter_size: Sides,
    num_filters: int,
    name: str | None = None,
    num_channels: int | None = None,
    act: BaseActivation | None = None,
    groups: int = 1,
    stride: Sides = 1,
    padding: Sides = 0,
    bias_attr: Bias = None,
    param_attr: ParameterAttribute | None = None,
    shared_biases: bool = True,
    layer_attr: Extra = None,
    trans: bool = False,
    layer_type: str | None = None,
) -> Layer:
    """A convolution in three dimensions; act is Relu where none is given. ``trans``: what one undoes.

    Its input has width, height and depth: those of a data layer, or of another such layer.
    """
    name = name or default_name("conv3d")
    if layer_type not in (None, _TYPES[trans]):
        raise WrongCall(f"layer {name!r}: layer_type is {_TYPES[trans]!r}, not {layer_type!r}")
    (source,) = listed(name, input)
    window = _filter(name, source, num_channels, num_filters, groups, trans, (filter_size, stride, padding))
    ends = ("img_size", "img_size_y", "img_size_z") if trans else ("output_x", "output_y", "output_z")
    wide, tall, deep = (int(getattr(window, end)) for end in ends)
    size, rows = num_filters * wide * tall * deep, window.channels if trans else num_filters
    draft = Draft(_TYPES[trans], name, size=size, act=act or Relu(), layer_attr=layer_attr)
    seen = window.filter_size * window.filter_size_y * window.filter_size_z * window.filter_channels
    std = float((2.0 / (window.filter_size**2 * window.channels)) ** 0.5)
    draft.read(source, param_attr, [1, rows * seen], std=std)
    draft.config.inputs[0].conv_conf = window
    draft.bias(bias_attr, by_default=True, dims=[num_filters if shared_biases else size, 1])
    more = {"num_filters": num_filters, "shared_biases": shared_biases}
    layer = draft.done(height=tall, width=wide, depth=deep, **more)
    layer.num_filters = num_filters
    return layer


def img_pool3d(
    input: Layer,
    pool_size: Sides,
    name: str | None = None,
    num_channels: int | None = None,
    pool_type: BasePoolingType | None = None,
    stride: Sides = 1,
    padding: Sides = 0,
    layer_attr: Extra = None,
    pool_size_y: int | None = None,
    stride_y: int | None = None,
    padding_y: int | None = None,
    pool_size_z: int | None = None,
    stride_z: int | None = None,
    padding_z: int | None = None,
    ceil_mode: bool = True,
) -> Layer:
    """The greatest or the mean of the voxels under a window that moves over each channel.

    Means are of voxels only, not of zeros around. ``ceil_mode``: it also takes a last place where it sticks
    out.
    """
    name = name or default_name("pool3d")
    pool_type = Max() if pool_type is None else pool_type
    kind = {Max: "max-projection", Avg: "avg-projection"}.get(type(pool_type))
    if kind is None:
        raise WrongCall(f"layer {name!r}: volumes are pooled by Max or Avg, not {pool_type!r}")
    (source,) = listed(name, input)
    channels, *sides = volume_of(name, dense(name, source), num_channels)
    window = three(name, pool_size, pool_size_y, pool_size_z)
    step, zeros = three(name, stride, stride_y, stride_z), three(name, padding, padding_y, padding_z)
    reached = zip(sides, window, step, zeros, strict=True)
    wide, tall, deep = (places(name, *each, ceil=ceil_mode) for each in reached)
    draft = Draft("pool3d", name, size=channels * wide * tall * deep, layer_attr=layer_attr)
    draft.read(source)
    moves = {"stride": step, "padding": zeros, "img_size": sides}
    draft.config.inputs[0].pool_conf = PoolConfig(
        pool_type=kind,
        channels=channels,
        **_told(moves),
        **dict(zip(("size_x", "size_y", "size_z"), window, strict=True)),
        **dict(zip(("output_x", "output_y", "output_z"), (wide, tall, deep), strict=True)),
    )
    layer = draft.done(height=tall, width=wide, depth=deep)
    layer.num_filters = channels
    return layer


def _filter(
    name: str,
    source: Layer,
    num_channels: int | None,
    filters: int,
    groups: int,
    trans: bool,
    told: tuple[Sides, Sides, Sides],
) -> ConvConfig:
    """How a filter moves over a volume. ``told``: its size, steps and zeros around.

    The larger volume is ``img_size``, the smaller one ``output``: transposed, what comes out is the larger.
    """
    channels, *sides = volume_of(name, dense(name, source), num_channels)
    if channels % groups or filters % groups:
        raise WrongCall(f"layer {name!r}: {channels} channels and {filters} filters in {groups} groups")
    window, step, zeros = (three(name, each) for each in told)
    reached = zip(sides, window, step, zeros, strict=True)
    found = [back(name, *each) if trans else places(name, *each, ceil=False) for each in reached]
    larger, smaller = (found, sides) if trans else (sides, found)
    return ConvConfig(
        channels=channels,
        groups=groups,
        filter_channels=(filters if trans else channels) // groups,
        **_told({"filter_size": window, "stride": step, "padding": zeros, "img_size": larger}),
        **dict(zip(("output_x", "output_y", "output_z"), smaller, strict=True)),
    )


def volume_of(name: str, source: Layer, num_channels: int | None) -> tuple[int, int, int, int]:
    """Channels, width, height and depth of what a layer gives."""
    channels = channels_of(name, source, num_channels)
    wide, tall, deep = (int(getattr(source.config, side)) for side in ("width", "height", "depth"))
    if not wide or not tall or channels * wide * tall * deep != source.size:
        raise WrongCall(
            f"layer {name!r}: {source.size} columns of {source!r} are no {channels} channels of {deep} x "
            f"{tall} x {wide} voxels: give its data layer depth, height and width"
        )
    return channels, wide, tall, deep


def three(name: str, x: Sides, y: int | None = None, z: int | None = None) -> Three:
    """What was given for x, y and z."""
    if isinstance(x, Sequence):
        if len(x) != 3:
            raise WrongCall(f"layer {name!r}: {x!r} are not three numbers, of x, y and z")
        x, y, z = (x[0], x[1] if y is None else y, x[2] if z is None else z)
    return int(x), int(x if y is None else y), int(x if z is None else z)


def _told(moves: dict[str, Sequence[int]]) -> dict[str, int]:
    """Numbers of x, y and z, by the names that configurations have for each."""
    return {
        name + ending: int(number)
        for name, numbers in moves.items()
        for ending, number in zip(("", "_y", "_z"), numbers, strict=True)
    }
