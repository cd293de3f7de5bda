"""The word2vec 5-gram model as one would write it by hand in plain numpy: buffers made once, all in place."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmarks.models.data import CONTEXT, EMBEDDING, HIDDEN, Batch
from benchmarks.models.numpy_rules import SGD, AdaGrad


class Word2Vec:
    """Four rows of a table, a sigmoid layer, a softmax over all words; gradients summed over the batch."""

    def __init__(self, start: Mapping[str, np.ndarray], batch: int, rule: SGD | AdaGrad):
        self._p = {name: value.copy() for name, value in start.items()}
        self._g = {name: np.empty_like(value) for name, value in start.items() if name != "table"}
        self._rule = rule
        vocabulary = len(start["table"])
        self._x, self._dx = (np.empty((batch, CONTEXT * EMBEDDING), np.float32) for _ in range(2))
        self._h, self._dh = (np.empty((batch, HIDDEN), np.float32) for _ in range(2))
        self._z = np.empty((batch, vocabulary), np.float32)
        self._column = np.empty((batch, 1), np.float32)
        self._samples = np.arange(batch)

    def step(self, grams: Batch) -> float:
        """One training step; returns the mean cost."""
        context, label = grams["context"], grams["label"]
        cost = self._forward(context, label)
        self._backward(label)
        self._update(context)
        return cost

    def _forward(self, context: np.ndarray, label: np.ndarray) -> float:
        p, h, z, column = self._p, self._h, self._z, self._column
        np.take(p["table"], context, axis=0, out=self._x.reshape(*context.shape, EMBEDDING), mode="clip")
        np.dot(self._x, p["layer0_w"], out=h)
        h += p["layer0_b"]
        np.negative(h, out=h)
        np.exp(h, out=h)
        h += np.float32(1)
        np.reciprocal(h, out=h)
        np.dot(h, p["layer1_w"], out=z)
        z += p["layer1_b"]
        z -= np.max(z, axis=1, keepdims=True, out=column)
        np.exp(z, out=z)
        np.sum(z, axis=1, keepdims=True, out=column)
        z /= column
        return float(-np.log(z[self._samples, label]).mean())

    def _backward(self, label: np.ndarray) -> None:
        p, g, h, dh, dz = self._p, self._g, self._h, self._dh, self._z
        dz[self._samples, label] -= np.float32(1)
        np.dot(h.T, dz, out=g["layer1_w"])
        np.sum(dz, axis=0, out=g["layer1_b"])
        np.dot(dz, p["layer1_w"].T, out=dh)
        dh *= h
        np.subtract(np.float32(1), h, out=h)
        dh *= h
        np.dot(self._x.T, dh, out=g["layer0_w"])
        np.sum(dh, axis=0, out=g["layer0_b"])
        np.dot(dh, p["layer0_w"].T, out=self._dx)

    def _update(self, context: np.ndarray) -> None:
        for name, gradient in self._g.items():
            self._rule.dense(name, self._p[name], gradient)
        self._rule.rows("table", self._p["table"], context.reshape(-1), self._dx.reshape(-1, EMBEDDING))
