"""Layers of images, (samples, channels, height, width), or with the channels last where these are NHWC."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from paddle._program.description.dtypes import VarType
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument
from paddle._program.writing.initializer import Normal
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.paddings import paddings_of
from paddle.fluid.layers.appending import appended, several, sizes_of

__all__ = [
    "adaptive_pool2d",
    "conv2d",
    "conv2d_transpose",
    "image_resize",
    "lrn",
    "maxout",
    "pool2d",
    "resize_bilinear",
    "resize_nearest",
]

Sides = int | Sequence[int]


def _pair(given: Sides) -> list[int]:
    return [given, given] if isinstance(given, int) else [int(each) for each in given]


def _channels(layer: str, input: Variable, data_format: str) -> int:
    """How many channels an image has."""
    if data_format not in ("NCHW", "NHWC"):
        raise BadArgument(f"{layer}: data_format is 'NCHW' or 'NHWC', not {data_format!r}")
    return int(input.shape[1 if data_format == "NCHW" else 3])


def _biased(helper: LayerHelper, out: Variable, data_format: str) -> Variable:
    axis = 1 if data_format == "NCHW" else 3
    return helper.append_activation(helper.append_bias_op(out, dim_start=axis, dim_end=axis + 1))


def _padding(layer: str, given: Any, data_format: str) -> dict[str, Any]:
    """Numbers of pixels, or the name of a way to find them."""
    sides, way = paddings_of(layer, given, data_format)
    return {"paddings": sides, "padding_algorithm": way}


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
    channels = _channels("conv2d", input, data_format)
    is_deep = channels == groups and num_filters % channels == 0 and not use_cudnn
    type, parts = "depthwise_conv2d" if is_deep else "conv2d", groups or 1
    helper = LayerHelper(type, **arguments)
    if channels % parts or num_filters % parts:
        raise BadArgument(
            f"conv2d: {channels} channels and {num_filters} filters are not {parts} equal groups"
        )
    window = _pair(filter_size)
    # as many numbers as reach one output, whatever the group
    spread = Normal(0.0, (2.0 / (prod(window) * channels)) ** 0.5, 0)
    shape = [num_filters, channels // parts, *window]
    weights = helper.create_parameter(helper.param_attr, shape, input.dtype, default_initializer=spread)
    around = _padding("conv2d", padding, data_format)
    attrs = {"strides": _pair(stride), "dilations": _pair(dilation), "groups": parts, **around}
    out = helper.create_variable_for_type_inference(input.dtype)
    attrs |= {"data_format": data_format, "use_cudnn": use_cudnn}
    helper.append_op(type, {"Input": [input], "Filter": [weights]}, {"Output": [out]}, attrs)
    return _biased(helper, out, data_format)


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
    channels, first = _channels("conv2d_transpose", input, data_format), 2 if data_format == "NCHW" else 1
    is_deep = channels == groups == num_filters and not use_cudnn
    type, parts = "depthwise_conv2d_transpose" if is_deep else "conv2d_transpose", groups or 1
    helper = LayerHelper(type, **arguments)
    around = _padding("conv2d_transpose", padding, data_format)
    moving = {"strides": _pair(stride), "dilations": _pair(dilation), **around}
    wanted = [] if output_size is None else _pair(output_size)
    if filter_size is None:
        if not wanted:
            raise BadArgument("conv2d_transpose: tell output_size or filter_size")
        known, zeros = input.shape[first : first + 2], moving["paddings"]
        both = [sum(zeros[:2]), sum(zeros[2:])] if len(zeros) == 4 else [2 * each for each in zeros]
        sides = zip(wanted, known, moving["strides"], both, moving["dilations"], strict=True)
        window = [(out - (size - 1) * step + pads - 1) // apart + 1 for out, size, step, pads, apart in sides]
    else:
        window = _pair(filter_size)
    shape = [channels, num_filters // parts, *window]
    weights = helper.create_parameter(helper.param_attr, shape, input.dtype)
    attrs = {**moving, "groups": parts, "output_size": wanted, "data_format": data_format}
    out = helper.create_variable_for_type_inference(input.dtype)
    helper.append_op(type, {"Input": [input], "Filter": [weights]}, {"Output": [out]}, attrs)
    return _biased(helper, out, data_format)


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
    if pool_size == -1 and not global_pooling:
        raise BadArgument("pool2d: pool_size is told unless global_pooling")
    if pool_type not in ("max", "avg"):
        raise BadArgument(f"pool2d: pool_type is 'max' or 'avg', not {pool_type!r}")
    if ceil_mode and isinstance(pool_padding, str) and pool_padding.upper() == "VALID":
        raise BadArgument(
            "pool2d: ceil_mode has windows stick out, which the padding 'VALID' does not: tell one"
        )
    _channels("pool2d", input, data_format)
    attrs = {
        "pooling_type": pool_type,
        "ksize": _pair(pool_size),
        "global_pooling": global_pooling,
        "strides": _pair(pool_stride),
        **_padding("pool2d", pool_padding, data_format),
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
    if pool_type not in ("max", "avg"):
        raise BadArgument(f"adaptive_pool2d: pool_type is 'max' or 'avg', not {pool_type!r}")
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
    _channels("lrn", input, data_format)
    attrs = {"n": n, "k": k, "alpha": alpha, "beta": beta, "data_format": data_format}
    return appended("lrn", {"X": input}, attrs, name=name)


def maxout(x: Variable, groups: int, name: str | None = None, axis: int = 1) -> Variable:
    """The greatest of every ``groups`` channels."""
    return appended("maxout", {"X": x}, {"groups": groups, "axis": axis}, name=name)


def image_resize(
    input: Variable,
    out_shape: Variable | Sequence[int] | None = None,
    scale: float | None = None,
    name: str | None = None,
    resample: str = "BILINEAR",
    actual_shape: Variable | None = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCHW",
) -> Variable:
    """Images of another size, between pixels or by the nearest."""
    types = {"BILINEAR": "bilinear_interp", "NEAREST": "nearest_interp"}
    if resample not in types:
        raise BadArgument(
            f"image_resize: resample is one of {sorted(types)} in this release, not {resample!r}"
        )
    if out_shape is None and scale is None:
        raise BadArgument("image_resize: tell out_shape or scale")
    if isinstance(scale, Variable):
        raise BadArgument("image_resize: a scale that is computed is not in this release: tell out_shape")
    told = out_shape if actual_shape is None else actual_shape
    inputs, sizes = ({}, [-1, -1]) if told is None else sizes_of(told, whole="OutSize", each="SizeTensor")
    attrs = {
        "out_h": sizes[0] if sizes else -1,
        "out_w": sizes[1] if sizes else -1,
        "scale": 0.0 if out_shape is not None or scale is None else float(scale),
        "interp_method": resample.lower(),
        "align_corners": align_corners,
        "align_mode": align_mode,
        "data_layout": data_format,
    }
    _channels("image_resize", input, data_format)
    return appended(types[resample], {"X": input, **inputs}, attrs, name=name)


def resize_bilinear(
    input: Variable,
    out_shape: Variable | Sequence[int] | None = None,
    scale: float | None = None,
    name: str | None = None,
    actual_shape: Variable | None = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCHW",
) -> Variable:
    """Images of another size, between pixels."""
    told = (actual_shape, align_corners, align_mode, data_format)
    return image_resize(input, out_shape, scale, name, "BILINEAR", *told)


def resize_nearest(
    input: Variable,
    out_shape: Variable | Sequence[int] | None = None,
    scale: float | None = None,
    name: str | None = None,
    actual_shape: Variable | None = None,
    align_corners: bool = True,
    data_format: str = "NCHW",
) -> Variable:
    """Images of another size, by the nearest pixel."""
    told = (actual_shape, align_corners, 1, data_format)
    return image_resize(input, out_shape, scale, name, "NEAREST", *told)
