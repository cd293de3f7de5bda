"""AMX: products of small matrices that a processor has an instruction for, as words of compiled loops.

It knows float32 in pieces. A piece is a bfloat16, the upper half of a float32, and has 8 bits of the number;
three of them are all of it. A tile of 1 KiB has 16 lines of 64 bytes: of the left side 16 rows of 32 pieces,
of the right side 16 columns, in pairs of what is summed over, or 16 x 16 sums of 32 bits. It must never know
how a matrix is cut into tiles.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from paddle._engine.kernels.matrices.tiles import (
    FEATURES,
    ROUNDED_ONCE,
    SQUARE,
    STRIP,
    addresses,
    everywhere,
    exchanged,
)

PIECES = 3
"""bfloat16 that a float32 is the sum of."""

DEEP = 2 * SQUARE
"""Products of a sum that one instruction adds."""

TILE = SQUARE * SQUARE
"""float32 in as much memory as a tile takes."""

NEEDED = ("+amx-tile", "+amx-bf16", "+avx512bw")
"""What a processor has to have, in LLVM's words."""

_ARCH_PRCTL, _ASK_LEAVE, _TILES = 158, 0x1023, 18  # of Linux on x86-64: ARCH_REQ_XCOMP_PERM, XTILEDATA

_BYTE, _HALF, _WORD, _LONG = (ir.IntType(bits) for bits in (8, 16, 32, 64))
_BYTES = _BYTE.as_pointer()
_WORDS, _HALVES = ir.VectorType(_WORD, SQUARE), ir.VectorType(_HALF, DEEP)
_LINE, _SIZE = 64, 1024  # bytes, of a tile

_PRODUCTS = ((0, 2), (0, 1), (1, 1), (1, 0), (0, 0), (2, 0))
"""Pieces of the left and of the right side that are multiplied, each with one of those before: what is left
out is less than the last bit of the number."""


@cache
def is_there() -> bool:
    """Whether the processor has it, and Linux lets this process use it, which has to be asked for once."""
    if (
        not sys.platform.startswith("linux")
        or config.DISABLE_JIT
        or not set(NEEDED) <= set(FEATURES.split(","))
    ):
        return False
    return bool(ctypes.CDLL(None).syscall(_ARCH_PRCTL, _ASK_LEAVE, _TILES) == 0)


def eight_tiles() -> np.ndarray:
    """What ``begin`` is given: all tiles are as large as they can be."""
    told = np.zeros(_LINE, np.uint8)
    told[0], told[16:32:2], told[48:56] = 1, _LINE, SQUARE
    return told


@intrinsic
def begin(typing_context: Any, told: Any) -> Any:
    """This thread may use tiles from here on."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        at = addresses(context, builder, signature.args[0], arguments[0])
        _do(builder, "ldtilecfg", builder.bitcast(at(_LONG(0)), _BYTES))
        return context.get_dummy_value()

    return types.void(told), generate


@intrinsic
def end(typing_context: Any) -> Any:
    """It uses none any more: Linux need not keep them when another thread runs."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        _do(builder, "tilerelease")
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def multiply_square(
    typing_context: Any, left: Any, row: Any, right: Any, column: Any, apart: Any, count: Any, sums: Any
) -> Any:
    """Four tiles of ``sums`` become the products of two strips of either side: of the left one those at tile
    ``row`` and so many tiles (``apart``) behind it, of the right one those at ``column`` and behind it.

    Of a strip ``count`` times PIECES tiles are multiplied.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        left, row, right, column, apart, count, sums = arguments
        kinds, starts = signature.args, (row, column)
        sides = [_tiles(context, builder, kind, side) for kind, side in ((kinds[0], left), (kinds[2], right))]
        targets = _tiles(context, builder, kinds[6], sums)
        for square in range(4):
            _do(builder, "tilezero", _BYTE(square))
        with cgutils.for_range(builder, count) as loop:
            first, held = builder.mul(loop.index, apart.type(PIECES)), [-1, -1]
            for pieces in _PRODUCTS:
                for side in (side for side in (0, 1) if held[side] != pieces[side]):
                    tile = builder.add(builder.add(starts[side], first), apart.type(pieces[side]))
                    _load_two(builder, sides[side], tile, apart, 4 + 2 * side)
                _add_four(builder)
                held = list(pieces)
        for square in range(4):
            _do(builder, "tilestored64", _BYTE(square), targets(apart.type(square)), _LONG(_LINE))
        return context.get_dummy_value()

    return types.void(left, row, right, column, apart, count, sums), generate


@intrinsic
def split_along(
    typing_context: Any, source: Any, row: Any, column: Any, tiles: Any, tile: Any, line: Any
) -> Any:
    """A line of PIECES tiles, from ``tile`` on, becomes the pieces of DEEP numbers of a row of ``source``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, row, column, *target = arguments
        at = addresses(context, builder, signature.args[0], source)
        places = ((row, builder.add(column, column.type(begin))) for begin in (0, SQUARE))
        halves = [
            [builder.bitcast(piece, _HALVES) for piece in _pieces(builder, at(*place))] for place in places
        ]
        upper = ir.Constant(ir.VectorType(_WORD, DEEP), [2 * number + 1 for number in range(DEEP)])
        found = [builder.shuffle_vector(*pair, upper) for pair in zip(*halves, strict=True)]
        _keep(context, builder, signature.args[3], target, found)
        return context.get_dummy_value()

    return types.void(source, row, column, tiles, tile, line), generate


@intrinsic
def split_pairs(
    typing_context: Any, source: Any, row: Any, column: Any, tiles: Any, tile: Any, line: Any
) -> Any:
    """A line of PIECES tiles, from ``tile`` on, becomes the pieces of SQUARE numbers of a row of ``source``
    and of the next one, in pairs."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, row, column, *target = arguments
        at = addresses(context, builder, signature.args[0], source)
        pairs = zip(
            *(_pieces(builder, at(builder.add(row, row.type(i)), column)) for i in (0, 1)), strict=True
        )
        shift = ir.Constant(_WORDS, [16] * SQUARE)
        found = [builder.or_(builder.lshr(low, shift), high) for low, high in pairs]
        _keep(context, builder, signature.args[3], target, found)
        return context.get_dummy_value()

    return types.void(source, row, column, tiles, tile, line), generate


@intrinsic
def turn_tile(typing_context: Any, tiles: Any, tile: Any) -> Any:
    """The rows of a tile become its columns, pairs staying together."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        tiles, tile = arguments
        first = _tiles(context, builder, signature.args[0], tiles)(tile)
        lines = [builder.gep(first, [_LONG(_LINE * i)]) for i in range(SQUARE)]
        lines = [builder.bitcast(line, _WORDS.as_pointer()) for line in lines]
        rows, size = [builder.load(line, align=_LINE) for line in lines], SQUARE // 2
        while size:
            rows = exchanged(builder, rows, size)
            size //= 2
        for row, line in zip(rows, lines, strict=True):
            builder.store(row, line, align=_LINE)
        return context.get_dummy_value()

    return types.void(tiles, tile), generate


@intrinsic
def add_line(
    typing_context: Any,
    sums: Any,
    square: Any,
    line: Any,
    out: Any,
    row: Any,
    column: Any,
    factor: Any,
    is_new: Any,
) -> Any:
    """SQUARE columns of a row of ``out``, from that place on: += factor * a line of a tile of sums; = if it
    ``is_new``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        sums, square, line, out, row, column, factor, is_new = arguments
        first = _tiles(context, builder, signature.args[0], sums)(square)
        source = builder.gep(first, [builder.mul(line, line.type(_LINE))])
        total = builder.load(builder.bitcast(source, STRIP.as_pointer()), align=_LINE)
        place = addresses(context, builder, signature.args[3], out)(row, column)
        target, is_first = builder.bitcast(place, STRIP.as_pointer()), builder.trunc(is_new, ir.IntType(1))
        before = builder.select(is_first, ir.Constant(STRIP, None), builder.load(target, align=4))
        change = builder.fmul(total, everywhere(builder, factor, STRIP), flags=ROUNDED_ONCE)
        builder.store(builder.fadd(before, change, flags=ROUNDED_ONCE), target, align=4)
        return context.get_dummy_value()

    return types.void(sums, square, line, out, row, column, types.float32, types.boolean), generate


def _load_two(builder: Any, at: Callable[[Any], Any], tile: Any, apart: Any, into: int) -> None:
    """A tile, and that of the next strip."""
    for number, place in enumerate((tile, builder.add(tile, apart))):
        _do(builder, "tileloadd64", _BYTE(into + number), at(place), _LONG(_LINE))


def _add_four(builder: Any) -> None:
    """Both tiles of the left side times both of the right one."""
    for square in range(4):
        _do(builder, "tdpbf16ps", _BYTE(square), _BYTE(4 + square // 2), _BYTE(6 + square % 2))


def _pieces(builder: Any, address: Any) -> list[Any]:
    """The pieces of SQUARE numbers, in upper halves of words: each is the nearest to what those before
    leave."""
    rest = builder.load(builder.bitcast(address, STRIP.as_pointer()), align=4)
    one, half, shift, upper = (ir.Constant(_WORDS, [word] * SQUARE) for word in (1, 0x7FFF, 16, 0xFFFF0000))
    found = []
    for number in range(PIECES):
        bits = builder.bitcast(rest, _WORDS)
        if number < PIECES - 1:  # of the last one no more than 8 bits are left
            even = builder.and_(builder.lshr(bits, shift), one)
            bits = builder.add(bits, builder.add(half, even))
        found.append(builder.and_(bits, upper))
        rest = builder.fsub(rest, builder.bitcast(found[-1], STRIP))
    return found


def _keep(context: Any, builder: Any, kind: Any, target: Any, found: list[Any]) -> None:
    tiles, tile, line = target
    at = _tiles(context, builder, kind, tiles)
    for number, piece in enumerate(found):
        place = builder.gep(at(builder.add(tile, tile.type(number))), [builder.mul(line, line.type(_LINE))])
        builder.store(piece, builder.bitcast(place, piece.type.as_pointer()), align=_LINE)


def _tiles(context: Any, builder: Any, kind: Any, array: Any) -> Callable[[Any], Any]:
    """What gives the address of a tile: the first one begins with a cache line, at or behind the array's
    beginning. A tile whose lines lie across two takes twice as long."""
    begin = builder.ptrtoint(context.make_array(kind)(context, builder, array).data, _LONG)
    first = builder.and_(builder.add(begin, _LONG(_LINE - 1)), _LONG(-_LINE))
    return lambda tile: builder.inttoptr(builder.add(first, builder.mul(tile, tile.type(_SIZE))), _BYTES)


def _do(builder: Any, name: str, *given: Any) -> None:
    kind = ir.FunctionType(ir.VoidType(), [each.type for each in given])
    builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.{name}"), given)
