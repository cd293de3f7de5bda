"""Counted rows, compiled, against the same formulas in float64, row by row. See tests/engine/rules for what
the rule is to do."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from paddle._engine.kernels import counted_rows
from tests.engine.kernels.case import Case, Draw, generator, held

Array = np.ndarray
ADAGRAD, STD_ADAGRAD, ADAM = 1, 2, 3


def move(
    table: Array, index: Array, gradient: Array, memory: Array, other: Array, parts: Array, counting: Array
) -> None:
    for at, slope in zip(index, gradient, strict=True):
        row, kept, more = table[at], memory[at], other[at]
        row[:2] += slope[:2]
        shown = slope[0] if counting[3] and slope[0] else np.float32(1)
        part(row[2:3], kept[2:3], more[2:3], slope[2:3], shown, parts[0], (kept[1:2], more[1:2]))
        if len(row) == 3:
            continue
        if kept[0]:
            part(row[3:], kept[3:], more[3:], slope[3:], shown, parts[1], (kept[:1], more[:1]))
        elif (float(row[0]) - row[1]) * counting[0] + row[1] * counting[1] >= counting[2]:
            kept[0] = 1
            if parts[1, 0] == ADAM:
                more[0] = 0
            row[3:], kept[3:] = kept[3:].copy(), 0


def part(
    w: Array, kept: Array, more: Array, g: Array, shown: Any, told: Array, powers: tuple[Array, Array]
) -> None:
    kind, rate, first, least, most, beta1, beta2, epsilon = told
    if kind == ADAM:
        if powers[1][0] == 0:
            powers[0][0], powers[1][0] = beta1, beta2
        pace = rate * np.sqrt(1 - float(powers[1][0])) / (1 - float(powers[0][0]))
        kept[:] = beta1 * kept.astype(float) + (1 - beta1) * g
        more[:] = beta2 * more.astype(float) + (1 - beta2) * g.astype(float) ** 2
        moved = w - pace * (kept / (np.sqrt(more.astype(float)) + epsilon))
        powers[0][0], powers[1][0] = powers[0][0] * beta1, powers[1][0] * beta2
    elif kind in (ADAGRAD, STD_ADAGRAD):
        scaled, squares = (g / shown).astype(float), kept if kind == STD_ADAGRAD else kept[:1]
        moved = w - rate * scaled * np.sqrt(first / (first + squares.astype(float)))
        squares += (scaled**2 if kind == STD_ADAGRAD else np.mean(scaled**2)).astype(np.float32)
    else:
        moved = w - rate * g.astype(float)
    w[:] = np.clip(moved, least, most)


def rows(draw: Draw) -> tuple[Any, ...]:
    rng, width, height = generator(draw), draw(st.integers(3, 9)), draw(st.integers(1, 12))
    index = rng.permutation(height)[: draw(st.integers(0, height))]
    table, gradient = (rng.normal(0, 1, (many, width)).astype(np.float32) for many in (height, len(index)))
    table[:, :2], gradient[:, :2] = rng.integers(0, 5, (height, 2)), rng.integers(0, 3, (len(index), 2))
    memory, other = np.abs(rng.normal(0, 0.3, (2, height, width))).astype(np.float32)
    memory[:, 0] = np.where(rng.random(height) < 0.5, 0, 0.9)
    memory[:, 1] = 0.9
    other[:, :2] = np.where(rng.random((height, 2)) < 0.5, 0, 0.999)
    kinds = rng.integers(0, 4, 2)
    parts = np.array([[kind, 0.1, 3.0, -0.5, 0.5, 0.9, 0.999, 1e-3] for kind in kinds])
    counting = np.array([0.125, 1.0, draw(st.sampled_from([0.0, 1.0, 1e9])), draw(st.integers(0, 1))])
    return table, index, gradient, memory, other, parts.astype(np.float32).astype(float), counting


test_rows_are_counted_and_moved = held([Case(counted_rows.move, move, rows, rtol=1e-4, atol=1e-5)])
