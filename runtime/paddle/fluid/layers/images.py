"""Layers of images, (samples, channels, height, width), or with the channels last where these are NHWC."""

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

__all__ = [
    "adaptive_pool2d",
    "conv2d",
    "conv2d_transpose",
    "lrn",
    "maxout",
    "pool2d",
    "temporal_shift",
]

_FORMATS = ("NCHW", "NHWC")


def _pair(given: Sides) -> list[int]:
    return [given, given] if isinstance(given, int) else [int(each) for each in given]


def conv2d(
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
    data_format: str = "NCHW",
    use_mkldnn: bool = False,
) -> Variable:
    """What ``num_filters`` filters see of each window, with a bias for each filter."""
    arguments = {"input": input, "param_attr": param_attr, "bias_attr": bias_attr, "act": act, "name": name}
    axis = channel_axis("conv2d", data_format, *_FORMATS)
    is_deep = not use_cudnn and input.shape[axis] == groups and num_filters % groups == 0
    type = "depthwise_conv2d" if is_deep else "conv2d"
    attrs = {"strides": _pair(stride), "dilations": _pair(dilation), "groups": groups or 1}
    attrs |= around("conv2d", padding, data_format)
    attrs |= {"data_format": data_format, "use_cudnn": use_cudnn}
    helper = LayerHelper(type, **arguments)
    return convolved(helper, type, input, axis, num_filters, _pair(filter_size), attrs)


def conv2d_transpose(
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
    data_format: str = "NCHW",
) -> Variable:
    """Each pixel times a filter, added up where the filters overlap; the filter's size follows from
    ``output_size`` where only that is told."""
    arguments = {"input": input, "param_attr": param_attr, "bias_attr": bias_attr, "act": act, "name": name}
    axis = channel_axis("conv2d_transpose", data_format, *_FORMATS)
    is_deep = not use_cudnn and input.shape[axis] == groups == num_filters
    type = "depthwise_conv2d_transpose" if is_deep else "conv2d_transpose"
    attrs = {"strides": _pair(stride), "dilations": _pair(dilation)}
    attrs |= {**around("conv2d_transpose", padding, data_format), "groups": groups or 1}
    attrs |= {"output_size": [] if output_size is None else _pair(output_size), "data_format": data_format}
    helper = LayerHelper(type, **arguments)
    window = None if filter_size is None else _pair(filter_size)
    return convolved_back(helper, type, input, axis, num_filters, window, attrs)


def pool2d(
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
    data_format: str = "NCHW",
    use_mkldnn: bool = False,
) -> Variable:
    """The greatest or the mean of each window, or of the whole image."""
    check_moving("pool2d", pool_size, pool_type, pool_padding, global_pooling, ceil_mode)
    channel_axis("pool2d", data_format, *_FORMATS)
    attrs = {
        "pooling_type": pool_type,
        "ksize": _pair(pool_size),
        "global_pooling": global_pooling,
        "strides": _pair(pool_stride),
        **around("pool2d", pool_padding, data_format),
        "use_cudnn": use_cudnn,
        "ceil_mode": ceil_mode,
        "exclusive": exclusive,
        "data_format": data_format,
    }
    return appended("pool2d", {"X": input}, attrs, name=name)


def adaptive_pool2d(
    input: Variable,
    pool_size: Sides,
    pool_type: str = "max",
    require_index: bool = False,
    name: str | None = None,
) -> Variable | tuple[Variable, Variable]:
    """The greatest or the mean of each of so many parts of an image; with ``require_index`` also which pixel
    of its channel the greatest is."""
    check_pooling("adaptive_pool2d", pool_type)
    attrs = {"pooling_type": pool_type, "ksize": _pair(pool_size), "adaptive": True}
    if pool_type == "max":
        outs = {"Out": None, "Mask": VarType.INT32}
        out, mask = several("max_pool2d_with_index", {"X": input}, outs, attrs, name)
        mask.stop_gradient = True
        return (out, mask) if require_index else out
    if require_index:
        raise BadArgument("adaptive_pool2d: a mean stands at no index: require_index is of pool_type 'max'")
    return appended("pool2d", {"X": input}, attrs, name=name)


def lrn(
    input: Variable,
    n: int = 5,
    k: float = 1.0,
    alpha: float = 1e-4,
    beta: float = 0.75,
    name: str | None = None,
    data_format: str = "NCHW",
) -> Variable:
    """Each channel less where those near by are large."""
    channel_axis("lrn", data_format, *_FORMATS)
    attrs = {"n": n, "k": k, "alpha": alpha, "beta": beta, "data_format": data_format}
    found = several("lrn", {"X": input}, {"MidOut": None, "Out": None}, attrs, name)
    found[0].stop_gradient = True
    return found[1]


def maxout(x: Variable, groups: int, name: str | None = None, axis: int = 1) -> Variable:
    """The greatest of every ``groups`` channels."""
    return appended("maxout", {"X": x}, {"groups": groups, "axis": axis}, name=name)


def temporal_shift(x: Variable, seg_num: int, shift_ratio: float = 0.25, name: str | None = None) -> Variable:
    """Of films of ``seg_num`` images each, one after another: the first channels, a share of all, of the
    image before, as many of the image behind, and the others as they are."""
    if not 0 < shift_ratio <= 0.5:
        raise BadArgument(f"temporal_shift: shift_ratio is from 0 to 0.5, not {shift_ratio}")
    return appended("temporal_shift", {"X": x}, {"seg_num": seg_num, "shift_ratio": shift_ratio}, name=name)
