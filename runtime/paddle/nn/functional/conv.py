"""Convolutions: ``paddle.nn.functional.conv2d`` and its family.

It must never compute: each function appends operators to the default program. Guarantee: a convolution along
one axis is one of two axes, the second of size 1.
"""

from __future__ import annotations

from typing import Any

from paddle._program.errors import BadArgument
from paddle._program.writing.layer_helper import LayerHelper
from paddle._program.writing.paddings import paddings_of
from paddle.tensor._append import append
from paddle.tensor.manipulation import squeeze, unsqueeze

__all__ = ["conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose"]

_FIRST = {2: "NCHW", 3: "NCDHW"}
_DEEP = "depthwise_"
"""Before the types, and so the names, of convolutions of images whose every channel is a group: parameters of
the layers that follow are counted after these."""


def sides(value: Any, axes: int = 2) -> list[int]:
    """A number for each axis, from one or from these."""
    return [int(one) for one in value] if isinstance(value, (list, tuple)) else [int(value)] * axes


def axes_of(function: str, data_format: str, axes: int) -> int:
    """Where the channels are; refuses what is no format of images, or of volumes."""
    first = _FIRST[axes]
    last = f"{first[0]}{first[2:]}C"
    if data_format not in (first, last):
        raise BadArgument(f"{function}: data_format is {first!r} or {last!r}, not {data_format!r}")
    return 1 if data_format == first else -1


def _convolved(
    type: str, x: Any, weight: Any, bias: Any, padding: Any, told: dict[str, Any], name: str | None
) -> Any:
    """Append a convolution over two axes or three. ``told``: its attributes but for the padding."""
    function = type.removeprefix(_DEEP)
    axes = int(function[4])
    channels = axes_of(function, told["data_format"], axes)
    around, algorithm = paddings_of(function, padding, told["data_format"])
    whole = ("groups", "data_format")
    attrs = {key: value if key in whole or value == [] else sides(value, axes) for key, value in told.items()}
    attrs |= {"paddings": around, "padding_algorithm": algorithm}
    name = name or LayerHelper(type).name
    found = append(type, {"Input": x, "Filter": weight}, attrs, outputs=("Output",), name=name)
    if bias is None:
        return found
    return append("elementwise_add", {"X": found, "Y": bias}, {"axis": channels}, name=name)


def _convolved_back(
    type: str,
    x: Any,
    weight: Any,
    bias: Any,
    padding: Any,
    told: dict[str, Any],
    output_size: Any,
    output_padding: Any,
    name: str | None,
) -> Any:
    more = [] if output_padding in (0, None) else output_padding
    if output_size is not None and more and any(sides(more)):
        raise BadArgument(f"{type.removeprefix(_DEEP)}: tell output_size or output_padding, not both")
    told |= {"output_size": [] if output_size is None else output_size, "output_padding": more}
    return _convolved(type, x, weight, bias, padding, told, name)


def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """``x`` (n, channels, height, width) with ``weight`` (filters, channels / groups, height, width)."""
    told = {"strides": stride, "dilations": dilation, "groups": groups, "data_format": data_format}
    channels = x.shape[axes_of("conv2d", data_format, 2)]
    is_deep = channels == groups > 1 and weight.shape[0] % groups == 0
    return _convolved(f"{_DEEP}conv2d" if is_deep else "conv2d", x, weight, bias, padding, told, name)


def conv3d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """``x`` (n, channels, depth, height, width) with ``weight`` (filters, channels / groups, depth, height,
    width)."""
    told = {"strides": stride, "dilations": dilation, "groups": groups, "data_format": data_format}
    return _convolved("conv3d", x, weight, bias, padding, told, name)


def conv2d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    output_size: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """What ``conv2d`` with ``weight`` (channels, filters / groups, height, width) has as its gradient."""
    told = {"strides": stride, "dilations": dilation, "groups": groups, "data_format": data_format}
    channels = x.shape[axes_of("conv2d_transpose", data_format, 2)]
    is_deep = channels == groups > 1 and weight.shape[1] == 1
    type = f"{_DEEP}conv2d_transpose" if is_deep else "conv2d_transpose"
    return _convolved_back(type, x, weight, bias, padding, told, output_size, output_padding, name)


def conv3d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """What ``conv3d`` with ``weight`` (channels, filters / groups, depth, height, width) has as its
    gradient."""
    told = {"strides": stride, "dilations": dilation, "groups": groups, "data_format": data_format}
    type = "conv3d_transpose"
    return _convolved_back(type, x, weight, bias, padding, told, output_size, output_padding, name)


def conv1d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """``x`` (n, channels, length) with ``weight`` (filters, channels / groups, length)."""
    around = padding if isinstance(padding, str) else [_one(padding), 0]
    if data_format == "NLC":
        from paddle.tensor.manipulation import transpose

        found = conv1d(transpose(x, [0, 2, 1]), weight, bias, stride, padding, dilation, groups)
        return transpose(found, [0, 2, 1])
    told = {"strides": [_one(stride), 1], "dilations": [_one(dilation), 1], "groups": groups}
    told["data_format"] = "NCHW"
    found = _convolved("conv2d", unsqueeze(x, -1), unsqueeze(weight, -1), bias, around, told, None)
    return squeeze(found, -1, name)


def conv1d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """What ``conv1d`` with ``weight`` (channels, filters / groups, length) has as its gradient."""
    from paddle.tensor.manipulation import transpose

    told = None if output_size is None else [_one(output_size), 1]
    found = conv2d_transpose(
        unsqueeze(transpose(x, [0, 2, 1]) if data_format == "NLC" else x, -1),
        unsqueeze(weight, -1),
        bias,
        [_one(stride), 1],
        padding if isinstance(padding, str) else [_one(padding), 0],
        [_one(output_padding), 0],
        [_one(dilation), 1],
        groups,
        told,
    )
    line = squeeze(found, -1, name)
    return transpose(line, [0, 2, 1]) if data_format == "NLC" else line


def _one(value: Any) -> int:
    return int(value[0]) if isinstance(value, (list, tuple)) else int(value)
