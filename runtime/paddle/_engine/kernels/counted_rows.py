"""Compiled: rows that are counted, each part of which is moved by a rule of its own (the formulas stand in
rules/counted.py).

It must never know what is counted. Guarantee: as rules.py: no fast-math.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.prefetch import AHEAD
from paddle._engine.kernels.rules import ask_for

Array = np.ndarray

KIND, RATE, FIRST_SUM, LEAST, MOST, BETA1, BETA2, EPSILON, NUMBERS = range(9)
NAIVE, ADAGRAD, STD_ADAGRAD, ADAM = range(4)
LEAST_POWER = 2.0**-126
HELD, POWER, FIRST, SECOND = range(4)
"""Places in what is remembered of a row: whether its second part is there, the power of the first part's
Adam, and where the parts begin, in values, too."""


@kernel
def bounded(value: float, told: Array) -> np.float32:
    """As float32, within the part's bounds; what is no number is the least."""
    near = np.float32(value)
    if not near >= told[LEAST]:
        return np.float32(told[LEAST])
    if not near <= told[MOST]:
        return np.float32(told[MOST])
    return near


@kernel
def by_squares(
    row: Array, memory: Array, slope: Array, begin: int, end: int, shown: float, told: Array
) -> None:
    """AdaGrad: one sum for the part, or one for each number."""
    total = 0.0
    for j in range(begin, end):
        at = j if told[KIND] == STD_ADAGRAD else begin
        each = float(np.float32(slope[j]) / np.float32(shown))
        share = np.float32(told[FIRST_SUM]) / (np.float32(told[FIRST_SUM]) + memory[at])
        row[j] = bounded(row[j] - told[RATE] * each * sqrt(share), told)
        if told[KIND] == STD_ADAGRAD:
            memory[at] += np.float32(each * each)
        else:
            total += each * each
    if told[KIND] == ADAGRAD:
        memory[begin] += np.float32(total / (end - begin))


@kernel
def power(value: float) -> np.float32:
    """As float32, and never nothing, as which it would say that there is none yet."""
    return np.float32(max(value, LEAST_POWER))


@kernel
def by_moments(
    row: Array, memory: Array, other: Array, slope: Array, begin: int, end: int, place: int, told: Array
) -> None:
    """Adam, by powers of the part's own steps."""
    if other[place] == 0:
        memory[place], other[place] = power(told[BETA1]), power(told[BETA2])
    rate = told[RATE] * sqrt(1.0 - other[place]) / (1.0 - memory[place])
    for j in range(begin, end):
        each = float(slope[j])
        memory[j] = np.float32(told[BETA1] * memory[j] + (1.0 - told[BETA1]) * each)
        other[j] = np.float32(told[BETA2] * other[j] + (1.0 - told[BETA2]) * each * each)
        row[j] = bounded(row[j] - rate * (memory[j] / (sqrt(other[j]) + told[EPSILON])), told)
    memory[place] = power(memory[place] * told[BETA1])
    other[place] = power(other[place] * told[BETA2])


@kernel
def move_part(
    row: Array, memory: Array, other: Array, slope: Array, begin: int, end: int, shown: float, told: Array
) -> None:
    """One part of a row, by the rule that ``told`` says."""
    if told[KIND] == NAIVE:
        for j in range(begin, end):
            row[j] = bounded(row[j] - told[RATE] * slope[j], told)
    elif told[KIND] == ADAM:
        by_moments(row, memory, other, slope, begin, end, POWER if begin == FIRST else HELD, told)
    else:
        by_squares(row, memory, slope, begin, end, shown, told)


@kernel
def move(
    table: Array, index: Array, gradient: Array, memory: Array, other: Array, parts: Array, counting: Array
) -> None:
    """Count what is shown and clicked of rows ``table[index[i]]``, and move them by ``gradient[i]``.

    ``memory``, ``other``: float32, as the table; the same where no part is moved by Adam. ``parts``: float64
    (2, NUMBERS). ``counting``: float64 (4,): what a show without and with a click count for, from which score
    on the second part is there, and whether slopes are divided by shows.
    """
    width = table.shape[1]
    for i in range(index.shape[0]):
        if i + AHEAD < index.shape[0]:
            ask_for(table, index[i + AHEAD])
        at, slope = index[i], gradient[i]
        row, kept, more = table[at], memory[at], other[at]
        row[0] += slope[0]
        row[1] += slope[1]
        shown = float(slope[0]) if counting[3] != 0 and slope[0] != 0 else 1.0
        move_part(row, kept, more, slope, FIRST, SECOND, shown, parts[0])
        if width == SECOND:
            continue
        if kept[HELD] != 0:
            move_part(row, kept, more, slope, SECOND, width, shown, parts[1])
        elif (row[0] - row[1]) * counting[0] + row[1] * counting[1] >= counting[2]:
            kept[HELD] = np.float32(1)
            if parts[1, KIND] == ADAM:
                more[HELD] = np.float32(0)
            for j in range(SECOND, width):
                row[j], kept[j] = kept[j], np.float32(0)
