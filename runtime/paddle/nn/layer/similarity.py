"""Losses of what is near and what is not, and of chances, as layers; and layers that are shuffles.

They must never compute: ``forward`` calls the function of ``nn.functional`` of the same meaning, with the
arguments that the layer was made with.
"""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Any

from paddle.nn import functional
from paddle.nn.layer.activation import layer_of
from paddle.nn.layer.layers import Layer

__all__ = [
    *("Bilinear", "ChannelShuffle", "CosineEmbeddingLoss", "GaussianNLLLoss", "HingeEmbeddingLoss"),
    *("MultiLabelSoftMarginLoss", "MultiMarginLoss", "PairwiseDistance", "PixelShuffle", "PixelUnshuffle"),
    *("PoissonNLLLoss", "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss", "Unflatten"),
    *("Upsample", "UpsamplingBilinear2D", "UpsamplingNearest2D", "ZeroPad2D"),
]

_layer = partial(layer_of, module=__name__)

ChannelShuffle = _layer("ChannelShuffle", "channel_shuffle", "groups", "data_format")
CosineEmbeddingLoss = _layer("CosineEmbeddingLoss", "cosine_embedding_loss", "margin", "reduction")
GaussianNLLLoss = _layer("GaussianNLLLoss", "gaussian_nll_loss", "full", "epsilon", "reduction")
HingeEmbeddingLoss = _layer("HingeEmbeddingLoss", "hinge_embedding_loss", "margin", "reduction")
MultiLabelSoftMarginLoss = _layer(
    "MultiLabelSoftMarginLoss", "multi_label_soft_margin_loss", "weight", "reduction"
)
MultiMarginLoss = _layer("MultiMarginLoss", "multi_margin_loss", "p", "margin", "weight", "reduction")
PairwiseDistance = _layer("PairwiseDistance", "pairwise_distance", "p", "epsilon", "keepdim")
PixelShuffle = _layer("PixelShuffle", "pixel_shuffle", "upscale_factor", "data_format")
PixelUnshuffle = _layer("PixelUnshuffle", "pixel_unshuffle", "downscale_factor", "data_format")
PoissonNLLLoss = _layer("PoissonNLLLoss", "poisson_nll_loss", "log_input", "full", "epsilon", "reduction")
SoftMarginLoss = _layer("SoftMarginLoss", "soft_margin_loss", "reduction")
TripletMarginLoss = _layer(
    "TripletMarginLoss", "triplet_margin_loss", "margin", "p", "epsilon", "swap", "reduction"
)
TripletMarginWithDistanceLoss = _layer(
    "TripletMarginWithDistanceLoss",
    "triplet_margin_with_distance_loss",
    "distance_function",
    "margin",
    "swap",
    "reduction",
)
Upsample = _layer(
    "Upsample", "upsample", "size", "scale_factor", "mode", "align_corners", "align_mode", "data_format"
)


class UpsamplingNearest2D(Layer):
    """See ``functional.upsample`` in mode "nearest"."""

    _mode, _corners = "nearest", False

    def __init__(
        self, size: Any = None, scale_factor: Any = None, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__()
        self._size, self._factor, self._format = size, scale_factor, data_format

    def forward(self, x: Any) -> Any:
        """Append the function."""
        return functional.upsample(
            x, self._size, self._factor, self._mode, self._corners, data_format=self._format
        )


class UpsamplingBilinear2D(UpsamplingNearest2D):
    """See ``functional.upsample`` in mode "bilinear", the corners in their places."""

    _mode, _corners = "bilinear", True


class ZeroPad2D(Layer):
    """See ``functional.zeropad2d``."""

    def __init__(self, padding: Any, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self._pad = [padding] * 4 if isinstance(padding, int) else list(padding)
        self._format = data_format

    def forward(self, x: Any) -> Any:
        """Append the function."""
        return functional.zeropad2d(x, self._pad, self._format)


class Unflatten(Layer):
    """An axis as several; see ``paddle.unflatten``."""

    def __init__(self, axis: int, shape: Any, name: str | None = None) -> None:
        super().__init__()
        self._axis, self._shape = axis, shape

    def forward(self, x: Any) -> Any:
        """Append the function."""
        from paddle.tensor.placing import unflatten

        return unflatten(x, self._axis, self._shape)


class Bilinear(Layer):
    """x1 @ weight[i] @ x2 + bias for each i of ``out_features``; weight and bias are learned."""

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        from paddle.nn.initializer import Uniform

        edge = 1.0 / sqrt(in1_features)
        self.weight = self.create_parameter(
            [out_features, in1_features, in2_features], weight_attr, default_initializer=Uniform(-edge, edge)
        )
        self.bias = self.create_parameter(
            [1, out_features], bias_attr, is_bias=True, default_initializer=Uniform(-edge, edge)
        )

    def forward(self, x1: Any, x2: Any) -> Any:
        """Append the products."""
        return functional.bilinear(x1, x2, self.weight, self.bias)
