"""A bias and the activation behind it, and the way back: each one pass over a matrix, a row at a time.

All work in place: apart, the compiler would have to look first whether two arrays are one. Guarantee: float32
results are within 3e-7 (absolute) of the numpy twins', and those of ``rectified`` equal; sums over rows are
taken in the order of the rows; NaN stays NaN.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from paddle._engine.kernels.exponential import sigmoid, tanh
from paddle._engine.kernels.kernel import kernel

Array = np.ndarray
Forward = Callable[[Array, Array, float, float], None]
Backward = Callable[[Array, Array, Array], None]

LANES = 64
"""How many greatest values are kept side by side: what one of them needs does not wait for the others."""


@kernel
def logistic(z: Array, bias: Array, low: np.float32, high: np.float32) -> None:
    """z = 1 / (1 + exp(-(z + bias))), the sum held between ``low`` and ``high``. z: (n, width)."""
    for i in range(z.shape[0]):
        row = z[i]
        for j in range(row.shape[0]):
            v = row[j] + bias[j]
            v = low if v < low else v
            row[j] = sigmoid(high if v > high else v)


@kernel
def tangent(z: Array, bias: Array, low: np.float32, high: np.float32) -> None:
    """z = tanh(z + bias)."""
    for i in range(z.shape[0]):
        row = z[i]
        for j in range(row.shape[0]):
            row[j] = tanh(row[j] + bias[j])


@kernel
def rectified(z: Array, bias: Array, low: np.float32, high: np.float32) -> None:
    """z = max(z + bias, 0)."""
    for i in range(z.shape[0]):
        row = z[i]
        for j in range(row.shape[0]):
            v = row[j] + bias[j]
            row[j] = np.float32(0) if v < np.float32(0) else v


@kernel
def logistic_slopes(slope: Array, out: Array, total: Array) -> None:
    """slope *= out (1 - out); ``total``: its sum over rows."""
    total[:] = np.float32(0)
    for i in range(slope.shape[0]):
        row, value = slope[i], out[i]
        for j in range(row.shape[0]):
            v = (np.float32(1) - value[j]) * value[j] * row[j]
            row[j] = v
            total[j] += v


@kernel
def tangent_slopes(slope: Array, out: Array, total: Array) -> None:
    """slope *= 1 - out * out; ``total``: its sum over rows."""
    total[:] = np.float32(0)
    for i in range(slope.shape[0]):
        row, value = slope[i], out[i]
        for j in range(row.shape[0]):
            v = (np.float32(1) - value[j] * value[j]) * row[j]
            row[j] = v
            total[j] += v


@kernel
def rectified_slopes(slope: Array, out: Array, total: Array) -> None:
    """slope = 0 where out is not above 0; ``total``: its sum over rows."""
    total[:] = np.float32(0)
    for i in range(slope.shape[0]):
        row, value = slope[i], out[i]
        for j in range(row.shape[0]):
            v = row[j] if value[j] > np.float32(0) else np.float32(0)
            row[j] = v
            total[j] += v


@kernel
def biased_edge(z: Array, bias: Array, row: Array, lanes: Array) -> np.float32:
    """row = z + bias, all (width,); returns the greatest of it. ``lanes``: (LANES,), of no meaning."""
    whole = (z.shape[0] // LANES) * LANES
    lanes[:] = np.float32(-np.inf)
    for start in range(0, whole, LANES):
        for k in range(LANES):
            v = z[start + k] + bias[start + k]
            row[start + k] = v
            lanes[k] = v if v > lanes[k] else lanes[k]
    edge = np.float32(-np.inf)
    for k in range(LANES):
        edge = lanes[k] if lanes[k] > edge else edge
    for j in range(whole, z.shape[0]):
        v = z[j] + bias[j]
        row[j] = v
        edge = v if v > edge else edge
    return edge


def numpy_logistic(z: Array, bias: Array, low: float, high: float) -> None:
    """``logistic`` for any floating dtype."""
    np.add(z, bias, z)
    np.clip(z, low, high, z)
    z[...] = 1 / (1 + np.exp(-z))


def numpy_tangent(z: Array, bias: Array, low: float, high: float) -> None:
    """``tangent`` for any floating dtype."""
    np.tanh(np.add(z, bias, z), z)


def numpy_rectified(z: Array, bias: Array, low: float, high: float) -> None:
    """``rectified`` for any floating dtype."""
    np.maximum(np.add(z, bias, z), 0, out=z)


def numpy_logistic_slopes(slope: Array, out: Array, total: Array) -> None:
    """``logistic_slopes`` for any floating dtype."""
    np.multiply(slope, (1 - out) * out, slope)
    np.add.reduce(slope, axis=0, out=total)


def numpy_tangent_slopes(slope: Array, out: Array, total: Array) -> None:
    """``tangent_slopes`` for any floating dtype."""
    np.multiply(slope, 1 - out * out, slope)
    np.add.reduce(slope, axis=0, out=total)


def numpy_rectified_slopes(slope: Array, out: Array, total: Array) -> None:
    """``rectified_slopes`` for any floating dtype."""
    np.copyto(slope, 0, where=~(out > 0))
    np.add.reduce(slope, axis=0, out=total)


_COMPILED: dict[str, tuple[Forward, Backward]] = {
    "sigmoid": (logistic, logistic_slopes),
    "tanh": (tangent, tangent_slopes),
    "relu": (rectified, rectified_slopes),
}
_TWINS: dict[str, tuple[Forward, Backward]] = {
    "sigmoid": (numpy_logistic, numpy_logistic_slopes),
    "tanh": (numpy_tangent, numpy_tangent_slopes),
    "relu": (numpy_rectified, numpy_rectified_slopes),
}


def forward(act: str, dtype: np.dtype) -> Forward:
    """What adds a bias and applies the activation of that name."""
    return (_COMPILED if dtype == np.float32 else _TWINS)[act][0]


def backward(act: str, dtype: np.dtype) -> Backward:
    """What makes of the gradient of an activation's result that of its input, and of the bias."""
    return (_COMPILED if dtype == np.float32 else _TWINS)[act][1]
