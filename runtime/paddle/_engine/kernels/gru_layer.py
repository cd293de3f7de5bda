"""One moment of a GRU whose reset gate works on what the former state says to the candidate, as in the GRU of
2.x and of cuDNN, and of its gradient.

``gates`` and ``told`` (n, 3h) are what the input and the former state say to the reset gate, the update gate
and the candidate. It must never know of time.

    reset, update = sigmoid(gates + told)        candidate = tanh(gates + reset * told)
    hidden = candidate + update * (former - candidate)

Guarantee: the numpy twin computes the same for any floating dtype.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.exponential import sigmoids, tanhs
from paddle._engine.kernels.kernel import kernel

Array = np.ndarray


@kernel
def cell(gates: Array, told: Array, former: Array, hidden: Array) -> None:
    """Turn ``gates`` into their values, in place, and fill ``hidden`` (n, h)."""
    h = former.shape[1]
    for i in range(former.shape[0]):
        both, candidate = gates[i, : 2 * h], gates[i, 2 * h :]
        for j in range(2 * h):
            both[j] += told[i, j]
        sigmoids(both)
        for j in range(h):
            candidate[j] += both[j] * told[i, 2 * h + j]
        tanhs(candidate)
        for j in range(h):
            hidden[i, j] = candidate[j] + both[h + j] * (former[i, j] - candidate[j])


def numpy_cell(gates: Array, told: Array, former: Array, hidden: Array) -> None:
    """The same in numpy."""
    h = former.shape[1]
    gates[:, : 2 * h] = 1 / (1 + np.exp(-(gates[:, : 2 * h] + told[:, : 2 * h])))
    reset, update, candidate = np.split(gates, 3, axis=1)
    np.tanh(candidate + reset * told[:, 2 * h :], candidate)
    hidden[...] = candidate + update * (former - candidate)


@kernel
def cell_gradient(
    gates: Array, told: Array, former: Array, given: Array, at_gates: Array, at_told: Array
) -> None:
    """Fill the gradients of what the input and of what the former state said; ``given`` (n, h) is that of
    ``hidden``, and afterwards what of it goes to ``former`` past these. ``told``: what was said to the
    candidate, (n, h)."""
    one, h = gates.dtype.type(1), former.shape[1]
    for i in range(former.shape[0]):
        reset, update, candidate = gates[i, :h], gates[i, h : 2 * h], gates[i, 2 * h :]
        at_hidden, to_input, to_state = given[i], at_gates[i], at_told[i]
        for j in range(h):
            slope = at_hidden[j] * (one - update[j]) * (one - candidate[j] * candidate[j])
            to_input[2 * h + j] = slope
            to_state[2 * h + j] = slope * reset[j]
        for j in range(h):
            slope = to_input[2 * h + j] * told[i, j] * reset[j] * (one - reset[j])
            to_input[j] = slope
            to_state[j] = slope
        for j in range(h):
            slope = at_hidden[j] * (former[i, j] - candidate[j]) * update[j] * (one - update[j])
            to_input[h + j] = slope
            to_state[h + j] = slope
        for j in range(h):
            at_hidden[j] *= update[j]
