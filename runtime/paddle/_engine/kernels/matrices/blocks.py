"""Products of many rows with a matrix, as they are of a large batch and a layer, forward and on the way back.

Both matrices are laid out in strips, of SQUARE rows of the one and as many columns of the other: some of
either stay in the second cache, one of the first at a time in the nearest, and sums in registers: tiles of
the size that is best on this processor, and squares for what is left (tiles.py). It must never know what is
multiplied.

Guarantee: the numpy twins add the same products, in another order: each number is a sum in the order of what
is summed over, DEPTH at a time, however many rows and columns are computed together.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.matrices.tiles import (
    DEPTH,
    HIGH,
    SQUARE,
    WIDE,
    add_square,
    add_strips,
    copy_line,
    turn_square,
)

Array: TypeAlias = np.ndarray
Place: TypeAlias = tuple[Array, int, int]
Room: TypeAlias = tuple[Array, Array, Array]
Side: TypeAlias = tuple[Array, int, bool]
"""A matrix, the first column of it that is multiplied, and whether its rows are what is summed over."""

LEAST = 64
"""Rows, and columns, of a matrix: with fewer, what is laid out is not used often enough."""

ROWS, COLUMNS = 512, 256 // (WIDE * SQUARE) * WIDE * SQUARE
"""Of what is laid out, DEPTH products of a sum deep."""

_ONE = np.float32(1)


def room(samples: int, height: int, width: int) -> dict[str, tuple[int, int]]:
    """The shapes of what ``multiply`` needs besides, in its order: strips of rows, strips of columns, and a
    tile of which not all is wanted."""
    return _room((samples,), (width,), (height,))


def room_back(samples: int, height: int, width: int) -> dict[str, tuple[int, int]]:
    """The shapes of what ``multiply_back`` needs besides, in its order: the same."""
    return _room((samples, height), (height, width), (width, samples))


def _room(
    rows: tuple[int, ...], columns: tuple[int, ...], depths: tuple[int, ...]
) -> dict[str, tuple[int, int]]:
    """For products of so many rows and columns."""
    depth = min(max(depths), DEPTH)
    high, wide = (-(-min(max(given), most) // SQUARE) for given, most in ((rows, ROWS), (columns, COLUMNS)))
    return {
        "rows": (high * depth, SQUARE),
        "columns": (wide * depth, SQUARE),
        "tile": (SQUARE, WIDE * SQUARE),
    }


@kernel
def multiply(
    x: Array, y: Array, out: Array, first: int, last: int, rows: Array, columns: Array, tile: Array
) -> None:
    """out[:, first:last] = x @ y[:, first:last]. All C-contiguous float32."""
    sizes, room = (len(x), last - first, len(y)), (rows, columns, tile)
    _multiply((x, 0, True), (y, first, False), (out, first), sizes, _ONE, True, room)


def numpy_multiply(
    x: Array, y: Array, out: Array, first: int, last: int, rows: Array, columns: Array, tile: Array
) -> None:
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

    y has the rows from ``first`` on of a matrix that x has a column for each row of. All C-contiguous
    float32; ``room``: arrays of the shapes that ``room_back`` says, which hold anything.
    """
    samples, (height, width) = len(slope), y.shape
    if below.size:
        sizes = samples, height, width
        _multiply((slope, 0, True), (y, 0, True), (below, first), sizes, _ONE, True, room)
    if target.size:
        sizes = height, width, samples
        _multiply((x, first, False), (slope, 0, False), (target, 0), sizes, factor, not is_added, room)


@kernel
def _multiply(
    left: Side,
    right: Side,
    into: tuple[Array, int],
    sizes: tuple[int, int, int],
    factor: np.float32,
    is_new: bool,
    room: Room,
) -> None:
    """Of ``into``, from a column on, so many rows and columns: += factor * left @ right, or = if it
    ``is_new``."""
    (height, width, length), (rows, columns, tile), (out, begin) = sizes, room, into
    for k in range(0, length, DEPTH):
        depth, is_first = min(DEPTH, length - k), is_new and k == 0
        for row in range(0, height, ROWS):
            high = min(ROWS, height - row)
            _lay_out(left, row, high, k, depth, rows)
            after = _place(left, row + ROWS, k) if row + ROWS < height else _place(left, 0, k + DEPTH)
            for column in range(0, width, COLUMNS):
                wide = min(COLUMNS, width - column)
                _lay_out(right, column, wide, k, depth, columns)
                ahead = _place(right, column + COLUMNS, k) if column + COLUMNS < width else after
                place = row, begin + column
                _add(rows, columns, depth, out, place, (high, wide), factor, is_first, tile, ahead)


@kernel
def _place(side: Side, begin: int, k: int) -> Place:
    """Where that begins in the matrix which is laid out from there on."""
    matrix, first, is_across = side
    return (matrix, begin, first + k) if is_across else (matrix, k, first + begin)


@kernel
def _lay_out(side: Side, begin: int, count: int, k: int, depth: int, strips: Array) -> None:
    """So many rows of the left side, or columns of the right one, in strips of SQUARE: of each the numbers
    that one product has, side by side; 0 where there are no more."""
    matrix, first, is_across = side
    for i in range(0, count, SQUARE):
        size, start = min(SQUARE, count - i), i // SQUARE * depth
        done = 0
        if size == SQUARE and is_across:
            done = depth // SQUARE * SQUARE
            for j in range(0, done, SQUARE):
                turn_square(matrix, begin + i, first + k + j, strips, start + j, 0)
        elif size == SQUARE:
            done = depth
            for j in range(depth):
                copy_line(matrix, k + j, first + begin + i, strips, start + j, 0)
        for j in range(done, depth):
            for n in range(size):
                strips[start + j, n] = (
                    matrix[begin + i + n, first + k + j]
                    if is_across
                    else matrix[k + j, first + begin + i + n]
                )
            for n in range(size, SQUARE):
                strips[start + j, n] = np.float32(0)


@kernel
def _add(
    rows: Array,
    columns: Array,
    depth: int,
    out: Array,
    place: tuple[int, int],
    size: tuple[int, int],
    factor: np.float32,
    is_new: bool,
    tile: Array,
    ahead: Place,
) -> None:
    """All tiles of what is laid out. One after another asks for a row of what is ahead."""
    (row, column), (high, wide), (matrix, first, line) = place, size, ahead
    whole, asked = wide // (WIDE * SQUARE) * (WIDE * SQUARE), first
    for i in range(0, high, HIGH):
        begin, part, left = i // SQUARE * depth, i % SQUARE, out[row + i : row + high]
        for j in range(0, whole, WIDE * SQUARE):
            y, coming = j // SQUARE * depth, (matrix, asked, line)
            asked += 1
            if len(left) >= HIGH:
                into = out, row + i, column + j
                add_strips(into, rows, begin, part, columns, y, depth, factor, is_new, coming)
            else:
                add_strips((tile, 0, 0), rows, begin, part, columns, y, depth, factor, True, coming)
                _add_part(tile, left, column + j, WIDE * SQUARE, is_new)
    for i in range(0, high, SQUARE):
        begin, left = i // SQUARE * depth, out[row + i : row + high]
        for j in range(whole, wide, SQUARE):
            y, coming = j // SQUARE * depth, (matrix, asked, line)
            asked += 1
            if min(len(left), wide - j) >= SQUARE:
                into = out, row + i, column + j
                add_square(into, rows, begin, 0, columns, y, depth, factor, is_new, coming)
            else:
                add_square((tile, 0, 0), rows, begin, 0, columns, y, depth, factor, True, coming)
                _add_part(tile, left, column + j, min(SQUARE, wide - j), is_new)


@kernel
def _add_part(tile: Array, out: Array, column: int, width: int, is_new: bool) -> None:
    """Of a tile what there are rows and columns for."""
    for m in range(min(SQUARE, len(out))):
        for n in range(width):
            before = np.float32(0) if is_new else out[m, column + n]
            out[m, column + n] = before + tile[m, n]
