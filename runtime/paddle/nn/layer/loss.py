"""Losses as layers: ``paddle.nn.CrossEntropyLoss`` and its family.

They must never compute: ``forward`` calls the function of ``nn.functional`` of the same meaning.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from paddle.nn import functional
from paddle.nn.layer.layers import Layer

__all__ = [
    *("BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CrossEntropyLoss", "HSigmoidLoss", "KLDivLoss", "L1Loss"),
    *("MSELoss", "MarginRankingLoss", "NLLLoss", "RNNTLoss", "SmoothL1Loss"),
]


class CrossEntropyLoss(Layer):
    """See ``functional.cross_entropy``."""

    def __init__(
        self,
        weight: Any = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        soft_label: bool = False,
        axis: int = -1,
        use_softmax: bool = True,
        label_smoothing: float = 0.0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        shares = (soft_label, axis, use_softmax, label_smoothing)
        self._given = (weight, ignore_index, reduction, *shares, name)

    def forward(self, input: Any, label: Any) -> Any:
        """Append the loss."""
        return functional.cross_entropy(input, label, *self._given)


class MSELoss(Layer):
    """See ``functional.mse_loss``."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Any, label: Any) -> Any:
        """Append the loss."""
        return functional.mse_loss(input, label, self.reduction)


class L1Loss(Layer):
    """See ``functional.l1_loss``."""

    def __init__(self, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Any, label: Any) -> Any:
        """Append the loss."""
        return functional.l1_loss(input, label, self.reduction)


class BCELoss(Layer):
    """See ``functional.binary_cross_entropy``."""

    def __init__(self, weight: Any = None, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self._weight = weight
        self.reduction = reduction

    def forward(self, input: Any, label: Any) -> Any:
        """Append the loss."""
        return functional.binary_cross_entropy(input, label, self._weight, self.reduction)


class BCEWithLogitsLoss(Layer):
    """See ``functional.binary_cross_entropy_with_logits``."""

    def __init__(
        self, weight: Any = None, reduction: str = "mean", pos_weight: Any = None, name: str | None = None
    ) -> None:
        super().__init__()
        self._given = (weight, reduction, pos_weight)

    def forward(self, logit: Any, label: Any) -> Any:
        """Append the loss."""
        return functional.binary_cross_entropy_with_logits(logit, label, *self._given)


class NLLLoss(Layer):
    """See ``functional.nll_loss``."""

    def __init__(
        self, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", name: str | None = None
    ) -> None:
        super().__init__()
        self._given = (weight, ignore_index, reduction)

    def forward(self, input: Any, label: Any) -> Any:
        """Append the loss."""
        return functional.nll_loss(input, label, *self._given)


class KLDivLoss(Layer):
    """See ``functional.kl_div``."""

    def __init__(self, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction

    def forward(self, input: Any, label: Any) -> Any:
        """Append the loss."""
        return functional.kl_div(input, label, self.reduction)


class SmoothL1Loss(Layer):
    """See ``functional.smooth_l1_loss``."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0, name: str | None = None) -> None:
        super().__init__()
        self.reduction = reduction
        self.delta = delta

    def forward(self, input: Any, label: Any) -> Any:
        """Append the loss."""
        return functional.smooth_l1_loss(input, label, self.reduction, self.delta)


class MarginRankingLoss(Layer):
    """See ``functional.margin_ranking_loss``."""

    def __init__(self, margin: float = 0.0, reduction: str = "mean", name: str | None = None) -> None:
        super().__init__()
        self._given = (margin, reduction)

    def forward(self, input: Any, other: Any, label: Any) -> Any:
        """Append the loss."""
        return functional.margin_ranking_loss(input, other, label, *self._given)


class HSigmoidLoss(Layer):
    """See ``functional.hsigmoid_loss``; the weights of the tree are learned."""

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        is_custom: bool = False,
        is_sparse: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_classes = num_classes
        self._is_sparse = is_sparse
        nodes = num_classes if is_custom else num_classes - 1
        self.weight = self.create_parameter([nodes, feature_size], weight_attr)
        self.bias = self.create_parameter([nodes, 1], bias_attr, is_bias=True)

    def forward(self, input: Any, label: Any, path_table: Any = None, path_code: Any = None) -> Any:
        """Append the loss."""
        return functional.hsigmoid_loss(
            input,
            label,
            self._num_classes,
            self.weight,
            self.bias,
            path_table,
            path_code,
            self._is_sparse,
        )


class CTCLoss(Layer):
    """See ``functional.ctc_loss``."""

    def __init__(self, blank: int = 0, reduction: str = "mean") -> None:
        super().__init__()
        self._blank, self._reduction = blank, reduction

    def forward(
        self,
        log_probs: Any,
        labels: Any,
        input_lengths: Any,
        label_lengths: Any,
        norm_by_times: bool = False,
    ) -> Any:
        """Append the loss."""
        given = (log_probs, labels, input_lengths, label_lengths, self._blank, self._reduction)
        return functional.ctc_loss(*given, norm_by_times)


class RNNTLoss(Layer):
    """See ``functional.rnnt_loss``."""

    def __init__(
        self,
        blank: int = 0,
        fastemit_lambda: float = 0.001,
        reduction: str = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._given = (blank, fastemit_lambda, reduction, name)

    def forward(self, input: Any, label: Any, input_lengths: Any, label_lengths: Any) -> Any:
        """Append the loss."""
        return functional.rnnt_loss(input, label, input_lengths, label_lengths, *self._given)


def __getattr__(name: str) -> Any:
    similarity = import_module("paddle.nn.layer.similarity")  # the original has them in this place
    if name in similarity.__all__:
        return getattr(similarity, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
