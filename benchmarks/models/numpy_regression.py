"""Linear regression as one would write it by hand in plain numpy: at this size, the cost of a few calls."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmarks.models.data import FEATURES, Batch


class Regression:
    """Square error, plain gradient descent, gradients summed over the batch."""

    def __init__(self, start: Mapping[str, np.ndarray], batch: int, learning_rate: float):
        self._w, self._b = start["layer0_w"].copy(), start["layer0_b"].copy()
        self._rate = np.float32(learning_rate)
        self._error, self._square = (np.empty((batch, 1), np.float32) for _ in range(2))
        self._dw = np.empty((FEATURES, 1), np.float32)

    def step(self, houses: Batch) -> float:
        """One training step; returns the mean cost."""
        features, price = houses["features"], houses["price"]
        error = self._error
        np.dot(features, self._w, out=error)
        error += self._b
        error -= price
        cost = float(np.multiply(error, error, out=self._square).sum()) / len(error)
        error *= 2 * self._rate
        np.dot(features.T, error, out=self._dw)
        self._w -= self._dw
        self._b -= error.sum()
        return cost
