"""Convolutions: ``paddle.nn.functional.conv2d`` and its family.

It must never compute: each function appends operators to the default program. Guarantee: a convolution along
one axis is one of two axes, the second of size 1.
"""

from __future__ import annotations

from typing import Any

from paddle._program.writing.paddings import paddings_of
from paddle.tensor._append import append
from paddle.tensor.manipulation import squeeze, unsqueeze

__all__ = ["conv1d", "conv2d", "conv2d_transpose"]


def pair(value: Any) -> list[int]:
    """Two numbers, from one or two."""
    return [int(one) for one in value] if isinstance(value, (list, tuple)) else [int(value)] * 2


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
    sizes, algorithm = paddings_of("conv2d", padding, data_format)
    attrs = {
        "strides": pair(stride),
        "paddings": sizes,
        "padding_algorithm": algorithm,
        "dilations": pair(dilation),
        "groups": groups,
        "data_format": data_format,
    }
    inputs = {"Input": x, "Filter": weight}
    found = append("conv2d", inputs, attrs, outputs=("Output",), name=name)
    return _biased(found, bias, data_format)


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
    sizes, algorithm = paddings_of("conv2d_transpose", padding, data_format)
    attrs = {
        "strides": pair(stride),
        "paddings": sizes,
        "padding_algorithm": algorithm,
        "dilations": pair(dilation),
        "groups": groups,
        "output_size": [] if output_size is None else pair(output_size),
        "output_padding": pair(output_padding),
        "data_format": data_format,
    }
    inputs = {"Input": x, "Filter": weight}
    found = append("conv2d_transpose", inputs, attrs, outputs=("Output",), name=name)
    return _biased(found, bias, data_format)


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
    found = conv2d(
        unsqueeze(x, -1),
        unsqueeze(weight, -1),
        bias,
        [_one(stride), 1],
        around,
        [_one(dilation), 1],
        groups,
    )
    return squeeze(found, -1, name)


def _one(value: Any) -> int:
    return int(value[0]) if isinstance(value, (list, tuple)) else int(value)


def _biased(found: Any, bias: Any, data_format: str) -> Any:
    if bias is None:
        return found
    axis = 1 if data_format == "NCHW" else -1
    return append("elementwise_add", {"X": found, "Y": bias}, {"axis": axis})
