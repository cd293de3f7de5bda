"""Compiled update rules: one kernel per rule, over rows of a table; a dense vector is a table of one row.

All kernels begin with the same arguments: table, index, gradient, last_step, clip, l1, l2 (see
``Rule.touch``), then the learning rate, the slots and the rule's own numbers; the formulas stand in the
rules' files. A kernel takes one step; what rows became in steps without gradient, ``idle.py`` computes.
Numbers are float32, so that no arithmetic widens to float64. ``velocity`` is None where there is no
momentum: numba then compiles a variant without it.

What a loop stores it keeps in a local name: read back from an array that might be another's memory, it would
be loaded again, which made Adam half as slow again.

Guarantee: no fast-math. Rounding does not depend on where a row begins or ends, nor on the vector width
that the compiler chose.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.prefetch import AHEAD, LINE, prefetch

Array = np.ndarray
Float = np.float32

ZERO = np.float32(0)
ONE = np.float32(1)
HALF = np.float32(0.5)


@kernel
def ask_for(table: Array, row: int) -> None:
    """Ask the memory for a row that will be needed: rows of a batch lie anywhere in a large table."""
    for j in range(0, table.shape[1], LINE):
        prefetch(table, row * table.shape[1] + j)


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
    """One value after the proximal steps of L1, then of L2; both already times the rate."""
    if w > l1:
        w = w - l1
    elif w < -l1:
        w = w + l1
    else:
        w = w * ZERO
    return w / (ONE + l2)


@kernel
def carried(velocity: Array | None, row: int, j: int, momentum: Float, move: Float) -> Float:
    """The move of one element, with what its velocity adds to it."""
    if velocity is None:
        return move
    move = momentum * velocity[row, j] + move
    velocity[row, j] = move
    return move


@kernel
def moved(
    w: Float,
    slope: Float,
    rate: Float,
    l1: Float,
    l2: Float,
    velocity: Array | None,
    row: int,
    j: int,
    momentum: Float,
) -> Float:
    """One value after a step down its slope, at its own rate; L2 is in the slope, or with L1 follows it."""
    inner_l2 = ZERO if l1 > ZERO else l2
    move = -(rate * (slope + inner_l2 * w))
    value: Float = w + carried(velocity, row, j, momentum, move)
    if l1 > ZERO:
        value = shrunk(value, l1 * rate, l2 * rate)
    return value


@kernel
def momentum(
    table: Array,
    index: Array,
    gradient: Array,
    last_step: Array,
    clip: Float,
    l1: Float,
    l2: Float,
    rate: Float,
    velocity: Array | None,
    momentum: Float,
) -> None:
    """SGD and Momentum."""
    for i in range(index.shape[0]):
        if i + AHEAD < index.shape[0]:
            ask_for(table, index[i + AHEAD])
        row = index[i]
        w, g = table[row], gradient[i]
        for j in range(w.shape[0]):
            w[j] = moved(w[j], clipped(g[j], clip), rate, l1, l2, velocity, row, j, momentum)


@kernel
def adagrad(
    table: Array,
    index: Array,
    gradient: Array,
    last_step: Array,
    clip: Float,
    l1: Float,
    l2: Float,
    rate: Float,
    square_sum: Array,
    velocity: Array | None,
    momentum: Float,
    epsilon: Float,
) -> None:
    """AdaGrad."""
    for i in range(index.shape[0]):
        row = index[i]
        w, g, s = table[row], gradient[i], square_sum[row]
        for j in range(w.shape[0]):
            slope = clipped(g[j], clip)
            square = s[j] + slope * slope
            s[j] = square
            own_rate = rate / sqrt(square + epsilon)
            w[j] = moved(w[j], slope, own_rate, l1, l2, velocity, row, j, momentum)


@kernel
def decayed_adagrad(
    table: Array,
    index: Array,
    gradient: Array,
    last_step: Array,
    clip: Float,
    l1: Float,
    l2: Float,
    rate: Float,
    mean_square: Array,
    velocity: Array | None,
    momentum: Float,
    rho: Float,
    epsilon: Float,
) -> None:
    """Decayed AdaGrad."""
    for i in range(index.shape[0]):
        row = index[i]
        take = ONE if last_step[i] <= 0 else ONE - rho
        w, g, s = table[row], gradient[i], mean_square[row]
        for j in range(w.shape[0]):
            slope = clipped(g[j], clip)
            square = rho * s[j] + take * (slope * slope)
            s[j] = square
            own_rate = rate / sqrt(square + epsilon)
            w[j] = moved(w[j], slope, own_rate, l1, l2, velocity, row, j, momentum)


@kernel
def rmsprop(
    table: Array,
    index: Array,
    gradient: Array,
    last_step: Array,
    clip: Float,
    l1: Float,
    l2: Float,
    rate: Float,
    mean_square: Array,
    mean: Array,
    velocity: Array | None,
    momentum: Float,
    rho: Float,
    epsilon: Float,
) -> None:
    """RMSProp, the centred form."""
    for i in range(index.shape[0]):
        row = index[i]
        take = ONE if last_step[i] <= 0 else ONE - rho
        w, g, s, f = table[row], gradient[i], mean_square[row], mean[row]
        for j in range(w.shape[0]):
            slope = clipped(g[j], clip)
            square = rho * s[j] + take * (slope * slope)
            middle = rho * f[j] + (ONE - rho) * slope
            s[j], f[j] = square, middle
            variance = square - middle * middle
            if variance < ZERO:
                variance = ZERO
            own_rate = rate / sqrt(variance + epsilon)
            w[j] = moved(w[j], slope, own_rate, l1, l2, velocity, row, j, momentum)


@kernel
def adadelta(
    table: Array,
    index: Array,
    gradient: Array,
    last_step: Array,
    clip: Float,
    l1: Float,
    l2: Float,
    rate: Float,
    mean_square: Array,
    mean_square_move: Array,
    velocity: Array | None,
    momentum: Float,
    rho: Float,
    epsilon: Float,
) -> None:
    """AdaDelta."""
    for i in range(index.shape[0]):
        row = index[i]
        w, g, s, d = table[row], gradient[i], mean_square[row], mean_square_move[row]
        for j in range(w.shape[0]):
            slope = clipped(g[j], clip)
            square = rho * s[j] + (ONE - rho) * (slope * slope)
            scale = sqrt((d[j] + epsilon) / (square + epsilon))
            s[j], d[j] = square, rho * d[j] + (ONE - rho) * (slope * scale * (slope * scale))
            own_rate = rate * scale
            w[j] = moved(w[j], slope, own_rate, l1, l2, velocity, row, j, momentum)


@kernel
def adam(
    table: Array,
    index: Array,
    gradient: Array,
    last_step: Array,
    clip: Float,
    l1: Float,
    l2: Float,
    rate: Float,
    first: Array,
    second: Array,
    corrected_rate: Float,
    beta1: Float,
    beta2: Float,
    epsilon: Float,
) -> None:
    """Adam."""
    for i in range(index.shape[0]):
        row = index[i]
        w, g, m, v = table[row], gradient[i], first[row], second[row]
        for j in range(w.shape[0]):
            slope = clipped(g[j], clip)
            mean = beta1 * m[j] + (ONE - beta1) * slope
            square = beta2 * v[j] + (ONE - beta2) * (slope * slope)
            m[j], v[j] = mean, square
            value = w[j] - mean * corrected_rate / (sqrt(square) + epsilon)
            if l1 + l2 > ZERO:
                value = shrunk(value, l1 * rate, l2 * rate)
            w[j] = value


@kernel
def adamax(
    table: Array,
    index: Array,
    gradient: Array,
    last_step: Array,
    clip: Float,
    l1: Float,
    l2: Float,
    rate: Float,
    first: Array,
    largest: Array,
    corrected_rate: Float,
    beta1: Float,
    beta2: Float,
    epsilon: Float,
) -> None:
    """Adamax."""
    for i in range(index.shape[0]):
        row = index[i]
        w, g, m, u = table[row], gradient[i], first[row], largest[row]
        for j in range(w.shape[0]):
            slope = clipped(g[j], clip)
            mean = beta1 * m[j] + (ONE - beta1) * slope
            faded, size = beta2 * u[j] + epsilon, abs(slope)
            top = faded if faded > size else size
            m[j], u[j] = mean, top
            value = w[j]
            if top != ZERO:
                value -= corrected_rate * (mean / top)
            if l1 + l2 > ZERO:
                value = shrunk(value, l1 * rate, l2 * rate)
            w[j] = value


@kernel
def ftrl(
    table: Array,
    index: Array,
    gradient: Array,
    last_step: Array,
    clip: Float,
    l1: Float,
    l2: Float,
    rate: Float,
    square_sum: Array,
    linear: Array,
    own_l1: Float,
    own_l2: Float,
    power: Float,
) -> None:
    """Ftrl. A loop with powers takes ten times as long as one with roots, which is one of its own."""
    for i in range(index.shape[0]):
        row, own = index[i], (own_l1, own_l2, power)
        w, g, s, z = table[row], gradient[i], square_sum[row], linear[row]
        if power == HALF:
            _ftrl(w, g, s, z, clip, (l1, l2), rate, own, True)
        else:
            _ftrl(w, g, s, z, clip, (l1, l2), rate, own, False)


@kernel(inline="always")
def _ftrl(
    w: Array,
    g: Array,
    s: Array,
    z: Array,
    clip: Float,
    decay: tuple[Float, Float],
    rate: Float,
    own: tuple[Float, Float, Float],
    is_root: bool,
) -> None:
    (l1, l2), (own_l1, own_l2, power) = decay, own
    for j in range(w.shape[0]):
        slope = clipped(g[j], clip)
        total = s[j] + slope * slope
        before, after = (sqrt(s[j]), sqrt(total)) if is_root else (s[j] ** power, total**power)
        pull = z[j] + (slope - (after - before) / rate * w[j])
        s[j], z[j] = total, pull
        value = ZERO * pull
        if pull > own_l1:
            value = (own_l1 - pull) / (after / rate + own_l2 + own_l2)
        elif pull < -own_l1:
            value = -(own_l1 + pull) / (after / rate + own_l2 + own_l2)
        if l1 + l2 > ZERO:
            value = shrunk(value, l1 * rate, l2 * rate)
        w[j] = value


@kernel
def lamb(
    table: Array,
    index: Array,
    gradient: Array,
    last_step: Array,
    clip: Float,
    l1: Float,
    l2: Float,
    rate: Float,
    first: Array,
    second: Array,
    correction1: Float,
    correction2: Float,
    beta1: Float,
    beta2: Float,
    epsilon: Float,
    weight_decay: Float,
    adapts: Float,
) -> None:
    """Lamb. The norms are summed in float64; where ``adapts`` is 0 nothing goes by them."""
    for i in range(index.shape[0]):
        row = index[i]
        w, g, m, v = table[row], gradient[i], first[row], second[row]
        size, length = 0.0, 0.0
        for j in range(w.shape[0]):
            slope = clipped(g[j], clip)
            mean = beta1 * m[j] + (ONE - beta1) * slope
            square = beta2 * v[j] + (ONE - beta2) * (slope * slope)
            m[j], v[j] = mean, square
            move = mean / correction1 / (sqrt(square / correction2) + epsilon) + weight_decay * w[j]
            size += np.float64(w[j]) * np.float64(w[j])
            length += np.float64(move) * np.float64(move)
        own_rate = rate
        if adapts > ZERO and size > 0.0 and length > 0.0:
            own_rate = np.float32(rate * sqrt(size / length))
        for j in range(w.shape[0]):
            move = m[j] / correction1 / (sqrt(v[j] / correction2) + epsilon) + weight_decay * w[j]
            value = w[j] - own_rate * move
            if l1 + l2 > ZERO:
                value = shrunk(value, l1 * rate, l2 * rate)
            w[j] = value
