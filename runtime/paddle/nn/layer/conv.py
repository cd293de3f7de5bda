"""Convolutions as layers: ``paddle.nn.Conv2D`` and its family.

They must never compute: ``forward`` calls the function of ``nn.functional`` of the same meaning. Guarantee:
filters are drawn with variance 2 / fan in unless an initializer is given.
"""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

from paddle.nn import functional
from paddle.nn.functional.conv import sides
from paddle.nn.layer.layers import Layer

__all__ = ["Conv1D", "Conv1DTranspose", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose"]

_FORMATS = {1: "NCL", 2: "NCHW", 3: "NCDHW"}


class _Conv(Layer):
    _function = ""
    _axes = 2
    _transposed = False

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        padding_mode: str = "zeros",
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "",
        **others: Any,
    ) -> None:
        super().__init__()
        self._mode, self._around = padding_mode, _around(padding_mode, padding, self._axes)
        size = sides(kernel_size, self._axes)
        self._sizes = (in_channels, out_channels, size, padding)
        channels = (
            (in_channels, out_channels // groups)
            if self._transposed
            else (
                out_channels,
                in_channels // groups,
            )
        )
        initializer = None if self._transposed else _he(in_channels * prod(size))
        self.weight = self.create_parameter([*channels, *size], weight_attr, default_initializer=initializer)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)
        self._given = {
            "stride": stride,
            "padding": 0 if self._around else padding,
            "dilation": dilation,
            "groups": groups,
            "data_format": data_format or _FORMATS[self._axes],
            **others,
        }

    def extra_repr(self) -> str:
        """Its sizes, and what is not as usual."""
        given, once = self._given, [1] * self._axes
        pairs = {
            "stride": (sides(given["stride"], self._axes), once),
            "padding": (self._sizes[3], 0),
            "padding_mode": (self._mode, "zeros"),
            "output_padding": (given.get("output_padding", 0), 0),
            "dilation": (sides(given["dilation"], self._axes), once),
            "groups": (given["groups"], 1),
            "data_format": (given["data_format"], None),
        }
        told = "".join(f", {name}={value}" for name, (value, usual) in pairs.items() if value != usual)
        return f"{self._sizes[0]}, {self._sizes[1]}, kernel_size={self._sizes[2]}{told}"

    def forward(self, x: Any, **others: Any) -> Any:
        """Append the convolution."""
        if self._around:
            x = functional.pad(x, self._around, self._mode, data_format=self._given["data_format"])
        return getattr(functional, self._function)(x, self.weight, self.bias, **self._given, **others)


class Conv2D(_Conv):
    """See ``functional.conv2d``."""

    _function = "conv2d"


class Conv1D(_Conv):
    """See ``functional.conv1d``."""

    _function = "conv1d"
    _axes = 1


class Conv3D(_Conv):
    """See ``functional.conv3d``."""

    _function = "conv3d"
    _axes = 3


class _Transposed(_Conv):
    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "",
    ) -> None:
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            "zeros",
            weight_attr,
            bias_attr,
            data_format,
            output_padding=output_padding,
        )

    def forward(self, x: Any, output_size: Any = None) -> Any:
        """Append the convolution."""
        return super().forward(x, output_size=output_size)


class Conv1DTranspose(_Transposed):
    """See ``functional.conv1d_transpose``."""

    _function = "conv1d_transpose"
    _axes = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        dilation: Any = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCL",
    ) -> None:
        windows = (kernel_size, stride, padding, output_padding, dilation, groups)
        super().__init__(in_channels, out_channels, *windows, weight_attr, bias_attr, data_format)


class Conv2DTranspose(_Transposed):
    """See ``functional.conv2d_transpose``."""

    _function = "conv2d_transpose"


class Conv3DTranspose(_Transposed):
    """See ``functional.conv3d_transpose``."""

    _function = "conv3d_transpose"
    _axes = 3


def _around(mode: str, padding: Any, axes: int) -> list[int]:
    """What ``functional.pad`` puts around an image before it is convolved, nothing where that pads zeros."""
    if mode not in ("zeros", "reflect", "replicate", "circular"):
        raise ValueError(f"padding_mode is zeros, reflect, replicate or circular, and not {mode!r}")
    if mode == "zeros":
        return []
    ends = sides(padding, axes) if not isinstance(padding, str) else []
    if len(ends) != axes:
        raise ValueError(f"padding_mode {mode!r} takes one padding, or one for each axis, not {padding!r}")
    return [end for size in reversed(ends) for end in (size, size)]


def _he(fan_in: int) -> Any:
    from paddle.nn.initializer import Normal

    return Normal(0.0, sqrt(2.0 / fan_in))
