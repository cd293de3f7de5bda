"""A side of a product, laid out in tiles of pieces (amx.py): rows of the left matrix or columns of the right.

SQUARE of them are a strip, DEEP products of a sum a block of it, in PIECES tiles side by side. A matrix is
read along its rows, whichever way its tiles lie. It must never know the other side.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.matrices.amx import DEEP, PIECES, split_along, split_pairs, turn_tile
from paddle._engine.kernels.matrices.tiles import SQUARE, copy_line

Array: TypeAlias = np.ndarray
Place: TypeAlias = tuple[int, int]
Side: TypeAlias = tuple[Array, int, bool]
"""A matrix, the first column of it that is multiplied, and whether its rows are what is summed over."""


@kernel
def lay_out_side(
    side: Side, start: int, count: int, k: int, depth: int, tiles: Array, part: Array, is_left: bool
) -> None:
    """So many rows of the left side, or columns of the right one, in pairs of strips: of each the numbers
    that one product has; 0 where there are no more. ``part`` holds anything."""
    matrix, first, is_across = side
    strips, blocks, is_turned = 2 * -(-count // DEEP), -(-depth // DEEP), is_across != is_left
    if is_across:
        begin, whole = (start, first + k), (count // SQUARE, depth // DEEP)
        _split_rows(matrix, begin, whole, blocks, tiles, is_turned)
    else:
        begin, whole = (k, first + start), (count // SQUARE, depth // DEEP)
        _split_columns(matrix, begin, whole, blocks, tiles, is_turned)
    for number in range(strips * blocks):
        strip, block = divmod(number, blocks)
        if strip >= whole[0] or block >= whole[1]:
            left = max(0, min(SQUARE, count - strip * SQUARE)), min(DEEP, depth - block * DEEP)
            _take_part(matrix, begin, (strip, block), left, is_across, part)
            _split_part(part, number * PIECES, is_across, tiles, is_turned)


@kernel
def _split_rows(
    matrix: Array, begin: Place, whole: tuple[int, int], blocks: int, tiles: Array, is_turned: bool
) -> None:
    """So many whole strips, and blocks of them, of which each line is a row."""
    (row, column), (strips, deep) = begin, whole
    for strip in range(strips):
        for block in range(deep):
            tile = (strip * blocks + block) * PIECES
            for line in range(SQUARE):
                split_along(matrix, row + strip * SQUARE + line, column + block * DEEP, tiles, tile, line)
            if is_turned:
                _turn(tiles, tile)


@kernel
def _split_columns(
    matrix: Array, begin: Place, whole: tuple[int, int], blocks: int, tiles: Array, is_turned: bool
) -> None:
    """So many whole strips, and blocks of them, of which each line is in two rows."""
    (row, column), (strips, deep) = begin, whole
    for block in range(deep):
        for line in range(SQUARE):
            pair = row + block * DEEP + 2 * line
            for strip in range(strips):
                tile = (strip * blocks + block) * PIECES
                split_pairs(matrix, pair, column + strip * SQUARE, tiles, tile, line)
        for strip in range(strips if is_turned else 0):
            _turn(tiles, (strip * blocks + block) * PIECES)


@kernel
def _take_part(matrix: Array, begin: Place, number: Place, left: Place, is_across: bool, part: Array) -> None:
    """What is left of a block of a strip, and 0 where there is no more."""
    (row, column), (strip, block), (size, deep) = begin, number, left
    part[:] = 0
    if is_across:
        _copy(matrix, row + strip * SQUARE, column + block * DEEP, size, deep, part)
    else:
        _copy(matrix, row + block * DEEP, column + strip * SQUARE, deep, size, part)


@kernel
def _copy(matrix: Array, row: int, column: int, high: int, wide: int, part: Array) -> None:
    whole = wide // SQUARE * SQUARE
    for m in range(high):
        for n in range(0, whole, SQUARE):
            copy_line(matrix, row + m, column + n, part, m, n)
        for n in range(whole, wide):
            part[m, n] = matrix[row + m, column + n]


@kernel
def _split_part(part: Array, tile: int, is_across: bool, tiles: Array, is_turned: bool) -> None:
    for line in range(SQUARE):
        if is_across:
            split_along(part, line, 0, tiles, tile, line)
        else:
            split_pairs(part, 2 * line, 0, tiles, tile, line)
    if is_turned:
        _turn(tiles, tile)


@kernel
def _turn(tiles: Array, tile: int) -> None:
    for piece in range(PIECES):
        turn_tile(tiles, tile + piece)
