"""Compiled update rules: one kernel per rule, over rows of a table; a dense vector is a table of one row.

All kernels begin with the same arguments: table, index, gradient, last_step, step, clip, l1, l2 (see
``Rule.rows``). Rates are float32, so that no arithmetic widens to float64.

Guarantee: no fast-math. Rounding does not depend on where a row begins or ends, nor on the vector width that
the compiler chose.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numba import njit

# The default error model raises on division by zero, which keeps the compiler from using vector instructions.
kernel = partial(njit, cache=True, nogil=True, error_model="numpy")

Array = np.ndarray
Float = np.float32

ZERO = np.float32(0)
ONE = np.float32(1)


@kernel
def clipped(g: Float, clip: Float) -> Float:
    """One gradient element; comparisons let a NaN through."""
    if g > clip:
        return clip
    if g < -clip:
        return -clip
    return g


@kernel
def shrunk(w: Float, l1: Float, l2: Float) -> Float:
    """One value after the proximal steps of L1, then of L2; both already times rate and steps due."""
    if w > l1:
        w = w - l1
    elif w < -l1:
        w = w + l1
    else:
        w = w * ZERO
    return w / (ONE + l2)


@kernel
def steps_due(elapsed: int, l1: Float, l2: Float) -> Float:
    """How many steps' penalties follow the update: with L1 all since the last touch, else all but this one."""
    if l1 > ZERO:
        return np.float32(elapsed)
    if l2 > ZERO:
        return np.float32(elapsed - 1)
    return ZERO


@kernel
def sgd(
    table: Array,
    index: Array,
    gradient: Array,
    last_step: Array,
    step: int,
    clip: Float,
    l1: Float,
    l2: Float,
    rate: Float,
) -> None:
    """w -= rate * (g + l2 * w)."""
    inner_l2 = ZERO if l1 > ZERO else l2
    for i in range(index.shape[0]):
        row = index[i]
        w, g = table[row], gradient[i]
        due = steps_due(step - last_step[row], l1, l2)
        due_l1, due_l2 = due * l1 * rate, due * l2 * rate
        last_step[row] = step
        for j in range(w.shape[0]):
            value = w[j]
            value = value - rate * (clipped(g[j], clip) + inner_l2 * value)
            if due > ZERO:
                value = shrunk(value, due_l1, due_l2)
            w[j] = value
