"""Update rules written by hand in plain numpy: in place, in blocks that stay in the processor's cache.

The formulas are PaddlePaddle's: L2 is part of the step, AdaGrad's statistics are of the gradient alone.
"""

from __future__ import annotations

import numpy as np

_BLOCK = 1 << 14
_EPSILON = np.float32(1e-6)


class SGD:
    """w -= rate * (g + l2 w)."""

    def __init__(self, learning_rate: float, l2: float = 0.0):
        self._rate, self._l2 = np.float32(learning_rate), np.float32(l2)

    def dense(self, name: str, values: np.ndarray, gradient: np.ndarray) -> None:
        """Update ``values``; the gradient is used up."""
        w, g = values.reshape(-1), gradient.reshape(-1)
        for start in range(0, w.size, _BLOCK):
            block, change = w[start : start + _BLOCK], g[start : start + _BLOCK]
            change *= self._rate
            if self._l2:
                block *= 1 - self._rate * self._l2
            block -= change

    def rows(self, name: str, table: np.ndarray, ids: np.ndarray, gradient: np.ndarray) -> None:
        """Update rows of a table, without L2; the gradient is used up. Ids may repeat."""
        gradient *= self._rate
        np.subtract.at(table, ids, gradient)


class AdaGrad:
    """a += g g; w -= rate * (g + l2 w) / sqrt(a + epsilon)."""

    def __init__(self, learning_rate: float, l2: float = 0.0):
        self._rate, self._l2 = np.float32(learning_rate), np.float32(l2)
        self._sums: dict[str, np.ndarray] = {}
        self._root, self._decay = np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.float32)

    def dense(self, name: str, values: np.ndarray, gradient: np.ndarray) -> None:
        """Update ``values``; the gradient is used up."""
        w, g, sums = values.reshape(-1), gradient.reshape(-1), self._sum(name, values).reshape(-1)
        for start in range(0, w.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            self._block(w[part], g[part], sums[part])

    def _block(self, w: np.ndarray, g: np.ndarray, sums: np.ndarray) -> None:
        root, decay = self._root[: w.size], self._decay[: w.size]
        np.multiply(g, g, out=root)
        sums += root
        np.add(sums, _EPSILON, out=root)
        np.sqrt(root, out=root)
        if self._l2:
            np.multiply(w, self._l2, out=decay)
            g += decay
        g /= root
        g *= self._rate
        w -= g

    def rows(self, name: str, table: np.ndarray, ids: np.ndarray, gradient: np.ndarray) -> None:
        """Update rows of a table, without L2. Ids may repeat: repeated rows are added up first."""
        order = np.argsort(ids, kind="stable")
        sorted_ids = ids[order]
        starts = np.flatnonzero(np.concatenate(([True], sorted_ids[1:] != sorted_ids[:-1])))
        rows = sorted_ids[starts]
        g = np.add.reduceat(gradient[order], starts, axis=0)
        sums = self._sum(name, table)
        touched = sums[rows]
        touched += g * g
        sums[rows] = touched
        touched += _EPSILON
        g /= np.sqrt(touched, out=touched)
        g *= self._rate
        table[rows] -= g

    def _sum(self, name: str, values: np.ndarray) -> np.ndarray:
        if name not in self._sums:
            self._sums[name] = np.zeros_like(values)
        return self._sums[name]
