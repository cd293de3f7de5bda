"""Layers of volumes, (samples, channels, depth, height, width), or with the channels last, NDHWC."""

from __future__ import annotations

from typing import Any

from paddle._program.description.dtypes import VarType
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper
from paddle.fluid.layers.appending import appended, several
from paddle.fluid.layers.windows import (
    Sides,
    around,
    channel_axis,
    check_moving,
    check_pooling,
    convolved,
    convolved_back,
)

__all__ = ["adaptive_pool3d", "conv3d", "conv3d_transpose", "pool3d"]

_FORMATS = ("NCDHW", "NDHWC")


def _three(layer: str, name: str, given: Sides) -> list[int]:
    sides = [given] * 3 if isinstance(given, int) else [int(each) for each in given]
    if len(sides) != 3:
        raise BadArgument(f"{layer}: {name} is one number or three, not {given!r}")
    return sides


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
    arguments = {"input": input, "param_attr": param_attr, "bias_attr": bias_attr, "act": act, "name": name}
    axis, window = (
        channel_axis("conv3d", data_format, *_FORMATS),
        _three("conv3d", "filter_size", filter_size),
    )
    attrs = {
        "strides": _three("conv3d", "stride", stride),
        "dilations": _three("conv3d", "dilation", dilation),
        **around("conv3d", padding, data_format),
        "groups": groups or 1,
        "data_format": data_format,
        "use_cudnn": use_cudnn,
    }
    helper = LayerHelper("conv3d", **arguments)
    return convolved(helper, "conv3d", input, axis, num_filters, window, attrs)


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
    arguments = {"input": input, "param_attr": param_attr, "bias_attr": bias_attr, "act": act, "name": name}
    axis = channel_axis(layer, data_format, *_FORMATS)
    attrs = {
        "strides": _three(layer, "stride", stride),
        "dilations": _three(layer, "dilation", dilation),
        **around(layer, padding, data_format),
        "groups": groups or 1,
        "output_size": [] if output_size is None else _three(layer, "output_size", output_size),
        "data_format": data_format,
        "use_cudnn": use_cudnn,
    }
    helper = LayerHelper(layer, **arguments)
    window = None if filter_size is None else _three(layer, "filter_size", filter_size)
    return convolved_back(helper, layer, input, axis, num_filters, window, attrs)


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
    check_moving("pool3d", pool_size, pool_type, pool_padding, global_pooling, ceil_mode)
    channel_axis("pool3d", data_format, *_FORMATS)
    attrs = {
        "pooling_type": pool_type,
        "ksize": _three("pool3d", "pool_size", pool_size),
        "global_pooling": global_pooling,
        "strides": _three("pool3d", "pool_stride", pool_stride),
        **around("pool3d", pool_padding, data_format),
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
) -> Variable | tuple[Variable, Variable]:
    """The greatest or the mean of each of so many parts of a volume; with ``require_index`` also which voxel
    of its channel the greatest is."""
    check_pooling("adaptive_pool3d", pool_type)
    size = _three("adaptive_pool3d", "pool_size", pool_size)
    attrs = {"pooling_type": pool_type, "ksize": size, "adaptive": True}
    if pool_type == "max":
        outs = {"Out": None, "Mask": VarType.INT32}
        out, mask = several("max_pool3d_with_index", {"X": input}, outs, attrs, name)
        mask.stop_gradient = True
        return (out, mask) if require_index else out
    if require_index:
        raise BadArgument("adaptive_pool3d: a mean stands at no index: require_index is of pool_type 'max'")
    return appended("pool3d", {"X": input}, attrs, name=name)
