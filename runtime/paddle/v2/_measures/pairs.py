"""Pairs: of every two samples of one query with unlike labels, how many stand in the right order.

Guarantee: as of every measure; two samples of a query count also where they are of two batches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Pairs:
    """All samples seen: columns of query, number, label and weight."""

    samples: np.ndarray

    @classmethod
    def of(
        cls, numbers: np.ndarray, labels: np.ndarray, queries: np.ndarray, weights: np.ndarray | None = None
    ) -> Pairs:
        """Of one batch: what counts of ``numbers`` is the last column."""
        each = np.ones(len(numbers)) if weights is None else weights
        columns = [part.reshape(len(numbers), -1)[:, -1] for part in (queries, numbers, labels, each)]
        return cls(np.stack(columns, 1).astype(np.float64))

    def __add__(self, other: Pairs) -> Pairs:
        return Pairs(np.concatenate([self.samples, other.samples]))

    def said(self) -> Mapping[str, float]:
        """Right ones over wrong ones; over 1 where none is wrong. A pair weighs the mean of its two."""
        right = wrong = 0.0
        ordered = self.samples[np.argsort(self.samples[:, 0], kind="stable")]
        bounds = np.flatnonzero(np.diff(ordered[:, 0])) + 1
        for _, numbers, labels, weights in (part.T for part in np.split(ordered, bounds)):
            sign = np.sign(np.subtract.outer(labels, labels)) * np.sign(np.subtract.outer(numbers, numbers))
            weight = np.triu(np.add.outer(weights, weights) / 2, 1)
            right += weight[sign > 0].sum()
            wrong += weight[sign < 0].sum()
        return {"": float(right / (wrong or 1.0))}
