"""One moment of an LSTM with peepholes, and of its gradient.

``gates`` (n, 4h) are, in this order: the candidate, the input, the forget and the output gate. ``peep``
(3, h) weighs the cell's state in the three gates: the former state in the first two, the new one in the last.
``kinds`` are the activations (bends.py) of the gates, of the candidate and of the state. It must never know
of time.

    candidate = tanh(g)        input, forget = sigmoid(g + peep * former)
    cell = candidate * input + former * forget, at most ``clip`` either way where that is not 0
    output = sigmoid(g + peep * cell)        hidden = output * tanh(cell)

Guarantee: the numpy twins compute the same for any floating dtype.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.bends import SIGMOID, TANH, bend, numpy_bend, slope
from paddle._engine.kernels.kernel import kernel

Array = np.ndarray
Kinds = tuple[int, int, int]

USUAL = (SIGMOID, TANH, TANH)


@kernel
def cell(
    gates: Array,
    peep: Array,
    former: Array,
    state: Array,
    bent: Array,
    hidden: Array,
    kinds: Kinds,
    clip: np.float32,
) -> None:
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
        bend(candidate, kinds[1])
        bend(gates[i, h : 3 * h], kinds[0])
        for j in range(h):
            now[j] = candidate[j] * enter[j] + was[j] * keep[j]
        if clip > 0:
            for j in range(h):
                now[j] = clip if now[j] > clip else -clip if now[j] < -clip else now[j]
        for j in range(h):
            tip[j] = now[j]
        for j in range(h):
            leave[j] += peep[2, j] * now[j]
        bend(tip, kinds[2])
        bend(leave, kinds[0])
        for j in range(h):
            hidden[i, j] = leave[j] * tip[j]


def numpy_cell(
    gates: Array,
    peep: Array,
    former: Array,
    state: Array,
    bent: Array,
    hidden: Array,
    kinds: Kinds,
    clip: float,
) -> None:
    """The same in numpy."""
    candidate, enter, keep, leave = np.split(gates, 4, axis=1)
    enter += peep[0] * former
    keep += peep[1] * former
    numpy_bend(candidate, kinds[1])
    numpy_bend(enter, kinds[0])
    numpy_bend(keep, kinds[0])
    state[...] = candidate * enter + former * keep
    if clip > 0:
        np.clip(state, -clip, clip, state)
    leave += peep[2] * state
    numpy_bend(leave, kinds[0])
    np.copyto(bent, state)
    numpy_bend(bent, kinds[2])
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
    kinds: Kinds,
    clip: np.float32,
) -> None:
    """Fill ``out`` (n, 4h), the gradient of what reached the gates; ``given`` is that of ``hidden``.

    ``carried`` (n, h) is the gradient that reaches the state from the next moment; afterwards that which
    goes to the former one.
    """
    one, h, (gate, of_candidate, of_state) = gates.dtype.type(1), given.shape[1], kinds
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
            at_leave[j] = at_hidden[j] * tip[j] * slope(leave[j], gate, one)
        for j in range(h):
            at_state[j] += at_hidden[j] * leave[j] * slope(tip[j], of_state, one) + at_leave[j] * peep[2, j]
        if clip > 0:
            for j in range(h):
                at_state[j] *= one if abs(state[i, j]) < clip else one - one
        for j in range(h):
            at_candidate[j] = at_state[j] * enter[j] * slope(candidate[j], of_candidate, one)
        for j in range(h):
            at_enter[j] = at_state[j] * candidate[j] * slope(enter[j], gate, one)
        for j in range(h):
            at_keep[j] = at_state[j] * was[j] * slope(keep[j], gate, one)
        for j in range(h):
            at_state[j] = at_state[j] * keep[j] + at_enter[j] * peep[0, j] + at_keep[j] * peep[1, j]
