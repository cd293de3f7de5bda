"""Parts: products of a batch with some columns of a matrix, and back with some of its rows.

By loops of our own where these are ahead of BLAS (tiled.py). It must never know an operator, nor who computes
the other parts. Guarantee: an element is computed from all rows of the batch, in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from paddle._engine import tiled
from paddle._engine.blas import Step, add_product


def forward(x: np.ndarray, y: np.ndarray, out: np.ndarray, columns: slice) -> Callable[[], object]:
    """What fills these columns of ``out`` from x @ y, whenever it is called."""
    room = tiled.taken(tiled.room, x, y[:, columns])
    multiply = tiled.multiply(x, y, out, room, columns)
    return tiled.flushed(multiply or partial(np.matmul, x, y[:, columns], out[:, columns]), y)


def back(
    x: np.ndarray,
    slope: np.ndarray,
    y: np.ndarray,
    rows: slice,
    *,
    target: np.ndarray | None,
    below: np.ndarray | None,
    is_added: bool = False,
) -> Step:
    """What computes from the slope of x @ y, called with a factor, these columns of slope @ y.T into
    ``below``, and these rows of factor * x.T @ slope into ``target``, or adds them to it; None is not wanted.
    """
    room = tiled.taken(tiled.room_back, x, y[rows])
    step = tiled.multiply_back(
        x, slope, y, target=target, below=below, room=room, is_added=is_added, rows=rows
    )
    if step is not None:
        return tiled.flushed(step, y)
    part = None if target is None else target[rows]
    move = None if part is None or not is_added else add_product(x[:, rows], slope, part)

    def by_blas(factor: float) -> None:
        if below is not None:
            np.matmul(slope, y[rows].T, below[:, rows])
        if move is not None:
            move(factor)
        elif part is not None:
            np.matmul(x[:, rows].T, slope, part)

    return tiled.flushed(by_blas, y)
