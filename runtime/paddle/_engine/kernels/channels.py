"""Channels: mean and variance of each, over samples and places, and what is made with them.

Arrays are (samples, channels, places). It must never know where moments are kept. Guarantee: sums are made in
float64, in order, so equal inputs give equal bits.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray


@kernel
def moments(x: Array, mean: Array, variance: Array) -> None:
    """Fill ``mean`` and ``variance`` (channels,), that of all there is, not an estimate from a sample."""
    count = max(x.shape[0] * x.shape[2], 1)
    for c in range(x.shape[1]):
        total = 0.0
        for i in range(x.shape[0]):
            total += _total(x[i, c])
        mean[c] = total / count
    for c in range(x.shape[1]):
        total = 0.0
        for i in range(x.shape[0]):
            total += _spread(x[i, c], mean[c])
        variance[c] = total / count


@kernel(fastmath={"reassoc"})
def _total(row: Array) -> float:
    total = 0.0
    for j in range(row.shape[0]):
        total += row[j]
    return total


@kernel(fastmath={"reassoc"})
def _spread(row: Array, mean: float) -> float:
    total = 0.0
    for j in range(row.shape[0]):
        total += (row[j] - mean) * (row[j] - mean)
    return total


@kernel
def stretch(x: Array, slope: Array, offset: Array, out: Array) -> None:
    """``out`` = x * slope + offset, these of each channel."""
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            row, target, a, b = x[i, c], out[i, c], slope[c], offset[c]
            for j in range(row.shape[0]):
                target[j] = row[j] * a + b


@kernel
def sums(given: Array, x: Array, mean: Array, plain: Array, weighted: Array) -> None:
    """Fill ``plain`` (channels,) with the sum of ``given``, ``weighted`` with that of given * (x - mean)."""
    for c in range(x.shape[1]):
        first = second = 0.0
        for i in range(x.shape[0]):
            first += _total(given[i, c])
            second += _product(given[i, c], x[i, c], mean[c])
        plain[c], weighted[c] = first, second


@kernel(fastmath={"reassoc"})
def _product(given: Array, row: Array, mean: float) -> float:
    total = 0.0
    for j in range(row.shape[0]):
        total += given[j] * (row[j] - mean)
    return total


@kernel
def stretch_both(given: Array, x: Array, a: Array, b: Array, c: Array, out: Array) -> None:
    """``out`` = given * a + x * b + c, these of each channel."""
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            source, row, target = given[i, k], x[i, k], out[i, k]
            for j in range(row.shape[0]):
                target[j] = source[j] * a[k] + row[j] * b[k] + c[k]
