"""Catching up, compiled, against the same steps taken one after another in float64.

Where the kernel takes steps of one rate together the last digits of float64 differ, and float32 by a bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from paddle._engine.kernels import idle
from tests.engine.kernels.case import Case, Draw, chance, generator, held, integer, normal

Array = np.ndarray
LAST = 40
"""The step up to which there are rates."""


def shrunk(w: Array, l1: Any, l2: Any) -> Array:
    return np.copysign(np.maximum(np.abs(w) - l1, 0), w) / (1 + l2)


def rates_between(done: int, step: int, ends: Array, rates: Array) -> Iterator[float]:
    """The rate of each step behind ``done``, as far as ``step``."""
    for each in range(done + 1, step + 1):
        yield float(next(rate for end, rate in zip(ends, rates, strict=True) if each <= end))


def decay(
    table: Array,
    index: Array,
    last_step: Array,
    step: int,
    l1: float,
    l2: float,
    follows: bool,
    pace: Array | None,
    *runs: Array,
) -> None:
    for i, row in enumerate(index):
        w = table[row].astype(np.float64)
        for rate in rates_between(abs(int(last_step[row])), step, *runs):
            own = rate if pace is None else rate * pace[i]
            w = shrunk(w, own * l1, own * l2) if follows else w * (1 - own * l2)
        table[row] = w


def fade(table: Array, index: Array, last_step: Array, step: int, rho: float) -> None:
    for row in index:
        table[row] *= np.float32(rho ** (step - abs(int(last_step[row]))))


def roll(
    table: Array,
    index: Array,
    last_step: Array,
    step: int,
    l2: float,
    velocity: Array,
    m: float,
    *runs: Array,
) -> None:
    for row in index:
        w, v = table[row].astype(np.float64), velocity[row].astype(np.float64)
        for rate in rates_between(abs(int(last_step[row])), step, *runs):
            v = m * v - rate * l2 * w
            w = w + v
        table[row], velocity[row] = w, v


def roll_shrinking(
    table: Array,
    index: Array,
    last_step: Array,
    step: int,
    l1: float,
    l2: float,
    velocity: Array,
    m: float,
    steps: int,
    *runs: Array,
) -> None:
    for row in index[last_step[index] > 0]:
        done = int(last_step[row])
        last_step[row] = last = min(step, done + steps)
        w, v = table[row].astype(np.float64), velocity[row].astype(np.float64)
        for rate in rates_between(done, last, *runs):
            v = m * v
            w = shrunk(w + v, rate * l1, rate * l2)
        table[row], velocity[row] = w, v * m ** (step - last)


def adam(
    table: Array,
    index: Array,
    last_step: Array,
    step: int,
    l1: float,
    l2: float,
    first: Array,
    second: Array,
    *numbers: Any,
) -> None:
    beta1, beta2, epsilon, corrected, steps, *runs = numbers
    for row in index[last_step[index] > 0]:
        done = int(last_step[row])
        last_step[row] = last = min(step, done + steps)
        w, m, v = (each[row].astype(np.float64) for each in (table, first, second))
        for now, rate in enumerate(rates_between(done, last, *runs), done + 1):
            m, v = beta1 * m, beta2 * v
            mean, square = m / (1 - beta1**now), v / (1 - beta2**now)
            least = epsilon if corrected else epsilon / np.sqrt(1 - beta2**now)
            w = shrunk(w - rate * mean / (np.sqrt(square) + least), rate * l1, rate * l2)
        table[row] = w
        first[row], second[row] = m * beta1 ** (step - last), v * beta2 ** (step - last)


def who(draw: Draw) -> tuple[Array, Array, Array, int]:
    """What all kernels begin with; some rows were never touched."""
    height, width, random = integer(draw, 1, 6), integer(draw, 1, 9), generator(draw)
    step = integer(draw, 1, LAST)
    last_step = random.integers(-step, step + 1, height)
    return (
        normal(draw, height, width),
        random.permutation(height)[: integer(draw, 0, height)],
        last_step,
        step,
    )


def with_rates(draw: Draw) -> tuple[Array, Array]:
    random = generator(draw)
    ends = np.unique(np.append(random.integers(1, LAST, integer(draw, 0, 5)), LAST))
    return ends, random.random(len(ends)) * 0.1


def penalty(draw: Draw, *values: float) -> float:
    return values[integer(draw, 0, len(values) - 1)]


def decayed(draw: Draw) -> tuple[Any, ...]:
    table, index, last_step, step = who(draw)
    l1, l2 = penalty(draw, 0.0, 0.1), penalty(draw, 0.0, 0.5)
    pace = np.abs(normal(draw, len(index), table.shape[1], dtype=np.float64)) if chance(draw) else None
    return table, index, last_step, step, l1, l2, l1 > 0 or chance(draw), pace, *with_rates(draw)


def faded(draw: Draw) -> tuple[Any, ...]:
    return *who(draw), penalty(draw, 0.9, 0.5, 0.0)


def rolled(draw: Draw) -> tuple[Any, ...]:
    table, *others = who(draw)
    velocity = normal(draw, *table.shape)
    return table, *others, penalty(draw, 0.0, 0.5), velocity, penalty(draw, 0.9, 0.0), *with_rates(draw)


def rolled_and_shrunk(draw: Draw) -> tuple[Any, ...]:
    table, *others = who(draw)
    penalties = penalty(draw, 0.1, 0.01), penalty(draw, 0.0, 0.5)
    numbers = normal(draw, *table.shape), penalty(draw, 0.9, 0.5), integer(draw, 1, LAST)
    return table, *others, *penalties, *numbers, *with_rates(draw)


def averaged(draw: Draw) -> tuple[Any, ...]:
    table, *others = who(draw)
    penalties, moments = (penalty(draw, 0.0, 0.1), penalty(draw, 0.0, 0.5)), normal(draw, 2, *table.shape)
    numbers = 0.8, 0.9, penalty(draw, 1e-6, 0.1), penalty(draw, 0.0, 1.0), integer(draw, 1, LAST)
    return table, *others, *penalties, moments[0], np.abs(moments[1]), *numbers, *with_rates(draw)


CLOSE = {"rtol": 2e-7, "atol": 1e-9}
test_caught_up_rows_are_those_of_the_twin = held(
    [
        Case(idle.decay, decay, decayed, **CLOSE),
        Case(idle.fade, fade, faded, **CLOSE),
        Case(idle.roll, roll, rolled, **CLOSE),
        Case(idle.roll_shrinking, roll_shrinking, rolled_and_shrunk, **CLOSE),
        Case(idle.adam, adam, averaged, **CLOSE),
    ]
)
