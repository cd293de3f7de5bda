"""Images: a row of an image layer is its channels, one after another, each row by row of pixels.

They must never know how they are computed. Guarantee: sizes of images follow from layer to layer as in the
original, where nothing is given: a layer without height and width is square.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt, prod

from paddle.v2._config import ImageConfig, PoolConfig
from paddle.v2._draft import Draft, dense, listed
from paddle.v2._errors import WrongCall
from paddle.v2.activation import BaseActivation, Relu
from paddle.v2.attr import ExtraLayerAttribute, ParameterAttribute
from paddle.v2.config_base import Layer, default_name
from paddle.v2.pooling import Avg, BasePoolingType, CudnnAvg, CudnnAvgInclPad, CudnnMax, Max, MaxWithMask

Bias = ParameterAttribute | bool | None
Extra = ExtraLayerAttribute | None
Side = int | Sequence[int]
Pair = tuple[int, int]


def img_pool(
    input: Layer,
    pool_size: int,
    name: str | None = None,
    num_channels: int | None = None,
    pool_type: BasePoolingType | None = None,
    stride: int = 1,
    padding: int = 0,
    layer_attr: Extra = None,
    pool_size_y: int | None = None,
    stride_y: int | None = None,
    padding_y: int | None = None,
    ceil_mode: bool = True,
    exclude_mode: bool | None = None,
) -> Layer:
    """The greatest or the mean of the pixels under a window that moves over each channel.

    ``ceil_mode``: it also takes a last place where it sticks out. ``exclude_mode``: means are of pixels only,
    not of zeros around the image, if it is not False. With ``MaxWithMask`` it also says where its pixels were
    taken from, to ``upsample``.
    """
    name = name or default_name("pool")
    pool_type = Max() if pool_type is None else pool_type
    if isinstance(pool_type, MaxWithMask):
        kind = pool_type.name
    elif isinstance(pool_type, Max | CudnnMax):
        kind = "max-projection"
    elif isinstance(pool_type, CudnnAvg | CudnnAvgInclPad) or type(pool_type) is Avg:
        kind = "avg-projection"
    else:
        raise WrongCall(f"layer {name!r}: images are pooled by Max or Avg, not {pool_type!r}")
    (source,) = listed(name, input)
    image = image_of(name, dense(name, source), num_channels)
    sides = ((pool_size, pool_size_y), (stride, stride_y), (padding, padding_y))
    window = _pool(name, image, *(both(name, *side) for side in sides), ceil=ceil_mode)
    window.pool_type = kind
    window.exclude_mode = exclude_mode is not False and not isinstance(pool_type, CudnnAvgInclPad)
    rows, columns = window.output_y, window.output_x
    draft = Draft("pool", name, size=image[0] * rows * columns, layer_attr=layer_attr)
    draft.read(source)
    draft.config.inputs[0].pool_conf = window
    layer = draft.done(height=rows, width=columns)
    layer.num_filters = image[0]
    return layer


def _pool(
    name: str, image: tuple[int, int, int], window: Pair, step: Pair, zeros: Pair, *, ceil: bool
) -> PoolConfig:
    """How a window moves over an image. Pairs are of x and y."""
    channels, height, width = image
    return PoolConfig(
        channels=channels,
        size_x=window[0],
        stride=step[0],
        output_x=places(name, width, window[0], step[0], zeros[0], ceil=ceil),
        img_size=width,
        padding=zeros[0],
        size_y=window[1],
        stride_y=step[1],
        output_y=places(name, height, window[1], step[1], zeros[1], ceil=ceil),
        img_size_y=height,
        padding_y=zeros[1],
    )


def batch_norm(
    input: Layer,
    act: BaseActivation | None = None,
    name: str | None = None,
    img3D: bool = False,
    num_channels: int | None = None,
    bias_attr: Bias = None,
    param_attr: ParameterAttribute | None = None,
    layer_attr: Extra = None,
    batch_norm_type: str | None = None,
    epsilon: float = 1e-5,
    moving_average_fraction: float = 0.9,
    use_global_stats: bool | None = None,
    mean_var_names: Sequence[str] | None = None,
) -> Layer:
    """Each channel with mean 0 and variance 1 over the batch, times a weight, plus a bias; then act or Relu.

    ``img3D`` is the original's: images of three dimensions are told by their layer. A test takes the mean and
    variance that training has kept; ``use_global_stats``: always, or never. They
    are two parameters that are not learned, moved by 1 - ``moving_average_fraction`` towards each batch's.
    """
    name = name or default_name("batch_norm")
    (source,) = listed(name, input)
    channels = num_channels or source.num_filters or dense(name, source).size
    if source.size % channels:
        raise WrongCall(f"layer {name!r}: {source.size} columns are no {channels} channels")
    draft = Draft("batch_norm", name, size=source.size, act=act or Relu(), layer_attr=layer_attr)
    weight = param_attr or ParameterAttribute(initial_mean=1.0, initial_std=0.0)
    draft.read(source, weight, [1, channels], std=channels**-0.5)
    for kept in mean_var_names or (None, None):
        still = ParameterAttribute(name=kept, initial_mean=0.0, initial_std=0.0, is_static=True)
        draft.read(source, still, [1, channels])
    draft.config.inputs[0].image_conf = ImageConfig(channels=channels)
    draft.bias(bias_attr, by_default=True, dims=[1, channels])
    given = {} if use_global_stats is None else {"use_global_stats": bool(use_global_stats)}
    layer = draft.done(moving_average_fraction=moving_average_fraction, epsilon=epsilon, **given)
    layer.num_filters = channels
    for side in ("height", "width", "depth"):
        if source.config.HasField(side):
            setattr(layer.config, side, getattr(source.config, side))
    return layer


def image_of(name: str, source: Layer, num_channels: int | None) -> tuple[int, int, int]:
    """Channels, height and width of what a layer gives."""
    channels = channels_of(name, source, num_channels)
    pixels, rest = divmod(source.size, channels)
    width = int(source.config.width) or isqrt(pixels)
    height = int(source.config.height) or pixels // max(width, 1)
    if rest or prod((width, height)) != pixels:
        raise WrongCall(
            f"layer {name!r}: {source.size} columns of {source!r} are no {channels} channels of {height} x "
            f"{width} pixels: give its data layer height and width"
        )
    return channels, height, width


def channels_of(name: str, source: Layer, num_channels: int | None) -> int:
    """How many channels a layer has: as said, as the layer knows, or as its height and width leave."""
    voxels = source.height * source.width * max(source.depth, 1)
    channels = num_channels or source.num_filters or (source.size // voxels if voxels else 0)
    if not channels:
        raise WrongCall(
            f"layer {name!r}: say how many channels {source!r} has, by num_channels or by height and width "
            "of its data layer"
        )
    return channels


def both(name: str, x: Side, y: int | None) -> tuple[int, int]:
    """What was given for x and y."""
    if isinstance(x, Sequence):
        if len(x) != 2:
            raise WrongCall(f"layer {name!r}: {x!r} are not two numbers, of x and of y")
        return int(x[0]), int(x[1] if y is None else y)
    return int(x), int(x if y is None else y)


def places(name: str, size: int, window: int, step: int, zeros: int, *, ceil: bool) -> int:
    """How many places a window takes along a side; with ``ceil`` one larger than it may stick out, too."""
    room = size + 2 * zeros - window
    found = (-(-room // step) if ceil else room // step) + 1 if step >= 1 else 0
    if found < 1:
        raise WrongCall(f"layer {name!r}: a window of {window} by steps of {step} fits no {size} pixels")
    return found


def back(name: str, places: int, span: int, step: int, zeros: int) -> int:
    """How many pixels a window takes so many places of."""
    pixels = (places - 1) * step + span - 2 * zeros
    if pixels < 1:
        raise WrongCall(
            f"layer {name!r}: {places} places of a window of {span} leave no pixel of {zeros} zeros"
        )
    return pixels
