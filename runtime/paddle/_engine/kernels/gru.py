"""One moment of a GRU, in the two halves between which its state is multiplied, and of its gradient.

``gates`` (n, 3h) are, in this order: the update gate, the reset gate, the candidate. ``gate`` and
``candidate`` are numbers of activations (bends.py). It must never know of time.

    update, reset = sigmoid(g)        the candidate is reached by (reset * former) @ weights
    candidate = tanh(g)        hidden = former + update * (candidate - former)

or, where the update gate is as in the article of its origin, candidate + update * (former - candidate).

Guarantee: the numpy twins compute the same for any floating dtype.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.bends import bend, numpy_bend, slope
from paddle._engine.kernels.kernel import kernel

Array = np.ndarray


@kernel
def open_gates(gates: Array, former: Array, kept: Array, gate: int) -> None:
    """The two gates' values, in place, and ``kept`` (n, h) = reset * former."""
    h = former.shape[1]
    for i in range(former.shape[0]):
        bend(gates[i, : 2 * h], gate)
        for j in range(h):
            kept[i, j] = gates[i, h + j] * former[i, j]


def numpy_open_gates(gates: Array, former: Array, kept: Array, gate: int) -> None:
    """The same in numpy."""
    h = former.shape[1]
    numpy_bend(gates[:, : 2 * h], gate)
    np.multiply(gates[:, h : 2 * h], former, kept)


@kernel
def close_gates(gates: Array, former: Array, hidden: Array, candidate: int, is_origin: bool) -> None:
    """The candidate's value, in place, and ``hidden``."""
    h = former.shape[1]
    for i in range(former.shape[0]):
        bend(gates[i, 2 * h :], candidate)
        if is_origin:
            for j in range(h):
                new = gates[i, 2 * h + j]
                hidden[i, j] = new + gates[i, j] * (former[i, j] - new)
        else:
            for j in range(h):
                hidden[i, j] = former[i, j] + gates[i, j] * (gates[i, 2 * h + j] - former[i, j])


def numpy_close_gates(gates: Array, former: Array, hidden: Array, candidate: int, is_origin: bool) -> None:
    """The same in numpy."""
    h = former.shape[1]
    numpy_bend(gates[:, 2 * h :], candidate)
    start, goal = (gates[:, 2 * h :], former) if is_origin else (former, gates[:, 2 * h :])
    hidden[...] = start + gates[:, :h] * (goal - start)


@kernel
def close_gradient(
    gates: Array, former: Array, given: Array, out: Array, gate: int, candidate: int, is_origin: bool
) -> None:
    """Fill what ``out`` (n, 3h), the gradient of what reached the gates, holds of update and candidate.

    ``given`` (n, h) is that of ``hidden``; afterwards what of it goes to ``former`` past the gates.
    """
    one, h = gates.dtype.type(1), former.shape[1]
    sign = -one if is_origin else one
    for i in range(former.shape[0]):
        update, new, at_hidden = gates[i, :h], gates[i, 2 * h :], given[i]
        at_update, at_new = out[i, :h], out[i, 2 * h :]
        for j in range(h):
            at_update[j] = at_hidden[j] * sign * (new[j] - former[i, j]) * slope(update[j], gate, one)
        for j in range(h):
            share = one - update[j] if is_origin else update[j]
            at_new[j] = at_hidden[j] * share * slope(new[j], candidate, one)
        for j in range(h):
            at_hidden[j] *= update[j] if is_origin else one - update[j]


@kernel
def open_gradient(gates: Array, former: Array, at_kept: Array, out: Array, given: Array, gate: int) -> None:
    """Fill what ``out`` holds of the reset gate, from the gradient of ``kept``.

    ``given`` gets what goes to ``former`` on this way, too.
    """
    one, h = gates.dtype.type(1), former.shape[1]
    for i in range(former.shape[0]):
        reset, at_reset = gates[i, h : 2 * h], out[i, h : 2 * h]
        for j in range(h):
            at_reset[j] = at_kept[i, j] * former[i, j] * slope(reset[j], gate, one)
        for j in range(h):
            given[i, j] += at_kept[i, j] * reset[j]
