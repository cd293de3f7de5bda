"""One moment of an LSTM with peepholes, and of its gradient.

``gates`` (n, 4h) are, in this order: the candidate, the input, the forget and the output gate. ``peep``
(3, h) weighs the cell's state in the three gates: the former state in the first two, the new one in the last.
It must never know of time.

    candidate = tanh(g)        input, forget = sigmoid(g + peep * former)
    cell = candidate * input + former * forget
    output = sigmoid(g + peep * cell)        hidden = output * tanh(cell)

Guarantee: the numpy twins compute the same for any floating dtype.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.exponential import sigmoid, sigmoids, tanh, tanhs
from paddle._engine.kernels.kernel import kernel

Array = np.ndarray


@kernel
def cell(gates: Array, peep: Array, former: Array, state: Array, bent: Array, hidden: Array) -> None:
    """Turn what reaches the gates into their values, in place.

    Fills the new ``state`` (n, h), ``bent`` = tanh(state), and ``hidden``.
    """
    h = state.shape[1]
    for i in range(state.shape[0]):
        candidate, enter, keep, leave = (
            gates[i, :h],
            gates[i, h : 2 * h],
            gates[i, 2 * h : 3 * h],
            gates[i, 3 * h :],
        )
        was, now, tip = former[i], state[i], bent[i]
        for j in range(h):
            enter[j] += peep[0, j] * was[j]
            keep[j] += peep[1, j] * was[j]
        tanhs(candidate)
        sigmoids(gates[i, h : 3 * h])
        for j in range(h):
            now[j] = candidate[j] * enter[j] + was[j] * keep[j]
        for j in range(h):
            tip[j] = tanh(now[j])
        for j in range(h):
            leave[j] = sigmoid(leave[j] + peep[2, j] * now[j])
        for j in range(h):
            hidden[i, j] = leave[j] * tip[j]


def numpy_cell(gates: Array, peep: Array, former: Array, state: Array, bent: Array, hidden: Array) -> None:
    """The same in numpy."""
    candidate, enter, keep, leave = np.split(gates, 4, axis=1)
    enter += peep[0] * former
    keep += peep[1] * former
    np.tanh(candidate, candidate)
    _logistic(enter)
    _logistic(keep)
    state[...] = candidate * enter + former * keep
    leave += peep[2] * state
    _logistic(leave)
    np.tanh(state, bent)
    np.multiply(leave, bent, hidden)


@kernel
def cell_gradient(
    gates: Array,
    peep: Array,
    former: Array,
    bent: Array,
    given: Array,
    carried: Array,
    out: Array,
) -> None:
    """Fill ``out`` (n, 4h), the gradient of what reached the gates; ``given`` is that of ``hidden``.

    ``carried`` (n, h) is the gradient that reaches the state from the next moment; afterwards that which
    goes to the former one.
    """
    one, h = gates.dtype.type(1), given.shape[1]
    for i in range(given.shape[0]):
        candidate, enter, keep, leave = (
            gates[i, :h],
            gates[i, h : 2 * h],
            gates[i, 2 * h : 3 * h],
            gates[i, 3 * h :],
        )
        at_candidate, at_enter, at_keep, at_leave = (
            out[i, :h],
            out[i, h : 2 * h],
            out[i, 2 * h : 3 * h],
            out[i, 3 * h :],
        )
        was, tip, at_hidden, at_state = former[i], bent[i], given[i], carried[i]
        for j in range(h):
            at_leave[j] = at_hidden[j] * tip[j] * leave[j] * (one - leave[j])
        for j in range(h):
            at_state[j] += at_hidden[j] * leave[j] * (one - tip[j] * tip[j]) + at_leave[j] * peep[2, j]
        for j in range(h):
            at_candidate[j] = at_state[j] * enter[j] * (one - candidate[j] * candidate[j])
        for j in range(h):
            at_enter[j] = at_state[j] * candidate[j] * enter[j] * (one - enter[j])
        for j in range(h):
            at_keep[j] = at_state[j] * was[j] * keep[j] * (one - keep[j])
        for j in range(h):
            at_state[j] = at_state[j] * keep[j] + at_enter[j] * peep[0, j] + at_keep[j] * peep[1, j]


def _logistic(x: Array) -> None:
    x[...] = 1 / (1 + np.exp(-x))  # not negative(x, x): of some columns numpy 2.3 takes other numbers
