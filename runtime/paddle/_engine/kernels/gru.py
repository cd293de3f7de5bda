"""One moment of a GRU, in the two halves between which its state is multiplied, and of its gradient.

``gates`` (n, 3h) are, in this order: the update gate, the reset gate, the candidate. It must never know of
time.

    update, reset = sigmoid(g)        the candidate is reached by (reset * former) @ weights
    candidate = tanh(g)        hidden = former + update * (candidate - former)

Guarantee: the numpy twins compute the same for any floating dtype.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.exponential import sigmoids, tanhs
from paddle._engine.kernels.kernel import kernel

Array = np.ndarray


@kernel
def open_gates(gates: Array, former: Array, kept: Array) -> None:
    """The two gates' values, in place, and ``kept`` (n, h) = reset * former."""
    h = former.shape[1]
    for i in range(former.shape[0]):
        sigmoids(gates[i, : 2 * h])
        for j in range(h):
            kept[i, j] = gates[i, h + j] * former[i, j]


def numpy_open_gates(gates: Array, former: Array, kept: Array) -> None:
    """The same in numpy."""
    h = former.shape[1]
    gates[:, : 2 * h] = 1 / (1 + np.exp(-gates[:, : 2 * h]))
    np.multiply(gates[:, h : 2 * h], former, kept)


@kernel
def close_gates(gates: Array, former: Array, hidden: Array) -> None:
    """The candidate's value, in place, and ``hidden``."""
    h = former.shape[1]
    for i in range(former.shape[0]):
        tanhs(gates[i, 2 * h :])
        for j in range(h):
            hidden[i, j] = former[i, j] + gates[i, j] * (gates[i, 2 * h + j] - former[i, j])


def numpy_close_gates(gates: Array, former: Array, hidden: Array) -> None:
    """The same in numpy."""
    h = former.shape[1]
    np.tanh(gates[:, 2 * h :], gates[:, 2 * h :])
    hidden[...] = former + gates[:, :h] * (gates[:, 2 * h :] - former)


@kernel
def close_gradient(gates: Array, former: Array, given: Array, out: Array) -> None:
    """Fill what ``out`` (n, 3h), the gradient of what reached the gates, holds of update and candidate.

    ``given`` (n, h) is that of ``hidden``; afterwards what of it goes to ``former`` past the gates.
    """
    one, h = gates.dtype.type(1), former.shape[1]
    for i in range(former.shape[0]):
        update, candidate, at_hidden = gates[i, :h], gates[i, 2 * h :], given[i]
        at_update, at_candidate = out[i, :h], out[i, 2 * h :]
        for j in range(h):
            at_update[j] = at_hidden[j] * (candidate[j] - former[i, j]) * update[j] * (one - update[j])
        for j in range(h):
            at_candidate[j] = at_hidden[j] * update[j] * (one - candidate[j] * candidate[j])
        for j in range(h):
            at_hidden[j] *= one - update[j]


@kernel
def open_gradient(gates: Array, former: Array, at_kept: Array, out: Array, given: Array) -> None:
    """Fill what ``out`` holds of the reset gate, from the gradient of ``kept``.

    ``given`` gets what goes to ``former`` on this way, too.
    """
    one, h = gates.dtype.type(1), former.shape[1]
    for i in range(former.shape[0]):
        reset, at_reset = gates[i, h : 2 * h], out[i, h : 2 * h]
        for j in range(h):
            at_reset[j] = at_kept[i, j] * former[i, j] * reset[j] * (one - reset[j])
        for j in range(h):
            given[i, j] += at_kept[i, j] * reset[j]
