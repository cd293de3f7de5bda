"""The upper bound: two models fused by hand for one rule, one shape and one process, in numba and BLAS.

Weights are updated by the product that computes their gradient, which nobody sees; nothing is checked, named
or kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.models import fused_kernels as kernels
from benchmarks.models.blas import product
from benchmarks.models.data import (
    CONTEXT,
    DENSE,
    EMBEDDING,
    LAYERS,
    SLOTS,
    WIDTH,
    Batch,
    Values,
    batches,
    start,
)
from benchmarks.models.training import training
from benchmarks.worker import Work

Array = np.ndarray


def prepare(settings: Mapping[str, Any]) -> Work:
    """The model of ``settings``, ready to train."""
    model = {"word2vec": Word2Vec, "ctr": CTR}[settings["model"]]
    return training(model(start(settings), settings).step, batches(settings), settings)


def _empty(*shape: int) -> Array:
    return np.empty(shape, np.float32)


class Word2Vec:
    """Four rows of a table, a sigmoid layer, a softmax over all words."""

    def __init__(self, values: Values, settings: Mapping[str, Any]) -> None:
        self._p = p = {name: value.copy() for name, value in values.items()}
        n, self._rate = settings["batch"], np.float32(settings["learning_rate"])
        rate, words = -float(self._rate), len(p["table"])
        self._x, dx = _empty(n, CONTEXT * EMBEDDING), _empty(n, CONTEXT * EMBEDDING)
        self._h, self._dh = (_empty(n, p["layer0_b"].size) for _ in range(2))
        self._z, self._costs, self._dx = _empty(n, words), _empty(n), dx
        self._db0, self._db1 = np.empty_like(p["layer0_b"]), np.empty_like(p["layer1_b"])
        w0, w1, x, h, dh, z = p["layer0_w"], p["layer1_w"], self._x, self._h, self._dh, self._z
        self._forward = product(x, w0, h), product(h, w1, z)
        self._backward = product(z, w1.T, dh), product(h.T, z, w1, rate, 1.0)
        self._below = product(dh, w0.T, dx), product(x.T, dh, w0, rate, 1.0)

    def step(self, grams: Batch) -> float:
        """One training step; returns the mean cost."""
        context, p, rate = grams["context"], self._p, self._rate
        kernels.gather(p["table"], context, self._x)
        self._forward[0]()
        kernels.bias_sigmoid(self._h, p["layer0_b"])
        self._forward[1]()
        kernels.softmax_cost(self._z, p["layer1_b"], grams["label"], self._costs, self._db1)
        for multiply in self._backward:
            multiply()
        kernels.sigmoid_gradient(self._dh, self._h, self._db0)
        for multiply in self._below:
            multiply()
        kernels.descend(p["layer0_b"], self._db0, rate)
        kernels.descend(p["layer1_b"], self._db1, rate)
        kernels.scatter(p["table"], context, self._dx, rate)
        return float(self._costs.mean())


class CTR:
    """26 rows of a table and 13 numbers, three layers, and the 13 numbers once more beside them."""

    def __init__(self, values: Values, settings: Mapping[str, Any]) -> None:
        self._p = p = {name: value.copy() for name, value in values.items()}
        n, self._rate = settings["batch"], np.float32(settings["learning_rate"])
        rows = SLOTS * WIDTH
        self._x, self._dx = _empty(n, rows + DENSE), _empty(n, rows)
        self._h, self._dh = ([_empty(n, width) for width in LAYERS] for _ in range(2))
        self._db = [np.empty_like(p[f"layer{k}_b"]) for k in range(len(LAYERS) + 1)]
        self._z, self._costs = _empty(n, 2), _empty(n)
        self._bind(-float(self._rate), rows)

    def _bind(self, rate: float, rows: int) -> None:
        w, x = [self._p[f"layer{k}_w"] for k in range(len(LAYERS) + 1)], [self._x, *self._h]
        dense, wide, z = self._x[:, rows:], self._p["wide_w"], self._z
        self._forward = [product(x[k], w[k], [*self._h, z][k]) for k in range(len(w))]
        self._forward.append(product(dense, wide, z, 1.0, 1.0))
        given = [*self._dh, z]
        self._update = [product(x[k].T, given[k], w[k], rate, 1.0) for k in range(len(w))]
        self._update.append(product(dense.T, z, wide, rate, 1.0))
        below = [self._dx, *self._dh]
        first = [w[0][:rows].T, *(each.T for each in w[1:])]
        self._below = [product(given[k], first[k], below[k]) for k in range(len(w))]

    def step(self, clicks: Batch) -> float:
        """One training step; returns the mean cost."""
        ids, p, last = clicks["ids"], self._p, len(LAYERS)
        kernels.gather(p["table"], ids, self._x)
        self._x[:, -DENSE:] = clicks["dense"]
        for k in range(last):
            self._forward[k]()
            kernels.bias_relu(self._h[k], p[f"layer{k}_b"])
        self._forward[last]()
        self._forward[last + 1]()
        kernels.softmax_cost(self._z, p[f"layer{last}_b"], clicks["label"], self._costs, self._db[last])
        self._update[last + 1]()
        for k in range(last, -1, -1):
            self._below[k]()
            self._update[k]()
            if k:
                kernels.relu_gradient(self._dh[k - 1], self._h[k - 1], self._db[k - 1])
            kernels.descend(p[f"layer{k}_b"], self._db[k], self._rate)
        kernels.scatter(p["table"], ids, self._dx, self._rate)
        return float(self._costs.mean())
