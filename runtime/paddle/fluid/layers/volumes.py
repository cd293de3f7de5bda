"""Layers of volumes, (samples, channels, depth, height, width), or with the channels last, NDHWC."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from paddle._absent import NotInThisRelease
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Normal
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.paddings import paddings_of
from paddle.fluid.layers.appending import appended

__all__ = ["adaptive_pool3d", "conv3d", "conv3d_transpose", "pool3d"]

Sides = int | Sequence[int]


def _three(layer: str, name: str, given: Sides) -> list[int]:
    sides = [given] * 3 if isinstance(given, int) else [int(each) for each in given]
    if len(sides) != 3:
        raise BadArgument(f"{layer}: {name} is one number or three, not {given!r}")
    return sides


def _channel_axis(layer: str, data_format: str) -> int:
    if data_format not in ("NCDHW", "NDHWC"):
        raise BadArgument(f"{layer}: data_format is 'NCDHW' or 'NDHWC', not {data_format!r}")
    return 1 if data_format == "NCDHW" else 4


def _around(layer: str, given: Any, data_format: str) -> dict[str, Any]:
    sides, way = paddings_of(layer, given, data_format)
    return {"paddings": sides, "padding_algorithm": way}


def _biased(helper: LayerHelper, out: Variable, axis: int) -> Variable:
    return helper.append_activation(helper.append_bias_op(out, dim_start=axis, dim_end=axis + 1))


def conv3d(
    input: Variable,
    num_filters: int,
    filter_size: Sides,
    stride: Sides = 1,
    padding: Any = 0,
    dilation: Sides = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Variable:
    """What ``num_filters`` filters see of each window of a volume, with a bias for each filter."""
    helper = LayerHelper(
        "conv3d", input=input, param_attr=param_attr, bias_attr=bias_attr, act=act, name=name
    )
    axis, parts = _channel_axis("conv3d", data_format), groups or 1
    channels, window = int(input.shape[axis]), _three("conv3d", "filter_size", filter_size)
    if channels % parts or num_filters % parts:
        raise BadArgument(
            f"conv3d: {channels} channels and {num_filters} filters are not {parts} equal groups"
        )
    spread = Normal(0.0, (2.0 / (prod(window) * channels)) ** 0.5, 0)
    shape = [num_filters, channels // parts, *window]
    weights = helper.create_parameter(helper.param_attr, shape, input.dtype, default_initializer=spread)
    attrs = {
        "strides": _three("conv3d", "stride", stride),
        "dilations": _three("conv3d", "dilation", dilation),
    }
    attrs |= {"groups": parts, "data_format": data_format, "use_cudnn": use_cudnn}
    attrs |= _around("conv3d", padding, data_format)
    out = helper.create_variable_for_type_inference(input.dtype)
    helper.append_op("conv3d", {"Input": [input], "Filter": [weights]}, {"Output": [out]}, attrs)
    return _biased(helper, out, axis)


def conv3d_transpose(
    input: Variable,
    num_filters: int,
    output_size: Sides | None = None,
    filter_size: Sides | None = None,
    padding: Any = 0,
    stride: Sides = 1,
    dilation: Sides = 1,
    groups: int | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
    use_cudnn: bool = True,
    act: str | None = None,
    name: str | None = None,
    data_format: str = "NCDHW",
) -> Variable:
    """Each voxel times a filter, added up where the filters overlap; the filter's size follows from
    ``output_size`` where only that is told."""
    layer = "conv3d_transpose"
    helper = LayerHelper(layer, input=input, param_attr=param_attr, bias_attr=bias_attr, act=act, name=name)
    axis, parts = _channel_axis(layer, data_format), groups or 1
    steps, apart = _three(layer, "stride", stride), _three(layer, "dilation", dilation)
    around = _around(layer, padding, data_format)
    wanted = [] if output_size is None else _three(layer, "output_size", output_size)
    if filter_size is not None:
        window = _three(layer, "filter_size", filter_size)
    elif wanted:
        zeros = around["paddings"]
        both = (
            [2 * each for each in zeros]
            if len(zeros) == 3
            else [a + b for a, b in zip(zeros[::2], zeros[1::2], strict=True)]
        )
        sizes = [size for at, size in enumerate(input.shape) if at not in (0, axis)]
        sides = zip(wanted, sizes, steps, both, apart, strict=True)
        window = [(out - (size - 1) * step + pads - 1) // by + 1 for out, size, step, pads, by in sides]
    else:
        raise BadArgument(f"{layer}: tell output_size or filter_size")
    shape = [int(input.shape[axis]), num_filters // parts, *window]
    weights = helper.create_parameter(helper.param_attr, shape, input.dtype)
    attrs = {"strides": steps, "dilations": apart, "groups": parts, "output_size": wanted}
    attrs |= {"data_format": data_format, "use_cudnn": use_cudnn, **around}
    out = helper.create_variable_for_type_inference(input.dtype)
    helper.append_op(layer, {"Input": [input], "Filter": [weights]}, {"Output": [out]}, attrs)
    return _biased(helper, out, axis)


def pool3d(
    input: Variable,
    pool_size: Sides = -1,
    pool_type: str = "max",
    pool_stride: Sides = 1,
    pool_padding: Any = 0,
    global_pooling: bool = False,
    use_cudnn: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
    exclusive: bool = True,
    data_format: str = "NCDHW",
) -> Variable:
    """The greatest or the mean of each window, or of the whole volume."""
    if pool_size == -1 and not global_pooling:
        raise BadArgument("pool3d: pool_size is told unless global_pooling")
    _check_type("pool3d", pool_type)
    if ceil_mode and isinstance(pool_padding, str) and pool_padding.upper() == "VALID":
        raise BadArgument("pool3d: ceil_mode has windows stick out, which the padding 'VALID' does not")
    _channel_axis("pool3d", data_format)
    attrs = {
        "pooling_type": pool_type,
        "ksize": _three("pool3d", "pool_size", pool_size),
        "global_pooling": global_pooling,
        "strides": _three("pool3d", "pool_stride", pool_stride),
        **_around("pool3d", pool_padding, data_format),
        "use_cudnn": use_cudnn,
        "ceil_mode": ceil_mode,
        "exclusive": exclusive,
        "data_format": data_format,
    }
    return appended("pool3d", {"X": input}, attrs, name=name)


def adaptive_pool3d(
    input: Variable,
    pool_size: Sides,
    pool_type: str = "max",
    require_index: bool = False,
    name: str | None = None,
) -> Variable:
    """The greatest or the mean of each of so many parts of a volume."""
    _check_type("adaptive_pool3d", pool_type)
    if require_index and pool_type == "avg":
        raise BadArgument("adaptive_pool3d: a mean stands at no index: require_index is of pool_type 'max'")
    if require_index:
        raise NotInThisRelease(
            "adaptive_pool3d(require_index=True) is not in this release: the maxima alone are"
        )
    size = _three("adaptive_pool3d", "pool_size", pool_size)
    return appended(
        "pool3d", {"X": input}, {"pooling_type": pool_type, "ksize": size, "adaptive": True}, name=name
    )


def _check_type(layer: str, pool_type: str) -> None:
    if pool_type not in ("max", "avg"):
        raise BadArgument(f"{layer}: pool_type is 'max' or 'avg', not {pool_type!r}")
