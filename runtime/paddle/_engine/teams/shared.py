"""Shared: a product with a parameter, cut by its columns or rows among the threads of a crew.

A batch is computed by one thread, and other threads take their part of what is long enough to hand out. It
must never know a program, nor what is done with a part. Guarantee: who comes back finds all parts done, or
raises the first error of any.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from math import prod

import numpy as np

from paddle._engine.program import Shape
from paddle._engine.teams.crew import Crew
from paddle._engine.teams.joint import span

LEAST = 1 << 26
"""Multiplications of a product from which on it is shared: some 0.5 ms, and to hand it out takes 0.1."""

_LEAST_SIDE = 256
"""Rows and columns of its parameter: every thread goes through the whole batch, which is most of it else."""

_TILE = 16
"""Columns and rows that loops have in their hands at once (tiled.py): nobody is given a part of that."""


def pays(rows: int, shape: Shape) -> bool:
    """Whether a product of so many rows with a parameter of ``shape``, (height, width), is shared."""
    return rows * prod(shape) >= LEAST and min(shape) >= _LEAST_SIDE


def spans(crew: Crew | None, rows: int, parameter: np.ndarray, axis: int) -> list[slice]:
    """What each thread has of the rows or columns of a parameter that so many rows are multiplied with."""
    size = parameter.shape[axis]
    count = 1 if crew is None or not pays(rows, parameter.shape) else min(crew.count + 1, size // _TILE)
    ends = [span(size // _TILE, number, count).stop * _TILE for number in range(count - 1)]
    return [slice(first, last) for first, last in pairwise((0, *ends, size))]


def together(crew: Crew | None, parts: Sequence[Callable[..., object]]) -> Callable[..., object]:
    """What does all of these at once, the first in this thread, each with what it is called with."""
    first, *others = parts
    if crew is None or not others:
        return first

    def step(*given: float) -> None:
        tasks = [partial(part, *given) for part in others]
        try:
            for number, task in enumerate(tasks):
                crew.start(number, task)
            first(*given)
        finally:
            done = crew.finish()
        for task in tasks:
            _, error = done[task]
            if error is not None:
                raise error

    return step
