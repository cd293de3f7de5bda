"""Products of few rows with a matrix, as they are of a batch and a layer, forward and on the way back.

BLAS lays a matrix out anew for every product, which takes as long as to multiply where rows are few. Here it
is read where it lies: a panel of some columns at a time, for few rows of the batch whose sums stay in
registers (tiles.py); and what comes next is asked for meanwhile. On the way back a piece of the matrix comes
to the nearest cache once: it makes its part of the slopes of what is below, and is moved then. It must never
know what is multiplied.

Guarantee: the numpy twins add the same products, in another order. Slopes are those by the matrix as it was.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.matrices.tiles import FEWEST, IS_AHEAD, ROWS, SQUARE, WIDTH, add_tile, turn_square

Array: TypeAlias = np.ndarray
Room: TypeAlias = tuple[Array, Array, Array, Array]

MOST = max(32, FEWEST - 1) if IS_AHEAD else 32
"""Rows of what is multiplied. With more what is laid out is as fast, elsewhere BLAS sooner."""

_BLOCK = 4 * ROWS
"""Rows of a matrix that are in the nearest cache together."""

_ONE = np.float32(1)


def room(samples: int, height: int, width: int) -> dict[str, tuple[int, int]]:
    """The shapes of what ``multiply`` needs besides, in its order: nothing."""
    return {}


def room_back(samples: int, height: int, width: int) -> dict[str, tuple[int, int]]:
    """The shapes of what ``multiply_back`` needs besides, in its order: what is multiplied and its slopes,
    turned over; and of the product's slopes a panel, as it is and turned over."""
    lanes = -(-samples // SQUARE) * SQUARE
    return {
        "x": (height, samples),
        "below": (height, lanes),
        "panel": (lanes, WIDTH),
        "turned": (WIDTH, lanes),
    }


@kernel
def multiply(x: Array, y: Array, out: Array, first: int, last: int) -> None:
    """out[:, first:last] = x @ y[:, first:last], of WIDTH columns or more. All C-contiguous float32."""
    samples, depth = x.shape
    count = -(-samples // ROWS)
    for begin in range(first, last, WIDTH):
        column, after = min(begin, last - WIDTH), min(begin + WIDTH, last - WIDTH)
        clear(out, 0, samples, column, column + WIDTH)
        for tile in range(count):
            asked = tile * depth // count
            ahead = (y, asked, after, max(1, (tile + 1) * depth // count - asked))
            rows = four(tile * ROWS, samples - 1)
            add_tile(out, rows, column, x, 0, y, column, depth, _ONE, ahead)


def numpy_multiply(x: Array, y: Array, out: Array, first: int, last: int) -> None:
    """The same in numpy, for any floating dtype."""
    np.matmul(x, y[:, first:last], out[:, first:last])


@kernel
def multiply_back(
    x: Array,
    first: int,
    slope: Array,
    y: Array,
    target: Array,
    below: Array,
    factor: np.float32,
    is_added: bool,
    room: Room,
) -> None:
    """Of the slope of x @ y: ``below`` becomes slope @ y.T, and ``target`` factor * x.T @ slope, or is moved
    by that if ``is_added``; each where it is not empty. ``target`` may be y.

    y has the rows from ``first`` on of a matrix that x has a column for each row of, and WIDTH columns or
    more. All C-contiguous float32; ``room``: arrays of the shapes that ``room`` says, which hold anything.
    """
    samples, (height, width) = slope.shape[0], y.shape
    x_turned, below_turned, panel, panel_turned = room
    if target.size:
        turn(x, first, x_turned, 0, samples, height)
    clear(below_turned, 0, height, 0, below_turned.shape[1])
    clear(panel, samples, len(panel), 0, WIDTH)
    asked = 1 if below.size and is_added else ROWS  # what is moved has been asked for to pass back, mostly
    for begin in range(0, width, WIDTH):
        column = min(begin, width - WIDTH)
        _take(slope, column, begin - column, panel)
        if below.size:
            turn(panel, 0, panel_turned, 0, len(panel), WIDTH)
        for row in range(0, height, _BLOCK):
            ahead = row + _BLOCK, column
            if row + _BLOCK >= height:
                ahead = 0, min(begin + WIDTH, width - WIDTH)
            if below.size:
                _pass_back(y, row, column, panel_turned, below_turned, ahead)
            if target.size:
                cleared = column + WIDTH if is_added else begin
                _move(target, row, column, cleared, x_turned, panel, factor, (*ahead, asked))
    if below.size:
        turn(below_turned, 0, below, first, height, samples)


def numpy_multiply_back(
    x: Array,
    first: int,
    slope: Array,
    y: Array,
    target: Array,
    below: Array,
    factor: np.float32,
    is_added: bool,
    room: Room,
) -> None:
    """The same in numpy, for any floating dtype."""
    own = slice(first, first + len(y))
    if below.size:
        np.matmul(slope, y.T, below[:, own])
    if target.size:
        change = factor * (x[:, own].T @ slope)
        np.copyto(target, target + change if is_added else change)


@kernel
def _pass_back(y: Array, row: int, column: int, panel: Array, below: Array, ahead: tuple[int, int]) -> None:
    """below[row:] += y[row:, column:] @ panel, of _BLOCK rows. The fewer samples there are, the more rows a
    tile has."""
    last, after, samples, group = len(y) - 1, ahead[1], panel.shape[1], 0
    size = min(_BLOCK, len(y) - row)
    while samples - group >= WIDTH:
        for i in range(0, size, ROWS):
            coming = (y, ahead[0] + i, after, 1 if group else ROWS)
            rows = four(row + i, last)
            add_tile(below, rows, group, y, column, panel, group, WIDTH, _ONE, coming)
        group += WIDTH
    if samples - group >= WIDTH // 2:
        for i in range(0, size, 2 * ROWS):
            coming = (y, ahead[0] + i, after, 1 if group else 2 * ROWS)
            rows = four(row + i, last) + four(row + i + 4, last)
            add_tile(below, rows, group, y, column, panel, group, WIDTH, _ONE, coming)
        group += WIDTH // 2
    if samples > group:
        coming = (y, ahead[0], after, 1 if group else _BLOCK)
        rows = four(row, last) + four(row + 4, last) + four(row + 8, last) + four(row + 12, last)
        add_tile(below, rows, group, y, column, panel, group, WIDTH, _ONE, coming)


@kernel
def _move(
    target: Array,
    row: int,
    column: int,
    cleared: int,
    x: Array,
    panel: Array,
    factor: np.float32,
    ahead: tuple[int, int, int],
) -> None:
    """target[row:, column:] += factor * x[row:] @ panel, of _BLOCK rows; from column ``cleared`` on they are
    cleared before."""
    last = len(target) - 1
    clear(target, row, min(row + _BLOCK, len(target)), cleared, column + WIDTH)
    for i in range(0, min(_BLOCK, len(target) - row), ROWS):
        coming = (target, ahead[0] + i, ahead[1], ahead[2])
        add_tile(target, four(row + i, last), column, x, 0, panel, 0, x.shape[1], factor, coming)


@kernel
def turn(source: Array, start: int, target: Array, into: int, height: int, width: int) -> None:
    """target[:width, into:] = source[:height, start:].T"""
    whole, wide = height // SQUARE * SQUARE, width // SQUARE * SQUARE
    for i in range(0, whole, SQUARE):
        for j in range(0, wide, SQUARE):
            turn_square(source, i, start + j, target, j, into + i)
    for i in range(height):
        for j in range(wide if i < whole else 0, width):
            target[j, into + i] = source[i, start + j]


@kernel
def _take(slope: Array, column: int, seen: int, panel: Array) -> None:
    """A panel of slopes, with 0 for columns that the one before has, too."""
    for i in range(slope.shape[0]):
        row, source = panel[i], slope[i, column:]
        for j in range(WIDTH):
            row[j] = source[j]
        for j in range(seen):
            row[j] = 0


@kernel
def clear(x: Array, row: int, end: int, column: int, last: int) -> None:
    for i in range(row, end):
        part = x[i, column:last]
        for j in range(part.shape[0]):
            part[j] = 0


@kernel
def four(row: int, last: int) -> tuple[int, int, int, int]:
    """So many rows from one on; the last one more than once where there are no more."""
    return min(row, last), min(row + 1, last), min(row + 2, last), min(row + 3, last)
