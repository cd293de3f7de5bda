"""The area under the ROC curve, from counts by score.

It must never hold a sample. Guarantee: exact but for scores that fall into one of the ``num_thresholds`` + 1
bins together, which count as equal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.auc import area_under_curve
from paddle.metric._metric import Metric, array_of


class Auc(Metric):
    """How often a positive sample has a higher score than a negative one."""

    def __init__(
        self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc", *args: Any, **kwargs: Any
    ) -> None:
        if curve != "ROC":
            raise ValueError(f"the curve of Auc is ROC, not {curve!r}")
        self._curve = curve
        self._num_thresholds = num_thresholds
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """``preds``: (n, 2), the chances of both classes, or (n, 1) of the positive; ``labels``: 0 or 1."""
        scores = array_of(preds, "preds")
        truth = array_of(labels, "labels").reshape(-1).astype(bool)
        chance = scores[:, -1] if scores.ndim == 2 else scores.reshape(-1)
        bins = (chance * self._num_thresholds).astype(np.int64)
        if bins.size and not 0 <= bins.min() <= bins.max() <= self._num_thresholds:
            raise ValueError(f"preds are chances from 0 to 1, and go from {chance.min()} to {chance.max()}")
        length = self._num_thresholds + 1
        self._stat_pos += np.bincount(bins[truth], minlength=length)
        self._stat_neg += np.bincount(bins[~truth], minlength=length)

    def reset(self) -> None:
        """Forget what was measured."""
        self._stat_pos = np.zeros(self._num_thresholds + 1, np.int64)
        self._stat_neg = np.zeros(self._num_thresholds + 1, np.int64)

    def accumulate(self) -> float:
        """The measure of all batches so far."""
        return area_under_curve(self._stat_pos, self._stat_neg)

    def name(self) -> str:
        """Its name."""
        return self._name
