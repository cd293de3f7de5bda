"""Softmax and the cost of its label in one pass over each row, while the row is in cache.

Guarantee: float32 results are within 2e-6 (relative) of the numpy twin's, and NaN stays NaN.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel


def softmax_cross_entropy(
    logits: np.ndarray, label: np.ndarray, edge: np.ndarray, softmax: np.ndarray, loss: np.ndarray
) -> None:
    """Fill ``softmax`` (n, classes) and ``loss`` (n, 1) from ``logits`` (n, classes), int64 ``label`` (n,).

    ``edge`` (n, 1) holds the maximum of each row. The caller vouches for the labels.
    """
    compiled = _softmax_cross_entropy if logits.dtype == np.float32 else numpy_softmax_cross_entropy
    compiled(logits, label, edge, softmax, loss)


def numpy_softmax_cross_entropy(
    logits: np.ndarray, label: np.ndarray, edge: np.ndarray, softmax: np.ndarray, loss: np.ndarray
) -> None:
    """The same in numpy, for any floating dtype."""
    chosen = np.take_along_axis(logits, label[:, None], axis=1)
    np.subtract(logits, edge, softmax)
    np.exp(softmax, softmax)
    total = softmax.sum(axis=1, keepdims=True)
    np.divide(softmax, total, softmax)
    loss[...] = np.log(total) + edge - chosen


@kernel
def _softmax_cross_entropy(
    logits: np.ndarray, label: np.ndarray, edge: np.ndarray, softmax: np.ndarray, loss: np.ndarray
) -> None:
    for i in range(logits.shape[0]):
        chosen = logits[i, label[i]]
        _exponentials(logits[i], edge[i, 0], softmax[i])
        total = _total(softmax[i])
        share = np.float32(1) / total
        for j in range(softmax.shape[1]):
            softmax[i, j] *= share
        loss[i, 0] = np.log(total) + edge[i, 0] - chosen


@kernel(fastmath={"contract"})
def _exponentials(x: np.ndarray, edge: np.float32, out: np.ndarray) -> None:
    """out = exp(x - edge) for x <= edge, by a polynomial, because the compiler cannot vectorize calls of exp.

    exp(v) = 2**n * exp(f) with n the integer nearest to v / ln 2 and |f| <= ln 2 / 2. ln 2 is subtracted in
    two parts so that f keeps its low bits; the polynomial is the minimax one of the Cephes library.
    """
    to_integer = np.float32(1.5 * 2**23)  # adding it leaves no room for a fraction
    for j in range(x.shape[0]):
        v = x[j] - edge
        if v < np.float32(-87):  # e**-87 is about the least normal number
            v = np.float32(-87)
        n = (v * np.float32(1.44269504) + to_integer) - to_integer
        f = v - n * np.float32(0.693359375)
        f = f - n * np.float32(-2.12194440e-4)
        p = np.float32(1.9875691500e-4)
        p = p * f + np.float32(1.3981999507e-3)
        p = p * f + np.float32(8.3334519073e-3)
        p = p * f + np.float32(4.1665795894e-2)
        p = p * f + np.float32(1.6666665459e-1)
        p = p * f + np.float32(5.0000001201e-1)
        p = p * (f * f) + f + np.float32(1)
        out[j] = p * np.int32((np.int32(n) + np.int32(127)) << np.int32(23)).view(np.float32)


@kernel(fastmath={"reassoc"})
def _total(x: np.ndarray) -> np.float32:
    """The sum of a row; ``reassoc`` lets the compiler keep one partial sum per vector lane."""
    total = np.float32(0)
    for j in range(x.shape[0]):
        total += x[j]
    return total
