"""Activations of a row by their number, in place, and what a gradient is multiplied with on its way back.

Guarantee: the numpy twins compute the same for any floating dtype. NaN stays NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.kernels.exponential import sigmoids, tanhs
from paddle._engine.kernels.kernel import kernel

SIGMOID, TANH, RELU = 0, 1, 2
"""Any other number leaves what there is."""


@kernel
def bend(x: np.ndarray, kind: int) -> None:
    """x = f(x)."""
    if kind == SIGMOID:
        sigmoids(x)
    elif kind == TANH:
        tanhs(x)
    elif kind == RELU:
        zero = x.dtype.type(0)
        for j in range(x.shape[0]):
            x[j] = zero if x[j] < zero else x[j]


def numpy_bend(x: np.ndarray, kind: int) -> None:
    """The same in numpy, of any shape."""
    if kind == SIGMOID:
        x[...] = 1 / (1 + np.exp(-x))  # not negative(x, x): of some columns numpy 2.3 takes other numbers
    elif kind == TANH:
        np.tanh(x, x)
    elif kind == RELU:
        np.maximum(x, 0, x)


@kernel
def slope(y: Any, kind: int, one: Any) -> Any:
    """f'(x) where y = f(x); ``one`` is 1, of their dtype."""
    if kind == SIGMOID:
        return y * (one - y)
    if kind == TANH:
        return one - y * y
    if kind == RELU:
        return one - one if y <= one - one else one
    return one


@kernel
def unbend(y: np.ndarray, kind: int, clip: Any, given: np.ndarray) -> None:
    """given *= f'(x) where y = f(x), and 0 where that is cut off at ``clip``, if this is not 0."""
    one = y.dtype.type(1)
    for j in range(y.shape[0]):
        given[j] *= slope(y[j], kind, one)
    if clip > 0:
        for j in range(y.shape[0]):
            given[j] *= one if abs(y[j]) < clip else one - one
