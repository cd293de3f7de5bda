"""Windows, places and chance as layers: ``paddle.nn.Unfold``, ``MaxUnPool2D``, ``RReLU`` and others.

They must never compute: ``forward`` calls the function of ``nn.functional`` of the same meaning.
"""

from __future__ import annotations

from typing import Any

from paddle.nn import functional
from paddle.nn.layer.activation import layer_of
from paddle.nn.layer.layers import Layer

__all__ = [
    *("AlphaDropout", "Dropout3D", "Fold", "LocalResponseNorm", "MaxUnPool1D", "MaxUnPool2D"),
    *("MaxUnPool3D", "RReLU", "Unfold"),
]

_SIZES = ("kernel_sizes", "dilations", "paddings", "strides")
_WINDOW = "kernel_size=kernel_sizes dilation=dilations padding=paddings stride=strides"
_POOL = ("kernel_size", "stride", "padding", "data_format", "output_size")

Unfold = layer_of("Unfold", "unfold", *_SIZES, module=__name__, shows=_WINDOW)
Fold = layer_of("Fold", "fold", "output_sizes", *_SIZES, module=__name__, shows=_WINDOW)
LocalResponseNorm = layer_of(
    "LocalResponseNorm",
    "local_response_norm",
    *("size", "alpha", "beta", "k", "data_format"),
    module=__name__,
    shows="size alpha beta k",
)
MaxUnPool1D = layer_of("MaxUnPool1D", "max_unpool1d", *_POOL, module=__name__, shows="output_size")
MaxUnPool2D = layer_of("MaxUnPool2D", "max_unpool2d", *_POOL, module=__name__, shows="output_size")
MaxUnPool3D = layer_of("MaxUnPool3D", "max_unpool3d", *_POOL, module=__name__, shows="output_size")


class _OfChance(Layer):
    _function = ""

    def __init__(self, *given: Any) -> None:
        super().__init__()
        self._given = given

    def forward(self, x: Any) -> Any:
        """Append the function."""
        return getattr(functional, self._function)(x, *self._given, training=self.training)


class AlphaDropout(_OfChance):
    """See ``functional.alpha_dropout``."""

    _function = "alpha_dropout"
    _shown = "p={0._given[0]}"

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        super().__init__(p)


class Dropout3D(Layer):
    """See ``functional.dropout3d``."""

    _shown = "p={0._p}, data_format={0._format}"

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None) -> None:
        super().__init__()
        self._p, self._format = p, data_format

    def forward(self, x: Any) -> Any:
        """Append the function."""
        return functional.dropout3d(x, self._p, self.training, self._format)


class RReLU(_OfChance):
    """See ``functional.rrelu``."""

    _function = "rrelu"
    _shown = "lower={0._given[0]}, upper={0._given[1]}, training={0.training}, dtype=float32"

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, name: str | None = None) -> None:
        super().__init__(lower, upper)
