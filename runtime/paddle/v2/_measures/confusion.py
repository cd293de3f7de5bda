"""Confusion: how often each class was said rightly, wrongly, and not though it was right.

Guarantee: as of every measure. Where nothing was said of a class, or nothing of it was there, its precision
or recall is 1, as in the original.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from paddle._engine.errors import FeedError


@dataclass(frozen=True, eq=False)
class Confusion:
    """Weights by class: ``right`` (said, and so), ``wrong`` (said, not so), ``missed`` (so, not said).

    ``positive``: the one class that counts, or -1 for all.
    """

    right: np.ndarray
    wrong: np.ndarray
    missed: np.ndarray
    positive: int = -1

    @classmethod
    def of(
        cls, scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None, positive: int = -1
    ) -> Confusion:
        """Of one batch: what is said is the greatest column."""
        said, label, classes = scores.argmax(1), labels.reshape(-1), scores.shape[1]
        if (greatest := label.max(initial=0)) >= classes:
            raise FeedError(
                f"precision_recall: a label is {greatest}, and its input has columns for 0 to {classes - 1}; "
                "check the dictionary that made these ids"
            )
        each = np.ones(len(said)) if weights is None else weights.reshape(-1).astype(np.float64)
        hit = said == label
        return cls(
            np.bincount(label[hit], each[hit], classes),
            np.bincount(said[~hit], each[~hit], classes),
            np.bincount(label[~hit], each[~hit], classes),
            positive,
        )

    def __add__(self, other: Confusion) -> Confusion:
        return Confusion(
            self.right + other.right, self.wrong + other.wrong, self.missed + other.missed, self.positive
        )

    def said(self) -> Mapping[str, float]:
        """Of one class, or the mean over all classes (macro) and that over all samples (micro)."""
        if self.positive >= 0:
            one = self.positive
            return _named(
                "", _share(self.right[one], self.wrong[one]), _share(self.right[one], self.missed[one])
            )
        precisions = [_share(*each) for each in zip(self.right, self.wrong, strict=True)]
        recalls = [_share(*each) for each in zip(self.right, self.missed, strict=True)]
        macro = _named("macro-average-", float(np.mean(precisions)), float(np.mean(recalls)))
        right = self.right.sum()
        return macro | _named(
            "micro-average-", _share(right, self.wrong.sum()), _share(right, self.missed.sum())
        )


def endings(positive: int) -> tuple[str, ...]:
    """What is appended to the name of such an evaluator."""
    kinds = ("",) if positive >= 0 else ("macro-average-", "micro-average-")
    return tuple(f".{kind}{what}" for kind in kinds for what in ("precision", "recall", "F1-score"))


def _share(right: float, other: float) -> float:
    return float(right / (right + other)) if right + other else 1.0


def _named(kind: str, precision: float, recall: float) -> dict[str, float]:
    both = precision + recall
    f1 = 2 * precision * recall / both if both else 0.0
    return {f".{kind}precision": precision, f".{kind}recall": recall, f".{kind}F1-score": f1}
