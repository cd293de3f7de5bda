"""The share of samples whose label is among the likeliest classes.

It must never see more of a batch than ``compute`` leaves of it. Guarantee: batches weigh by their samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle.metric._metric import Metric, array_of


class Accuracy(Metric):
    """For each k of ``topk``, the share of samples with their label among the k likeliest classes."""

    def __init__(
        self, topk: Sequence[int] = (1,), name: str | None = None, *args: Any, **kwargs: Any
    ) -> None:
        self.topk = tuple(topk)
        self.maxk = max(self.topk)
        called = name or "acc"
        self._name = [called] if len(self.topk) == 1 else [f"{called}_top{k}" for k in self.topk]
        self.reset()

    def compute(self, pred: Any, label: Any, *args: Any) -> Any:
        """Whether each of the likeliest classes is the label, float32 (..., max of topk).

        ``label``: int64 (..., 1) or (...,), or one-hot.
        """
        if not isinstance(pred, np.ndarray) and hasattr(pred, "block"):
            from paddle.metric._operators import correct

            return correct(pred, label, self.maxk)
        scores, truth = np.asarray(pred), np.asarray(label)
        ranked = np.argsort(-scores, axis=-1, kind="stable")[..., : self.maxk]
        if truth.ndim < scores.ndim:
            truth = truth[..., None]
        elif truth.shape[-1] != 1:
            truth = truth.argmax(-1)[..., None]
        return (ranked == truth).astype(np.float32)

    def update(self, correct: Any, *args: Any) -> Any:
        """Take what ``compute`` gave; returns the shares of this batch."""
        found = array_of(correct, "what Accuracy.compute gave")
        samples = int(np.prod(found.shape[:-1]))
        shares = []
        for place, k in enumerate(self.topk):
            hits = float(found[..., :k].sum())
            self.total[place] += hits
            self.count[place] += samples
            shares.append(hits / samples)
        return shares[0] if len(shares) == 1 else shares

    def reset(self) -> None:
        """Forget what was measured."""
        self.total = [0.0] * len(self.topk)
        self.count = [0] * len(self.topk)

    def accumulate(self) -> Any:
        """The measure of all batches so far."""
        shares = [hits / count if count else 0.0 for hits, count in zip(self.total, self.count, strict=True)]
        return shares[0] if len(shares) == 1 else shares

    def name(self) -> list[str]:
        """Its name."""
        return self._name
