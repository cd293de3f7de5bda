"""Measures within a program, for ``paddle.metric``: what of a batch's outputs is right.

It must never know what is counted over batches. Guarantee: nothing is appended before
``paddle.enable_static()``.
"""

from __future__ import annotations

from typing import Any

from paddle.static import measures
from paddle.static.measures import auc
from paddle.tensor.logic import equal
from paddle.tensor.manipulation import cast, unsqueeze
from paddle.tensor.search import argmax, topk

__all__ = ["accuracy", "auc", "correct"]


def accuracy(
    input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None, name: str | None = None
) -> Any:
    """The share of rows whose label is among the ``k`` largest of ``input``."""
    return measures.accuracy(input, label, k, correct, total)


def correct(pred: Any, label: Any, k: int) -> Any:
    """Whether each of the ``k`` likeliest classes is the label, float32 (n, k)."""
    ranked = topk(pred, k)[1]
    if len(label.shape) < len(pred.shape):
        label = unsqueeze(label, -1)
    elif label.shape[-1] != 1:
        label = argmax(label, -1, keepdim=True)
    return cast(equal(ranked, label), "float32")
