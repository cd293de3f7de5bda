"""Strips: a matrix laid out once in pieces of its numbers, for many products with a few rows each.

What panels.py is elsewhere, on a processor that multiplies small matrices by itself (amx.py). A matrix
becomes strips of its columns; each goes through all rows while it is in the nearest cache, and sums are whole
when they leave the processor's tiles. It must never know what is multiplied.

Guarantee: that of pieces.py.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.matrices import amx
from paddle._engine.kernels.matrices.amx import (
    DEEP,
    PIECES,
    TILE,
    begin,
    eight_tiles,
    end,
    multiply_square,
)
from paddle._engine.kernels.matrices.pieces import add_square
from paddle._engine.kernels.matrices.side import lay_out_side
from paddle._engine.kernels.matrices.tiles import SQUARE

Array: TypeAlias = np.ndarray
Room: TypeAlias = tuple[Array, Array, Array, Array]
"""Tiles of the matrix, of rows that are multiplied with it, and of sums; and a part of a matrix."""

LEAST = 64
"""Rows, and columns, of a matrix."""

_FEWEST = 24
"""Rows of what is multiplied. With fewer, panels are read sooner: strips are half as much again."""

_ROWS = 128
"""Rows that are laid out together."""

_ONE = np.float32(1)
_EIGHT_TILES = eight_tiles()
_SUMS, _SPARE, _PART = 4, 1, DEEP * DEEP // TILE


def room(count: int, height: int, width: int, dtype: str) -> tuple[int, int]:
    """The shape of a matrix's room, for products with up to ``count`` rows; there is none where few are
    multiplied, or for another dtype than float32, or without such a processor."""
    if min(height, width) < LEAST or count < _FEWEST or dtype != "float32" or not amx.is_there():
        return 0, TILE
    columns, rows = _tiles(height, width), _tiles(height, min(count, _ROWS))
    return columns + rows + _SUMS + _SPARE + _PART, TILE


def cut(room: Array, height: int, width: int) -> Room:
    """The parts of such a room. Tiles begin with the first cache line in it, those of each part likewise."""
    columns, behind = _tiles(height, width), len(room) - _PART
    rows = behind - _SPARE - _SUMS
    part = room[behind:].reshape(DEEP, DEEP)
    return room[:columns], room[columns:rows], room[rows : rows + _SUMS], part


def _tiles(height: int, count: int) -> int:
    """Of so many rows or columns, in pairs of strips, with ``height`` products of a sum."""
    return 2 * -(-count // DEEP) * -(-height // DEEP) * PIECES


@kernel
def lay_out(matrix: Array, is_turned: bool, room: Room) -> None:
    """Fill a room with a float32 matrix, or with the one whose rows are its columns; rows are contiguous."""
    columns, _, _, part = room
    height, width = matrix.shape[::-1] if is_turned else matrix.shape
    lay_out_side((matrix, 0, is_turned), 0, width, 0, height, columns, part, False)


@kernel
def add_product(x: Array, room: Room, out: Array) -> None:
    """out += x @ matrix, of (n, height) and (n, width) whose rows are contiguous."""
    columns, rows, sums, part = room
    (count, height), width = x.shape, out.shape[1]
    blocks = -(-height // DEEP)
    strip = blocks * PIECES
    begin(_EIGHT_TILES)
    for first in range(0, count, _ROWS):
        high = min(_ROWS, count - first)
        lay_out_side((x, 0, True), first, high, 0, height, rows, part, True)
        for j in range(0, width, DEEP):
            for i in range(0, high, DEEP):
                left, right = i // SQUARE * strip, j // SQUARE * strip
                multiply_square(rows, left, columns, right, strip, blocks, sums)
                add_square(sums, out, (first + i, j), (high - i, width - j), _ONE, False, part)
    end()
