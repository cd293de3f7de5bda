"""Convolutions: filters that move over an image, and the way back, which lays filters down instead.

They must never know how they are computed. Guarantee: sizes of images follow from layer to layer as in the
original. Of two numbers the first is of x, across; weights start normal, with a variance of 2 over what a
filter of all channels sees.
"""

from __future__ import annotations

from paddle.v2._config import ConvConfig
from paddle.v2._draft import Draft, dense, listed
from paddle.v2._errors import WrongCall
from paddle.v2._layers.images import Bias, Extra, Pair, Side, back, both, image_of, places
from paddle.v2._layers.projections import Operator, Projection
from paddle.v2.activation import BaseActivation, Relu
from paddle.v2.attr import ParameterAttribute
from paddle.v2.config_base import Layer, default_name

__all__ = ["conv_operator", "conv_projection", "img_conv"]

_TYPES = {False: ("exconv", "cudnn_conv"), True: ("exconvt", "cudnn_convt")}


def img_conv(
    input: Layer,
    filter_size: Side,
    num_filters: int,
    name: str | None = None,
    num_channels: int | None = None,
    act: BaseActivation | None = None,
    groups: int = 1,
    stride: Side = 1,
    padding: Side = 0,
    dilation: Side = 1,
    bias_attr: Bias = None,
    param_attr: ParameterAttribute | None = None,
    shared_biases: bool = True,
    layer_attr: Extra = None,
    filter_size_y: int | None = None,
    stride_y: int | None = None,
    padding_y: int | None = None,
    dilation_y: int | None = None,
    trans: bool = False,
    layer_type: str | None = None,
) -> Layer:
    """A convolution; act is Relu where none is given. ``trans``: what a convolution of this kind undoes.

    ``dilation``: how far pixels under a filter lie apart. ``layer_type`` is "exconv" or "cudnn_conv" (with
    ``trans``, "exconvt" or "cudnn_convt"): all are computed in one way.
    """
    name = name or default_name("conv")
    if layer_type not in (None, *_TYPES[trans]):
        raise WrongCall(
            f"layer {name!r}: layer_type is one of {', '.join(_TYPES[trans])}, not {layer_type!r}"
        )
    (source,) = listed(name, input)
    sides = ((filter_size, filter_size_y), (stride, stride_y), (padding, padding_y), (dilation, dilation_y))
    pairs = [both(name, *side) for side in sides]
    window = _filter(
        name, image_of(name, dense(name, source), num_channels), num_filters, groups, pairs, trans
    )
    rows, columns = _given(window, trans)
    type = _TYPES[trans][0]
    draft = Draft(type, name, size=num_filters * rows * columns, act=act or Relu(), layer_attr=layer_attr)
    seen = window.filter_size * window.filter_size_y * window.filter_channels
    weights = seen * (window.channels if trans else num_filters)
    draft.read(source, param_attr, [1, weights], std=_std(window))
    draft.config.inputs[0].conv_conf = window
    draft.bias(bias_attr, by_default=True, dims=[num_filters if shared_biases else draft.size, 1])
    layer = draft.done(num_filters=num_filters, shared_biases=shared_biases, height=rows, width=columns)
    layer.num_filters = num_filters
    return layer


def conv_projection(
    input: Layer,
    filter_size: Side,
    num_filters: int,
    num_channels: int | None = None,
    stride: Side = 1,
    padding: Side = 0,
    filter_size_y: int | None = None,
    stride_y: int | None = None,
    padding_y: int | None = None,
    groups: int = 1,
    param_attr: ParameterAttribute | None = None,
    trans: bool = False,
) -> Projection:
    """A convolution (``trans``: the way back), a part of a mixed layer or of ``concat``."""
    name = "conv_projection"
    image = image_of(name, dense(name, *listed(name, input)), num_channels)
    sides = ((filter_size, filter_size_y), (stride, stride_y), (padding, padding_y))
    pairs = [*(both(name, *side) for side in sides), (1, 1)]
    window = _filter(name, image, num_filters, groups, pairs, trans)
    rows, columns = _given(window, trans)
    values = {"conv_conf": window, "num_filters": num_filters}
    kind = "convt" if trans else "conv"
    return Projection(kind, input, num_filters * rows * columns, param_attr, values, _std(window))


def conv_operator(
    img: Layer,
    filter: Layer,
    filter_size: Side,
    num_filters: int,
    num_channels: int | None = None,
    stride: Side = 1,
    padding: Side = 0,
    filter_size_y: int | None = None,
    stride_y: int | None = None,
    padding_y: int | None = None,
    trans: bool = False,
) -> Operator:
    """A convolution of each image with filters of its own, which ``filter`` gives, a part of a mixed layer.
    ``trans``: the way back."""
    name = "conv_operator"
    (image,), (weights,) = listed(name, img), listed(name, filter)
    shape = image_of(name, dense(name, image), num_channels)
    sides = ((filter_size, filter_size_y), (stride, stride_y), (padding, padding_y))
    pairs = [*(both(name, *side) for side in sides), (1, 1)]
    window = _filter(name, shape, num_filters, 1, pairs, trans)
    count = num_filters * shape[0] * window.filter_size * window.filter_size_y
    if dense(name, weights).size != count:
        raise WrongCall(
            f"conv_operator: {num_filters} filters of {shape[0]} channels are {count} numbers for each "
            f"image, and {weights!r} gives {weights.size}"
        )
    if trans and (window.padding >= window.filter_size or window.padding_y >= window.filter_size_y):
        raise WrongCall("conv_operator: on the way back there are fewer zeros around than a filter is large")
    rows, columns = _given(window, trans)
    values = {"conv_conf": window, "num_filters": num_filters}
    return Operator("convt" if trans else "conv", [image, weights], num_filters * rows * columns, values)


def _std(window: ConvConfig) -> float:
    return float((2.0 / (window.filter_size**2 * window.channels)) ** 0.5)


def _given(window: ConvConfig, trans: bool) -> Pair:
    """Rows and columns of what comes out."""
    return (window.img_size_y, window.img_size) if trans else (window.output_y, window.output_x)


def _filter(
    name: str, image: tuple[int, int, int], filters: int, groups: int, pairs: list[Pair], trans: bool
) -> ConvConfig:
    """How a filter moves over an image. ``pairs``, of x and y: its size, steps, zeros around, and dilation.

    The larger image is ``img_size``, the smaller one ``output``: transposed, what comes out is the larger.
    """
    channels, height, width = image
    window, step, zeros, apart = pairs
    if channels % groups or filters % groups:
        raise WrongCall(f"layer {name!r}: {channels} channels and {filters} filters in {groups} groups")
    spans = [(size - 1) * each + 1 for size, each in zip(window, apart, strict=True)]
    sides = list(zip((width, height), spans, step, zeros, strict=True))
    if trans:
        larger, smaller = [back(name, *side) for side in sides], [width, height]
    else:
        larger, smaller = [width, height], [places(name, *side, ceil=False) for side in sides]
    config = ConvConfig(
        filter_size=window[0],
        channels=channels,
        stride=step[0],
        padding=zeros[0],
        groups=groups,
        filter_channels=(filters if trans else channels) // groups,
        output_x=smaller[0],
        img_size=larger[0],
        filter_size_y=window[1],
        padding_y=zeros[1],
        stride_y=step[1],
        output_y=smaller[1],
        img_size_y=larger[1],
    )
    if apart != (1, 1):
        config.dilation, config.dilation_y = apart
    return config
