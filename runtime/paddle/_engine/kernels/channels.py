"""Channels: mean and variance of each, over samples and places, and what is made with them; and which of
neighbours is the greatest.

Arrays are (samples, channels, places); where each channel has one place they are gone through row by row. It
must never know where moments are kept. Guarantee: sums are made in float64, in order, so equal inputs give
equal bits.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel

Array = np.ndarray


@kernel
def moments(x: Array, mean: Array, variance: Array) -> None:
    """Fill ``mean`` and ``variance`` (channels,), that of all there is, not an estimate from a sample."""
    count = max(x.shape[0] * x.shape[2], 1)
    if x.shape[2] == 1:
        _moments_of_rows(_rows(x), mean, variance, count)
        return
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


@kernel
def _rows(x: Array) -> Array:
    return x.reshape(x.shape[0], x.shape[1])


@kernel
def _moments_of_rows(x: Array, mean: Array, variance: Array, count: int) -> None:
    totals = np.zeros(x.shape[1], np.float64)
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            totals[c] += x[i, c]
    for c in range(x.shape[1]):
        mean[c], totals[c] = totals[c] / count, 0.0
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            totals[c] += (x[i, c] - mean[c]) * (x[i, c] - mean[c])
    for c in range(x.shape[1]):
        variance[c] = totals[c] / count


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
    if x.shape[2] == 1:
        _stretch_rows(_rows(x), slope, offset, _rows(out))
        return
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            row, target, a, b = x[i, c], out[i, c], slope[c], offset[c]
            for j in range(row.shape[0]):
                target[j] = row[j] * a + b


@kernel
def _stretch_rows(x: Array, slope: Array, offset: Array, out: Array) -> None:
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            out[i, c] = x[i, c] * slope[c] + offset[c]


@kernel
def sums(given: Array, x: Array, mean: Array, plain: Array, weighted: Array) -> None:
    """Fill ``plain`` (channels,) with the sum of ``given``, ``weighted`` with that of given * (x - mean)."""
    if x.shape[2] == 1:
        _sums_of_rows(_rows(given), _rows(x), mean, plain, weighted)
        return
    for c in range(x.shape[1]):
        first = second = 0.0
        for i in range(x.shape[0]):
            first += _total(given[i, c])
            second += _product(given[i, c], x[i, c], mean[c])
        plain[c], weighted[c] = first, second


@kernel
def _sums_of_rows(given: Array, x: Array, mean: Array, plain: Array, weighted: Array) -> None:
    first, second = np.zeros(x.shape[1], np.float64), np.zeros(x.shape[1], np.float64)
    for i in range(x.shape[0]):
        for c in range(x.shape[1]):
            first[c] += given[i, c]
        for c in range(x.shape[1]):
            second[c] += given[i, c] * (x[i, c] - mean[c])
    plain[:], weighted[:] = first, second


@kernel(fastmath={"reassoc"})
def _product(given: Array, row: Array, mean: float) -> float:
    total = 0.0
    for j in range(row.shape[0]):
        total += given[j] * (row[j] - mean)
    return total


@kernel
def stretch_both(given: Array, x: Array, a: Array, b: Array, c: Array, out: Array) -> None:
    """``out`` = given * a + x * b + c, these of each channel."""
    if x.shape[2] == 1:
        _stretch_both_rows(_rows(given), _rows(x), a, b, c, _rows(out))
        return
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            source, row, target = given[i, k], x[i, k], out[i, k]
            for j in range(row.shape[0]):
                target[j] = source[j] * a[k] + row[j] * b[k] + c[k]


@kernel
def _stretch_both_rows(given: Array, x: Array, a: Array, b: Array, c: Array, out: Array) -> None:
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            out[i, k] = given[i, k] * a[k] + x[i, k] * b[k] + c[k]


@kernel
def greatest(x: Array, out: Array, places: Array) -> None:
    """``out`` (samples, groups, places) is the greatest of each group of channels of ``x``; int32 ``places``,
    which of them it is, the first of equal ones. NaN is greater than any number."""
    size = x.shape[1] // out.shape[1]
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            best, where = out[i, c], places[i, c]
            for j in range(best.shape[0]):
                best[j], where[j] = x[i, c * size, j], 0
            for k in range(1, size):
                _greater(x[i, c * size + k], np.int32(k), best, where)


@kernel
def _greater(row: Array, number: np.int32, best: Array, where: Array) -> None:
    for j in range(row.shape[0]):
        is_greater = (not row[j] <= best[j]) & (best[j] == best[j])
        best[j] = row[j] if is_greater else best[j]
        where[j] = number if is_greater else where[j]


@kernel
def greatest_back(given: Array, places: Array, out: Array) -> None:
    """The gradient of ``greatest``: each number goes to the channel where it was, 0 to others."""
    size, zero = out.shape[1] // given.shape[1], given.dtype.type(0)
    for i in range(given.shape[0]):
        for c in range(given.shape[1]):
            source, where = given[i, c], places[i, c]
            for k in range(size):
                _chosen(source, where, np.int32(k), zero, out[i, c * size + k])


@kernel
def _chosen(given: Array, where: Array, number: np.int32, zero: float, out: Array) -> None:
    for j in range(given.shape[0]):
        out[j] = given[j] if where[j] == number else zero
