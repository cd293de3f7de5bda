"""Softmax and the cost of its label in one pass over each row, while the row is in cache.

A label that is ``ignored`` (``passed_label``) costs nothing, and has no gradient.

Guarantee: float32 results are within 2e-6 (relative) of the numpy twin's, and NaN stays NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from paddle._engine.kernels.biased import LANES, biased_edge
from paddle._engine.kernels.exponential import FLOOR, exponentials
from paddle._engine.kernels.kernel import kernel

Label: TypeAlias = int | np.int64

NOBODY = -(2**63)


def passed_label(ignored: int | None) -> np.int64:
    """The label that is passed over, for kernels."""
    return np.int64(NOBODY if ignored is None else ignored)


def softmax_cross_entropy(
    logits: np.ndarray,
    label: np.ndarray,
    edge: np.ndarray,
    softmax: np.ndarray,
    loss: np.ndarray,
    ignored: Label = NOBODY,
) -> None:
    """Fill ``softmax`` (n, classes) and ``loss`` (n, 1) from ``logits`` (n, classes), int64 ``label`` (n,).

    ``edge`` (n, 1) holds the maximum of each row. The caller vouches for the labels.
    """
    compiled = _softmax_cross_entropy if logits.dtype == np.float32 else numpy_softmax_cross_entropy
    compiled(logits, label, edge, softmax, loss, np.int64(ignored))


def numpy_softmax_cross_entropy(
    logits: np.ndarray,
    label: np.ndarray,
    edge: np.ndarray,
    softmax: np.ndarray,
    loss: np.ndarray,
    ignored: Label = NOBODY,
) -> None:
    """The same in numpy, for any floating dtype."""
    passed = label == ignored
    chosen = np.take_along_axis(logits, np.where(passed, 0, label)[:, None], axis=1)
    np.subtract(logits, edge, softmax)
    np.maximum(softmax, FLOOR, softmax)
    np.exp(softmax, softmax)
    total = softmax.sum(axis=1, keepdims=True)
    np.divide(softmax, total, softmax)
    loss[...] = np.log(total) + np.minimum(edge - chosen, -FLOOR)
    loss[passed] = 0


@kernel
def _softmax_cross_entropy(
    logits: np.ndarray,
    label: np.ndarray,
    edge: np.ndarray,
    softmax: np.ndarray,
    loss: np.ndarray,
    ignored: Label,
) -> None:
    for i in range(logits.shape[0]):
        is_passed = label[i] == ignored
        chosen = logits[i, 0 if is_passed else label[i]]
        exponentials(logits[i], edge[i, 0], softmax[i])
        total = _total(softmax[i])
        share = np.float32(1) / total
        for j in range(softmax.shape[1]):
            softmax[i, j] *= share
        loss[i, 0] = np.float32(0) if is_passed else np.log(total) + _depth(edge[i, 0] - chosen)


def biased_softmax_cross_entropy(
    logits: np.ndarray,
    bias: np.ndarray,
    label: np.ndarray,
    softmax: np.ndarray,
    loss: np.ndarray,
    ignored: Label = NOBODY,
) -> Callable[[], None]:
    """What fills ``softmax`` (n, classes) and ``loss`` (n, 1) from logits + bias (classes,) whenever it is
    called. ``softmax`` may be the same memory as ``logits``."""
    if logits.dtype != np.float32:
        return partial(numpy_biased_softmax_cross_entropy, logits, bias, label, softmax, loss, ignored)
    row, lanes = np.empty_like(bias), np.empty(LANES, np.float32)
    arrays = (logits, bias, label, row, lanes, softmax, loss)
    return partial(_biased_softmax_cross_entropy, *arrays, np.int64(ignored))


def numpy_biased_softmax_cross_entropy(
    logits: np.ndarray,
    bias: np.ndarray,
    label: np.ndarray,
    softmax: np.ndarray,
    loss: np.ndarray,
    ignored: Label = NOBODY,
) -> None:
    """The same in numpy, for any floating dtype."""
    row = logits + bias
    numpy_softmax_cross_entropy(row, label, row.max(axis=1, keepdims=True), softmax, loss, ignored)


@kernel
def _biased_softmax_cross_entropy(
    logits: np.ndarray,
    bias: np.ndarray,
    label: np.ndarray,
    row: np.ndarray,
    lanes: np.ndarray,
    softmax: np.ndarray,
    loss: np.ndarray,
    ignored: Label,
) -> None:
    for i in range(logits.shape[0]):
        edge = biased_edge(logits[i], bias, row, lanes)
        exponentials(row, edge, softmax[i])
        total = _total(softmax[i])
        share = np.float32(1) / total
        for j in range(softmax.shape[1]):
            softmax[i, j] *= share
        if label[i] == ignored:
            loss[i, 0] = np.float32(0)
        else:
            loss[i, 0] = np.log(total) + _depth(edge - row[label[i]])


def softmax_slopes(
    dtype: np.dtype,
) -> Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, Label], None]:
    """What makes of ``slope``, which holds a softmax, (softmax - one hot label) * grad, and of ``total`` its
    sum over rows."""
    return _softmax_slopes if dtype == np.float32 else numpy_softmax_slopes


def numpy_softmax_slopes(
    slope: np.ndarray, label: np.ndarray, grad: np.ndarray, total: np.ndarray, ignored: Label
) -> None:
    """The same in numpy, for any floating dtype."""
    passed = label == ignored
    np.multiply(slope, grad, slope)
    slope[np.arange(len(slope)), np.where(passed, 0, label)] -= grad[:, 0]
    slope[passed] = 0
    np.add.reduce(slope, axis=0, out=total)


@kernel
def _softmax_slopes(
    slope: np.ndarray, label: np.ndarray, grad: np.ndarray, total: np.ndarray, ignored: Label
) -> None:
    total[:] = np.float32(0)
    for i in range(slope.shape[0]):
        row, g, chosen = slope[i], grad[i, 0], label[i]
        if chosen == ignored:
            row[:] = np.float32(0)
            continue
        before = total[chosen]
        for j in range(row.shape[0]):
            v = row[j] * g
            row[j] = v
            total[j] += v
        row[chosen] -= g
        total[chosen] = before + row[chosen]


@kernel
def _depth(below: np.float32) -> Any:
    """How far a logit that lies so far below its row's largest one counts as below it."""
    return -FLOOR if below > -FLOOR else below


@kernel(fastmath={"reassoc"})
def _total(x: np.ndarray) -> np.float32:
    """The sum of a row; ``reassoc`` lets the compiler keep one partial sum per vector lane."""
    total = np.float32(0)
    for j in range(x.shape[0]):
        total += x[j]
    return total
