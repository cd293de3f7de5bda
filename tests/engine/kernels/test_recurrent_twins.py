"""One moment of recurrences, and of their gradients, against the same formulas over whole arrays. What goes
forward differs by the exponential function; the way back agrees bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._engine.kernels import bends, gru, gru_layer, lstm
from tests.engine.kernels.case import Case, Draw, chance, filled, held, integer, normal

Array = np.ndarray
ONE = np.float32(1)
CLOSE = {"rtol": 2e-6, "atol": 2e-6}


def slope(y: Array, kind: int) -> Array:
    slopes = {bends.SIGMOID: y * (ONE - y), bends.TANH: ONE - y * y, bends.RELU: (y > 0).astype(y.dtype)}
    return slopes.get(kind, np.ones_like(y))


def close_gradient(
    gates: Array, former: Array, given: Array, out: Array, gate: int, candidate: int, is_origin: bool
) -> None:
    update, _, new = np.split(gates, 3, axis=1)
    at_update, _, at_new = np.split(out, 3, axis=1)
    to_new = ONE - update if is_origin else update
    at_update[:] = given * (former - new if is_origin else new - former) * slope(update, gate)
    at_new[:] = given * to_new * slope(new, candidate)
    given *= update if is_origin else ONE - update


def open_gradient(gates: Array, former: Array, at_kept: Array, out: Array, given: Array, gate: int) -> None:
    reset, h = gates[:, former.shape[1] : 2 * former.shape[1]], former.shape[1]
    out[:, h : 2 * h] = at_kept * former * slope(reset, gate)
    given += at_kept * reset


def layer_gradient(
    gates: Array, told: Array, former: Array, given: Array, at_gates: Array, at_told: Array
) -> None:
    reset, update, candidate = np.split(gates, 3, axis=1)
    at_candidate = given * (ONE - update) * (ONE - candidate * candidate)
    at_reset = at_candidate * told * reset * (ONE - reset)
    at_update = given * (former - candidate) * update * (ONE - update)
    at_gates[:] = np.hstack([at_reset, at_update, at_candidate])
    at_told[:] = np.hstack([at_reset, at_update, at_candidate * reset])
    given *= update


def cell_gradient(
    gates: Array,
    peep: Array,
    former: Array,
    state: Array,
    bent: Array,
    given: Array,
    carried: Array,
    out: Array,
    kinds: tuple[int, int, int],
    clip: Any,
) -> None:
    candidate, enter, keep, leave = np.split(gates, 4, axis=1)
    at_leave = given * bent * slope(leave, kinds[0])
    carried += given * leave * slope(bent, kinds[2]) + at_leave * peep[2]
    if clip > 0:
        carried *= (np.abs(state) < clip).astype(np.float32)
    at_enter = carried * candidate * slope(enter, kinds[0])
    at_keep = carried * former * slope(keep, kinds[0])
    out[:] = np.hstack([carried * enter * slope(candidate, kinds[1]), at_enter, at_keep, at_leave])
    carried[:] = carried * keep + at_enter * peep[0] + at_keep * peep[1]


def sizes(draw: Draw) -> tuple[int, int]:
    return integer(draw, 0, 5), integer(draw, 1, 40)


def kind(draw: Draw) -> int:
    return integer(draw, 0, 3)


def opened(draw: Draw) -> tuple[Any, ...]:
    n, h = sizes(draw)
    return normal(draw, n, 3 * h), normal(draw, n, h), filled(n, h), kind(draw)


def closed(draw: Draw) -> tuple[Any, ...]:
    return *opened(draw), chance(draw)


def closed_back(draw: Draw) -> tuple[Any, ...]:
    n, h = sizes(draw)
    given = normal(draw, n, 3 * h), normal(draw, n, h), normal(draw, n, h), filled(n, 3 * h)
    return *given, kind(draw), kind(draw), chance(draw)


def opened_back(draw: Draw) -> tuple[Any, ...]:
    gates, former, at_kept, out, *_ = closed_back(draw)
    return gates, former, at_kept, out, normal(draw, *former.shape), kind(draw)


def layered(draw: Draw) -> tuple[Any, ...]:
    n, h = sizes(draw)
    return normal(draw, n, 3 * h), normal(draw, n, 3 * h), normal(draw, n, h), filled(n, h)


def layered_back(draw: Draw) -> tuple[Any, ...]:
    n, h = sizes(draw)
    states = (normal(draw, n, h) for _ in range(3))
    return normal(draw, n, 3 * h), *states, filled(n, 3 * h), filled(n, 3 * h)


def kinds(draw: Draw) -> tuple[int, int, int]:
    return kind(draw), kind(draw), kind(draw)


def clip(draw: Draw) -> Any:
    return np.float32(0.3) if chance(draw) else np.float32(0)


def moment(draw: Draw) -> tuple[Any, ...]:
    n, h = sizes(draw)
    made = (filled(n, h) for _ in range(3))
    return normal(draw, n, 4 * h), normal(draw, 3, h), normal(draw, n, h), *made, kinds(draw), clip(draw)


def moment_back(draw: Draw) -> tuple[Any, ...]:
    n, h = sizes(draw)
    states = (normal(draw, n, h) for _ in range(5))
    return normal(draw, n, 4 * h), normal(draw, 3, h), *states, filled(n, 4 * h), kinds(draw), clip(draw)


test_a_moment_is_its_twin = held(
    [
        Case(gru.open_gates, gru.numpy_open_gates, opened, **CLOSE),
        Case(gru.close_gates, gru.numpy_close_gates, closed, **CLOSE),
        Case(gru.close_gradient, close_gradient, closed_back, is_wide=True),
        Case(gru.open_gradient, open_gradient, opened_back, is_wide=True),
        Case(gru_layer.cell, gru_layer.numpy_cell, layered, **CLOSE),
        Case(gru_layer.cell_gradient, layer_gradient, layered_back),
        Case(lstm.cell, lstm.numpy_cell, moment, rtol=1e-5, atol=2e-6),
        Case(lstm.cell_gradient, cell_gradient, moment_back, is_wide=True),
    ]
)
