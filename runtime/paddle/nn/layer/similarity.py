"""Losses of what is near and what is not, and of chances, as layers.

They must never compute: ``forward`` calls the function of ``nn.functional`` of the same meaning, with the
arguments that the layer was made with.
"""

from __future__ import annotations

from functools import partial

from paddle.nn.layer.activation import layer_of

__all__ = [
    *("CosineEmbeddingLoss", "GaussianNLLLoss", "HingeEmbeddingLoss", "MultiLabelSoftMarginLoss"),
    *("MultiMarginLoss", "PairwiseDistance", "PoissonNLLLoss", "SoftMarginLoss", "TripletMarginLoss"),
    *("TripletMarginWithDistanceLoss",),
]

_layer = partial(layer_of, module=__name__, shows="")

CosineEmbeddingLoss = _layer("CosineEmbeddingLoss", "cosine_embedding_loss", "margin", "reduction")
GaussianNLLLoss = _layer("GaussianNLLLoss", "gaussian_nll_loss", "full", "epsilon", "reduction")
HingeEmbeddingLoss = _layer("HingeEmbeddingLoss", "hinge_embedding_loss", "margin", "reduction")
MultiLabelSoftMarginLoss = _layer(
    "MultiLabelSoftMarginLoss", "multi_label_soft_margin_loss", "weight", "reduction"
)
MultiMarginLoss = _layer("MultiMarginLoss", "multi_margin_loss", "p", "margin", "weight", "reduction")
PairwiseDistance = _layer("PairwiseDistance", "pairwise_distance", "p", "epsilon", "keepdim", shows="p")
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
