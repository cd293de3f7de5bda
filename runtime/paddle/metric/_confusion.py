"""Right and wrong of two classes.

They must never hold a sample. Guarantee: a prediction counts as positive from 0.5 on, which rounds up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle.metric._metric import Metric, array_of


class Precision(Metric):
    """Of what was found positive, the share that is."""

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """``preds``: the chance of the positive class, ``labels``: 0 or 1, both of one size."""
        positive, truth = _two_classes(preds, labels)
        self.tp += int(np.sum(positive & truth))
        self.fp += int(np.sum(positive & ~truth))

    def reset(self) -> None:
        """Forget what was measured."""
        self.tp = 0
        self.fp = 0

    def accumulate(self) -> float:
        """The measure of all batches so far."""
        found = self.tp + self.fp
        return self.tp / found if found else 0.0

    def name(self) -> str:
        """Its name."""
        return self._name


class Recall(Metric):
    """Of what is positive, the share that was found."""

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        self._name = name
        self.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """``preds``: the chance of the positive class, ``labels``: 0 or 1, both of one size."""
        positive, truth = _two_classes(preds, labels)
        self.tp += int(np.sum(positive & truth))
        self.fn += int(np.sum(~positive & truth))

    def reset(self) -> None:
        """Forget what was measured."""
        self.tp = 0
        self.fn = 0

    def accumulate(self) -> float:
        """The measure of all batches so far."""
        there = self.tp + self.fn
        return self.tp / there if there else 0.0

    def name(self) -> str:
        """Its name."""
        return self._name


def _two_classes(preds: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    scores = array_of(preds, "preds").reshape(-1)
    truth = array_of(labels, "labels").reshape(-1)
    if scores.size != truth.size:
        raise ValueError(f"there are {scores.size} preds and {truth.size} labels: one for each")
    return np.floor(scores + 0.5).astype(np.int32) == 1, truth == 1
