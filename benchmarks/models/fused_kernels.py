"""Loops of the models that are fused by hand, compiled by numba. Ids are not checked, and nothing else is."""

from __future__ import annotations

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

Array = np.ndarray
_HOW = {"fastmath": True, "nogil": True, "error_model": "numpy", "cache": True}
_ONE = np.float32(1)


@intrinsic
def _as_float(context, bits):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(types.float32))

    return types.float32(types.int32), generate


@njit(inline="always", **_HOW)
def exponential(x):
    """Of a float32, by a polynomial: numba's own is a call for each number."""
    x = max(x, np.float32(-87.0))
    scaled = x * np.float32(1.4426950408889634)
    whole = np.floor(scaled + np.float32(0.5))
    rest = scaled - whole
    power = np.float32(1.5403530e-4)
    power = power * rest + np.float32(1.3333558e-3)
    power = power * rest + np.float32(9.6181291e-3)
    power = power * rest + np.float32(5.5504109e-2)
    power = power * rest + np.float32(2.4022651e-1)
    power = power * rest + np.float32(6.9314718e-1)
    power = power * rest + _ONE
    return power * _as_float(np.int32((np.int32(whole) + np.int32(127)) << np.int32(23)))


@njit(**_HOW)
def softmax_cost(scores: Array, bias: Array, label: Array, costs: Array, total: Array) -> None:
    """``scores`` plus ``bias`` become the gradient of the cost; ``total`` is its sum over samples."""
    total[:] = 0
    for i in range(scores.shape[0]):
        row = scores[i]
        most = np.float32(-3e38)
        for j in range(row.size):
            row[j] += bias[j]
            most = max(most, row[j])
        of_label, whole = row[label[i]], np.float32(0)
        for j in range(row.size):
            row[j] = exponential(row[j] - most)
            whole += row[j]
        share = _ONE / whole
        for j in range(row.size):
            row[j] *= share
            total[j] += row[j]
        row[label[i]] -= _ONE
        total[label[i]] -= _ONE
        costs[i] = np.log(whole) + most - of_label


@njit(**_HOW)
def bias_sigmoid(x: Array, bias: Array) -> None:
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = _ONE / (_ONE + exponential(-(x[i, j] + bias[j])))


@njit(**_HOW)
def sigmoid_gradient(given: Array, out: Array, total: Array) -> None:
    total[:] = 0
    for i in range(given.shape[0]):
        for j in range(given.shape[1]):
            given[i, j] *= out[i, j] * (_ONE - out[i, j])
            total[j] += given[i, j]


@njit(**_HOW)
def bias_relu(x: Array, bias: Array) -> None:
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = max(x[i, j] + bias[j], np.float32(0))


@njit(**_HOW)
def relu_gradient(given: Array, out: Array, total: Array) -> None:
    total[:] = 0
    for i in range(given.shape[0]):
        for j in range(given.shape[1]):
            given[i, j] = given[i, j] if out[i, j] > 0 else np.float32(0)
            total[j] += given[i, j]


@njit(**_HOW)
def gather(table: Array, ids: Array, out: Array) -> None:
    """Rows of each sample beside each other."""
    width = table.shape[1]
    for i in range(ids.shape[0]):
        for k in range(ids.shape[1]):
            row = table[ids[i, k]]
            for j in range(width):
                out[i, k * width + j] = row[j]


@njit(**_HOW)
def scatter(table: Array, ids: Array, gradient: Array, rate: float) -> None:
    width = table.shape[1]
    for i in range(ids.shape[0]):
        for k in range(ids.shape[1]):
            row = table[ids[i, k]]
            for j in range(width):
                row[j] -= rate * gradient[i, k * width + j]


@njit(**_HOW)
def descend(values: Array, gradient: Array, rate: float) -> None:
    for i in range(values.size):
        values[i] -= rate * gradient[i]
