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

from paddle._engine.kernels.exponential import logistics, tangents
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
        was, now = former[i], state[i]
        for j in range(h):
            enter[j] += peep[0, j] * was[j]
            keep[j] += peep[1, j] * was[j]
        tangents(candidate, candidate)
        logistics(gates[i, h : 3 * h], np.float32(1), gates[i, h : 3 * h])
        for j in range(h):
            now[j] = candidate[j] * enter[j] + was[j] * keep[j]
            leave[j] += peep[2, j] * now[j]
        tangents(now, bent[i])
        logistics(leave, np.float32(1), leave)
        for j in range(h):
            hidden[i, j] = leave[j] * bent[i, j]


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
    state: Array,
    bent: Array,
    given: Array,
    carried: Array,
    out: Array,
) -> None:
    """Fill ``out`` (n, 4h), the gradient of what reached the gates; ``given`` is that of ``hidden``.

    ``carried`` (n, h) is the gradient that reaches the state from the next moment; afterwards that which
    goes to the former one.
    """
    one, h = gates.dtype.type(1), state.shape[1]
    for i in range(state.shape[0]):
        for j in range(h):
            candidate, enter, keep, leave = (
                gates[i, j],
                gates[i, h + j],
                gates[i, 2 * h + j],
                gates[i, 3 * h + j],
            )
            at_leave = given[i, j] * bent[i, j] * leave * (one - leave)
            at_state = given[i, j] * leave * (one - bent[i, j] * bent[i, j]) + carried[i, j]
            at_state += at_leave * peep[2, j]
            at_enter = at_state * candidate * enter * (one - enter)
            at_keep = at_state * former[i, j] * keep * (one - keep)
            out[i, j] = at_state * enter * (one - candidate * candidate)
            out[i, h + j], out[i, 2 * h + j], out[i, 3 * h + j] = at_enter, at_keep, at_leave
            carried[i, j] = at_state * keep + at_enter * peep[0, j] + at_keep * peep[1, j]


def _logistic(x: Array) -> None:
    np.negative(x, x)
    np.exp(x, x)
    np.add(x, 1, x)
    np.reciprocal(x, x)
