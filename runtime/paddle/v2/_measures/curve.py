"""Curve: how often a number is greater for samples of class 1 than for those of class 0, the area under it.

Guarantee: as of every measure. Numbers are put into bins of a thousand-thousandth, as in the original.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from paddle._engine.auc import area_under_curve

_BINS = 2**24


@dataclass(frozen=True, eq=False)
class Curve:
    """Bins that samples fell into, ascending, and the weights of both classes there: int64 (n,), (2, n)."""

    bins: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, numbers: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> Curve:
        """Of one batch; every label but 0 is of class 1."""
        places = (np.clip(numbers.reshape(-1).astype(np.float64), 0, 1) * _BINS).astype(np.int64)
        each = np.ones(len(places)) if weights is None else weights.reshape(-1).astype(np.float64)
        positive = labels.reshape(-1) != 0
        return _counted(places, np.stack([np.where(positive, 0, each), np.where(positive, each, 0)]))

    def __add__(self, other: Curve) -> Curve:
        return _counted(
            np.concatenate([self.bins, other.bins]), np.concatenate([self.weights, other.weights], 1)
        )

    def said(self) -> Mapping[str, float]:
        """The area; two in one bin count as a half. 0 where a class has no sample."""
        negative, positive = self.weights
        return {"": area_under_curve(positive, negative)}


def _counted(places: np.ndarray, weights: np.ndarray) -> Curve:
    bins, at = np.unique(places, return_inverse=True)
    return Curve(bins, np.stack([np.bincount(at, each, len(bins)) for each in weights]))
