"""Compiled update rules as fluid's operators compute them. Arguments and guarantees: see rules.py.

Penalties, which programs of that generation write as operators on gradients, follow the step.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.rules import ONE, ZERO, clipped, shrunk

Array = np.ndarray
Float = np.float32


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
    velocity: Array,
    momentum: Float,
    ahead: Float,
) -> None:
    """A velocity in units of the gradient; ``ahead`` is 1 for Nesterov's, which looks one step on."""
    for i in range(index.shape[0]):
        row = index[i]
        w, g, v = table[row], gradient[i], velocity[row]
        for j in range(w.shape[0]):
            slope = clipped(g[j], clip)
            speed = momentum * v[j] + slope
            v[j] = speed
            move = slope + momentum * speed if ahead > ZERO else speed
            value = w[j] - rate * move
            if l1 + l2 > ZERO:
                value = shrunk(value, l1 * rate, l2 * rate)
            w[j] = value


@kernel
def lars_momentum(
    table: Array,
    index: Array,
    gradient: Array,
    last_step: Array,
    clip: Float,
    l1: Float,
    l2: Float,
    rate: Float,
    velocity: Array,
    momentum: Float,
    coefficient: Float,
    weight_decay: Float,
) -> None:
    """The norms are summed in float64."""
    for i in range(index.shape[0]):
        row = index[i]
        w, g, v = table[row], gradient[i], velocity[row]
        size, length = 0.0, 0.0
        for j in range(w.shape[0]):
            slope = clipped(g[j], clip)
            size += np.float64(w[j]) * np.float64(w[j])
            length += np.float64(slope) * np.float64(slope)
        own_rate = rate
        if size > 0.0 and length > 0.0:
            share = sqrt(size) / (sqrt(length) + weight_decay * sqrt(size))
            own_rate = np.float32(rate * coefficient * share)
        for j in range(w.shape[0]):
            speed = momentum * v[j] + own_rate * (clipped(g[j], clip) + weight_decay * w[j])
            v[j] = speed
            value = w[j] - speed
            if l1 + l2 > ZERO:
                value = shrunk(value, l1 * rate, l2 * rate)
            w[j] = value


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
    square: Array,
    keep: Float,
    take: Float,
    epsilon: Float,
) -> None:
    """AdaGrad where ``keep`` and ``take`` are 1, decayed AdaGrad where they add up to 1."""
    for i in range(index.shape[0]):
        row = index[i]
        w, g, s = table[row], gradient[i], square[row]
        for j in range(w.shape[0]):
            slope = clipped(g[j], clip)
            total = keep * s[j] + take * (slope * slope)
            s[j] = total
            value = w[j] - rate * slope / (sqrt(total) + epsilon)
            if l1 + l2 > ZERO:
                value = shrunk(value, l1 * rate, l2 * rate)
            w[j] = value


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
    moment: Array,
    rho: Float,
    epsilon: Float,
    momentum: Float,
    centered: Float,
) -> None:
    """RMSProp; ``centered`` is 1 where the square of the mean is taken off."""
    for i in range(index.shape[0]):
        row = index[i]
        w, g, s, f, v = table[row], gradient[i], mean_square[row], mean[row], moment[row]
        for j in range(w.shape[0]):
            slope = clipped(g[j], clip)
            spread = rho * s[j] + (ONE - rho) * (slope * slope)
            s[j] = spread
            if centered > ZERO:
                middle = rho * f[j] + (ONE - rho) * slope
                f[j] = middle
                spread = max(spread - middle * middle, ZERO)
            speed = momentum * v[j] + rate * slope / sqrt(spread + epsilon)
            v[j] = speed
            value = w[j] - speed
            if l1 + l2 > ZERO:
                value = shrunk(value, l1 * rate, l2 * rate)
            w[j] = value


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
    rho: Float,
    epsilon: Float,
    later: Float,
) -> None:
    """AdaDelta, which moves by the mean that has seen a move already; the one before where ``later`` is 1."""
    for i in range(index.shape[0]):
        row = index[i]
        w, g, s, d = table[row], gradient[i], mean_square[row], mean_square_move[row]
        for j in range(w.shape[0]):
            slope = clipped(g[j], clip)
            square = rho * s[j] + (ONE - rho) * (slope * slope)
            guess = sqrt((d[j] + epsilon) / (square + epsilon)) * slope
            seen = rho * d[j] + (ONE - rho) * (guess * guess)
            s[j], d[j] = square, seen
            if later == ZERO:
                guess = sqrt((seen + epsilon) / (square + epsilon)) * slope
            value = w[j] - rate * guess
            if l1 + l2 > ZERO:
                value = shrunk(value, l1 * rate, l2 * rate)
            w[j] = value
