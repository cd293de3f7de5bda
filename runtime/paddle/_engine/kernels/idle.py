"""Compiled catching up: what rows of a table become in steps that bring them no gradient.

All kernels begin with table, index, last_step, step: row ``index[i]``, each at most once, goes from the state
after step ``abs(last_step[row])`` to that after ``step``. ``ends`` and ``rates`` are the runs of
:class:`paddle._engine.rates.Rates`. Nothing here writes ``last_step`` but the kernels that say so.

Where it can be, steps of one rate are taken together, by repeated squaring of what one step does. All
arithmetic is float64 and rounded once, so that a thousand steps lose no more digits than one.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.rules import Array, shrunk

Matrix = tuple[tuple[float, float], tuple[float, float]]
IDENTITY = ((1.0, 0.0), (0.0, 1.0))


@kernel
def compose(keep: Array, drop: Array, factor: Array, less: Array, times: int) -> None:
    """(keep, drop) becomes itself followed by ``times`` (factor, less); a pair maps x to keep * x - drop."""
    while times > 0:
        if times & 1:
            for j in range(keep.shape[0]):
                keep[j] = factor[j] * keep[j]
                drop[j] = factor[j] * drop[j] + less[j]
        times >>= 1
        if times > 0:
            for j in range(keep.shape[0]):
                less[j] = factor[j] * less[j] + less[j]
                factor[j] = factor[j] * factor[j]


@kernel
def decay(
    table: Array,
    index: Array,
    last_step: Array,
    step: int,
    l1: float,
    l2: float,
    follows: bool,
    pace: Array | None,
    ends: Array,
    rates: Array,
) -> None:
    """The penalties. ``pace``: each element's rate over the learning rate, like ``table[index]``; None: 1.

    ``follows``: they follow the update, as proximal steps; otherwise L2 is part of the gradient.
    """
    width = table.shape[1]
    keep, drop, factor, less = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    for i in range(index.shape[0]):
        row = index[i]
        done = abs(last_step[row])
        keep[:] = 1.0
        drop[:] = 0.0
        run = np.searchsorted(ends, done + 1)
        while done < step:
            until = min(ends[run], step)
            for j in range(width):
                rate = rates[run] if pace is None else rates[run] * np.float64(pace[i, j])
                factor[j] = 1.0 / (1.0 + rate * l2) if follows else 1.0 - rate * l2
                less[j] = rate * l1 * factor[j]
            compose(keep, drop, factor, less, until - done)
            done = until
            run += 1
        for j in range(width):
            value = np.float64(table[row, j])
            if l1 > 0.0:
                value = np.copysign(max(keep[j] * abs(value) - drop[j], 0.0), value)
            else:
                value = keep[j] * value
            table[row, j] = np.float32(value)


@kernel
def fade(table: Array, index: Array, last_step: Array, step: int, rho: float) -> None:
    """A mean (``table``) of which every step keeps ``rho``."""
    for i in range(index.shape[0]):
        row = index[i]
        keep = np.float32(rho ** (step - abs(last_step[row])))
        for j in range(table.shape[1]):
            table[row, j] *= keep


@kernel
def product(left: Matrix, right: Matrix) -> Matrix:
    """Two by two: what ``right`` does, then what ``left`` does."""
    (a, b), (c, d) = left
    (e, f), (g, h) = right
    return (a * e + b * g, a * f + b * h), (c * e + d * g, c * f + d * h)


@kernel
def power(base: Matrix, times: int) -> Matrix:
    """``base``, ``times`` times."""
    result = IDENTITY
    while times > 0:
        if times & 1:
            result = product(base, result)
        base = product(base, base)
        times >>= 1
    return result


@kernel
def roll(
    table: Array,
    index: Array,
    last_step: Array,
    step: int,
    l2: float,
    velocity: Array,
    momentum: float,
    ends: Array,
    rates: Array,
) -> None:
    """Momentum without L1: (w, v) becomes (w + m v - r l2 w, m v - r l2 w), a matrix, once per step."""
    for i in range(index.shape[0]):
        row = index[i]
        done = abs(last_step[row])
        so_far = IDENTITY
        run = np.searchsorted(ends, done + 1)
        while done < step:
            until = min(ends[run], step)
            pull = rates[run] * l2
            step_of_run = ((1.0 - pull, momentum), (-pull, momentum))
            so_far = product(power(step_of_run, until - done), so_far)
            done = until
            run += 1
        (ww, wv), (vw, vv) = so_far
        for j in range(table.shape[1]):
            w, v = np.float64(table[row, j]), np.float64(velocity[row, j])
            table[row, j] = np.float32(ww * w + wv * v)
            velocity[row, j] = np.float32(vw * w + vv * v)


@kernel
def roll_shrinking(
    table: Array,
    index: Array,
    last_step: Array,
    step: int,
    l1: float,
    l2: float,
    velocity: Array,
    momentum: float,
    steps: int,
    ends: Array,
    rates: Array,
) -> None:
    """Momentum with L1, step by step, for at most ``steps``, after which the velocity is next to nothing.

    Moves ``last_step`` on to where it ended. A row never touched has no velocity, and is left alone.
    """
    w, v = np.empty(table.shape[1]), np.empty(table.shape[1])
    for i in range(index.shape[0]):
        row = index[i]
        if last_step[row] <= 0:
            continue
        w[:], v[:] = table[row], velocity[row]
        done = last_step[row]
        last = min(step, done + steps)
        run = np.searchsorted(ends, done + 1)
        while done < last:
            done += 1
            if done > ends[run]:
                run += 1
            for j in range(w.shape[0]):
                v[j] = momentum * v[j]
                w[j] = shrunk(w[j] + v[j], rates[run] * l1, rates[run] * l2)
        for j in range(w.shape[0]):
            table[row, j] = np.float32(w[j])
            velocity[row, j] = np.float32(v[j] * momentum ** (step - done))
        last_step[row] = done


@kernel
def adam(
    table: Array,
    index: Array,
    last_step: Array,
    step: int,
    l1: float,
    l2: float,
    first: Array,
    second: Array,
    beta1: float,
    beta2: float,
    epsilon: float,
    corrected: float,
    steps: int,
    ends: Array,
    rates: Array,
) -> None:
    """Adam, step by step, for at most ``steps``, after which the first moment moves nothing.

    Moves ``last_step`` on to where it ended; the moments are then those after ``step``. A row never touched
    has none, and is left alone.
    """
    w, m, v = np.empty(table.shape[1]), np.empty(table.shape[1]), np.empty(table.shape[1])
    for i in range(index.shape[0]):
        row = index[i]
        if last_step[row] <= 0:
            continue
        w[:], m[:], v[:] = table[row], first[row], second[row]
        done = last_step[row]
        last = min(step, done + steps)
        run = np.searchsorted(ends, done + 1)
        while done < last:
            done += 1
            if done > ends[run]:
                run += 1
            root = sqrt(1.0 - beta2**done)
            rate, least = rates[run] * root / (1.0 - beta1**done), epsilon
            if corrected > 0.0:
                least *= root
            for j in range(w.shape[0]):
                m[j] = beta1 * m[j]
                v[j] = beta2 * v[j]
                value = w[j] - m[j] * rate / (sqrt(v[j]) + least)
                w[j] = shrunk(value, rates[run] * l1, rates[run] * l2)
        for j in range(w.shape[0]):
            table[row, j] = np.float32(w[j])
            first[row, j] = np.float32(m[j] * beta1 ** (step - done))
            second[row, j] = np.float32(v[j] * beta2 ** (step - done))
        last_step[row] = done
