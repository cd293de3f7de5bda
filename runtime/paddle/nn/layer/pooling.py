"""Pooling as layers: ``paddle.nn.MaxPool2D`` and its family.

They must never compute: ``forward`` calls the function of ``nn.functional`` of the same meaning, with the
arguments that the layer was made with.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

from paddle.nn import functional
from paddle.nn.layer.layers import Layer

__all__ = [
    *("AdaptiveAvgPool1D", "AdaptiveAvgPool2D", "AdaptiveAvgPool3D"),
    *("AdaptiveMaxPool1D", "AdaptiveMaxPool2D", "AdaptiveMaxPool3D"),
    *("AvgPool1D", "AvgPool2D", "AvgPool3D", "MaxPool1D", "MaxPool2D", "MaxPool3D"),
]


class _Pool(Layer):
    _function = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        bound = signature(getattr(functional, self._function)).bind(None, *args, **kwargs)
        self._given = {name: value for name, value in bound.arguments.items() if name != "x"}

    def forward(self, x: Any) -> Any:
        """Append the pooling."""
        return getattr(functional, self._function)(x, **self._given)

    def extra_repr(self) -> str:
        """How it pools."""
        names = ("kernel_size", "stride", "padding")
        if "adaptive" in self._function:
            names = ("output_size", "return_mask") if "max" in self._function else ("output_size",)
        usual = {"stride": None, "padding": 0, "return_mask": False}
        return ", ".join(f"{name}={self._given.get(name, usual.get(name))}" for name in names)


class MaxPool2D(_Pool):
    """See ``functional.max_pool2d``, whose arguments but the first it takes."""

    _function = "max_pool2d"


class AvgPool2D(_Pool):
    """See ``functional.avg_pool2d``, whose arguments but the first it takes."""

    _function = "avg_pool2d"


class MaxPool1D(_Pool):
    """See ``functional.max_pool1d``, whose arguments but the first it takes."""

    _function = "max_pool1d"


class AvgPool1D(_Pool):
    """See ``functional.avg_pool1d``, whose arguments but the first it takes."""

    _function = "avg_pool1d"


class AdaptiveAvgPool2D(_Pool):
    """See ``functional.adaptive_avg_pool2d``, whose arguments but the first it takes."""

    _function = "adaptive_avg_pool2d"


class AdaptiveMaxPool2D(_Pool):
    """See ``functional.adaptive_max_pool2d``, whose arguments but the first it takes."""

    _function = "adaptive_max_pool2d"


class AdaptiveAvgPool1D(_Pool):
    """See ``functional.adaptive_avg_pool1d``, whose arguments but the first it takes."""

    _function = "adaptive_avg_pool1d"


class AdaptiveMaxPool1D(_Pool):
    """See ``functional.adaptive_max_pool1d``, whose arguments but the first it takes."""

    _function = "adaptive_max_pool1d"


class MaxPool3D(_Pool):
    """See ``functional.max_pool3d``, whose arguments but the first it takes."""

    _function = "max_pool3d"


class AvgPool3D(_Pool):
    """See ``functional.avg_pool3d``, whose arguments but the first it takes."""

    _function = "avg_pool3d"


class AdaptiveAvgPool3D(_Pool):
    """See ``functional.adaptive_avg_pool3d``, whose arguments but the first it takes."""

    _function = "adaptive_avg_pool3d"


class AdaptiveMaxPool3D(_Pool):
    """See ``functional.adaptive_max_pool3d``, whose arguments but the first it takes."""

    _function = "adaptive_max_pool3d"
