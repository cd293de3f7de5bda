"""Products of many rows with a matrix on a processor that multiplies small matrices by itself (amx.py).

It does so with bfloat16, sixteen times as fast as it multiplies float32. So each number is cut into its
pieces, and six of their nine products are added up: the others come to less than the number's last bit. Both
matrices are laid out in strips of SQUARE rows of the one and as many columns of the other, of which some stay
in the second cache. It must never know what is multiplied.

Guarantee: the numpy twins add the same products, in another order, and sums are at least as near to what they
are as BLAS's; each is one in the order of what is summed over, however many rows and columns are computed
together. Of numbers below 2**-110, whose last bits are too small for a bfloat16, some are cut off; what is
infinite makes NaN, where other products make infinity.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.matrices.amx import (
    DEEP,
    PIECES,
    TILE,
    add_line,
    begin,
    eight_tiles,
    end,
    multiply_square,
)
from paddle._engine.kernels.matrices.side import Side, lay_out_side
from paddle._engine.kernels.matrices.tiles import SQUARE

Array: TypeAlias = np.ndarray
Room: TypeAlias = tuple[Array, Array, Array, Array]

FEWEST = 17
"""Rows of what is multiplied. With fewer it takes longer to lay a matrix out than to multiply."""

DEPTH, ROWS, COLUMNS = 256, 512, 256
"""Of what is laid out: products of a sum, and rows, and columns."""

_HIGH, _NEAR = 256, 5
"""Rows that go through all columns one after another, and of their strips at most so many times PIECES tiles:
what the nearest cache keeps."""

_ONE = np.float32(1)
_EIGHT_TILES = eight_tiles()


def room(samples: int, height: int, width: int) -> dict[str, tuple[int, int]]:
    """The shapes of what ``multiply`` needs besides, in its order: tiles of the left side, of the right one
    and of sums, of each one more than there are, and a part of a matrix."""
    return _room((samples,), (width,), (height,))


def room_back(samples: int, height: int, width: int) -> dict[str, tuple[int, int]]:
    """The shapes of what ``multiply_back`` needs besides, in its order: the same."""
    return _room((samples, height), (height, width), (width, samples))


def _room(
    rows: tuple[int, ...], columns: tuple[int, ...], depths: tuple[int, ...]
) -> dict[str, tuple[int, int]]:
    """For products of so many rows and columns."""
    deep = -(-min(max(depths), DEPTH) // DEEP)
    high, wide = (-(-min(max(given), most) // DEEP) for given, most in ((rows, ROWS), (columns, COLUMNS)))
    tiles = {"rows": 2 * high * deep * PIECES, "columns": 2 * wide * deep * PIECES, "sums": 4}
    return {**{name: (count + 1, TILE) for name, count in tiles.items()}, "part": (DEEP, DEEP)}


@kernel
def multiply(
    x: Array,
    y: Array,
    out: Array,
    first: int,
    last: int,
    rows: Array,
    columns: Array,
    sums: Array,
    part: Array,
) -> None:
    """out[:, first:last] = x @ y[:, first:last]. All C-contiguous float32."""
    begin(_EIGHT_TILES)
    sizes, room = (len(x), last - first, len(y)), (rows, columns, sums, part)
    _multiply((x, 0, True), (y, first, False), (out, first), sizes, _ONE, True, room)
    end()


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
    begin(_EIGHT_TILES)
    if below.size:
        sizes = samples, height, width
        _multiply((slope, 0, True), (y, 0, True), (below, first), sizes, _ONE, True, room)
    if target.size:
        sizes = height, width, samples
        _multiply((x, first, False), (slope, 0, False), (target, 0), sizes, factor, not is_added, room)
    end()


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
    (height, width, length), (rows, columns, _, part), (out, first) = sizes, room, into
    for k in range(0, length, DEPTH):
        depth, is_first = min(DEPTH, length - k), is_new and k == 0
        for row in range(0, height, ROWS):
            high = min(ROWS, height - row)
            lay_out_side(left, row, high, k, depth, rows, part, True)
            for column in range(0, width, COLUMNS):
                size = high, min(COLUMNS, width - column)
                lay_out_side(right, column, size[1], k, depth, columns, part, False)
                _add_all(depth, out, (row, first + column), size, factor, is_first, room)


@kernel
def _add_all(
    depth: int,
    out: Array,
    place: tuple[int, int],
    size: tuple[int, int],
    factor: np.float32,
    is_new: bool,
    room: Room,
) -> None:
    """All that is laid out, _HIGH rows at a time."""
    (row, column), (high, wide) = place, size
    for upper in range(0, high, _HIGH):
        some = min(_HIGH, high - upper), wide
        _add(upper, depth, out, (row + upper, column), some, factor, is_new, room)


@kernel
def _add(
    upper: int,
    depth: int,
    out: Array,
    place: tuple[int, int],
    size: tuple[int, int],
    factor: np.float32,
    is_new: bool,
    room: Room,
) -> None:
    """Some of the rows that are laid out, from ``upper`` on, with all columns: ``out`` is read and written
    along its rows."""
    (row, column), (high, wide), (rows, columns, sums, part) = place, size, room
    blocks = -(-depth // DEEP)
    strip, near = blocks * PIECES, -(-blocks // -(-blocks // _NEAR)) * PIECES
    for tile in range(0, strip, near):
        is_first, count = is_new and tile == 0, min(near, strip - tile) // PIECES
        for i in range(0, high, DEEP):
            x = (upper + i) // SQUARE * strip + tile
            for j in range(0, wide, DEEP):
                multiply_square(rows, x, columns, j // SQUARE * strip + tile, strip, count, sums)
                here = row + i, column + j
                add_square(sums, out, here, (high - i, wide - j), factor, is_first, part)


@kernel
def add_square(
    sums: Array,
    out: Array,
    place: tuple[int, int],
    size: tuple[int, int],
    factor: np.float32,
    is_new: bool,
    part: Array,
) -> None:
    """Of four tiles of sums what there are rows and columns for."""
    (row, column), (high, wide) = place, size
    for side in range(2 if wide > SQUARE else 1):
        here = column + side * SQUARE
        for line in range(min(DEEP, high)):
            tile, at = line // SQUARE * 2 + side, line % SQUARE
            if wide >= (side + 1) * SQUARE:
                add_line(sums, tile, at, out, row + line, here, factor, is_new)
            else:
                add_line(sums, tile, at, part, 0, 0, factor, True)
                _add_few(part[0], out[row + line], here, wide - side * SQUARE, is_new)


@kernel
def _add_few(numbers: Array, out: Array, column: int, count: int, is_new: bool) -> None:
    """So many of them, fewer than a line has."""
    for n in range(count):
        out[column + n] = (np.float32(0) if is_new else out[column + n]) + numbers[n]


def numpy_multiply(
    x: Array,
    y: Array,
    out: Array,
    first: int,
    last: int,
    rows: Array,
    columns: Array,
    sums: Array,
    part: Array,
) -> None:
    """``multiply`` in numpy: the products of pieces that are added up, in float64."""
    np.copyto(out[:, first:last], numpy_product(x, y[:, first:last]))


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
    """``multiply_back`` in numpy, likewise."""
    own = slice(first, first + len(y))
    if below.size:
        np.copyto(below[:, own], numpy_product(slope, y.T))
    if target.size:
        change = factor * numpy_product(x[:, own].T, slope)
        np.copyto(target, target + change if is_added else change)


def numpy_product(left: Array, right: Array) -> Array:
    """left @ right by pieces, in float64."""
    sides = [[each.astype(np.float64) for each in numpy_pieces(side)] for side in (left, right)]
    return sum(  # type: ignore[return-value]
        sides[0][i] @ sides[1][j] for i in range(PIECES) for j in range(PIECES) if i + j < PIECES
    )


def numpy_pieces(numbers: Array) -> list[Array]:
    """What finite float32 are the sum of, each of them with 8 bits."""
    rest, found = np.array(numbers, np.float32), []
    for _ in range(PIECES):
        bits = rest.view(np.uint32).astype(np.int64)
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
        found.append(bits.astype(np.uint32).view(np.float32))
        rest = rest - found[-1]
    return found
