"""A tile: a part of a product of matrices whose sums stay in registers until they are whole.

numba has no word for sums that are vectors, nor for asking for memory between two of them, and the compiler
makes none of a loop over numbers. It must never know how a matrix is cut into tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic

_FEATURES = get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES
PROCESSOR = config.CPU_NAME or binding.get_host_cpu_name()
"""The name that LLVM has for what this is compiled for."""

ROWS, WIDTH = 4, 64 if "+avx512f" in _FEATURES else 16
"""So many sums fit into registers beside a row of a panel: there are 32 of 16 numbers, or 16 of 8."""

SQUARE = 16
"""Rows, and columns, that are turned over in registers."""

_LINE = 16  # numbers in a cache line
_STRIP = ir.VectorType(ir.FloatType(), SQUARE)
_WORD = ir.IntType(32)
_BYTES = ir.IntType(8).as_pointer()
_ROUNDED_ONCE = ("contract",)  # a product and a sum may become one instruction
_FOR_READING, _FOR_WRITING, _KEEP, _DATA = 0, 1, 3, 1


@intrinsic
def add_tile(
    typing_context: Any,
    out: Any,
    rows: Any,
    column: Any,
    x: Any,
    begin: Any,
    y: Any,
    start: Any,
    depth: Any,
    factor: Any,
    ahead: Any,
) -> Any:
    """out[rows, column:] += factor * x[rows, begin : begin + depth] @ y[:depth, start:], so many columns that
    there are ROWS * WIDTH sums; some rows may be the same.

    Of x, y and out the columns lie side by side. ``ahead``: (matrix, row, column, count), WIDTH columns of as
    many rows that are going to be needed, asked for row by row while this goes on; or None.
    """
    lanes = ROWS * WIDTH // len(rows)
    vector = ir.VectorType(ir.FloatType(), lanes)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, (out, rows, column, x, begin, y, start, depth, factor, ahead) = signature.args, arguments
        in_out, in_x, in_y = (
            _addresses(context, builder, kinds[place], array) for place, array in ((0, out), (3, x), (5, y))
        )
        rows = cgutils.unpack_tuple(builder, rows)
        targets = [builder.bitcast(in_out(row, column), vector.as_pointer()) for row in rows]
        sums = [cgutils.alloca_once(builder, vector) for _ in rows]
        for total in sums:
            builder.store(ir.Constant(vector, None), total)
        with _asking(context, builder, kinds[9], ahead, depth) as k:
            weights = builder.load(builder.bitcast(in_y(k, start), vector.as_pointer()), align=4)
            for row, total in zip(rows, sums, strict=True):
                number = _everywhere(builder, builder.load(in_x(row, builder.add(begin, k))), vector)
                product = builder.fmul(number, weights, flags=_ROUNDED_ONCE)
                builder.store(builder.fadd(builder.load(total), product, flags=_ROUNDED_ONCE), total)
        factors = _everywhere(builder, factor, vector)
        scaled = [builder.fmul(builder.load(total), factors, flags=_ROUNDED_ONCE) for total in sums]
        befores = [builder.load(target, align=4) for target in targets]
        for target, before, change in zip(targets, befores, scaled, strict=True):
            builder.store(builder.fadd(before, change, flags=_ROUNDED_ONCE), target, align=4)
        return context.get_dummy_value()

    return types.void(out, rows, column, x, begin, y, start, depth, types.float32, ahead), generate


@contextmanager
def _asking(context: Any, builder: Any, kind: Any, ahead: Any, depth: Any) -> Iterator[Any]:
    """A loop over ``depth`` that asks for what is ahead, in as many equal parts as that has rows."""
    if isinstance(kind, types.NoneType):
        with cgutils.for_range(builder, depth) as loop:
            yield loop.index
        return
    matrix, row, column, count = cgutils.unpack_tuple(builder, ahead)
    in_matrix, one = _addresses(context, builder, kind[0], matrix), depth.type(1)
    each = builder.sdiv(builder.add(depth, builder.sub(count, one)), count)
    with cgutils.for_range(builder, count) as part:
        for line in range(0, WIDTH, _LINE):
            place = builder.add(row, part.index), builder.add(column, column.type(line))
            _ask(builder, in_matrix(*place))
        first = builder.mul(part.index, each)
        end = builder.add(first, each)
        end = builder.select(builder.icmp_signed("<", end, depth), end, depth)
        with cgutils.for_range_slice(builder, first, end, one) as (k, _):
            yield k


def _ask(builder: Any, address: Any, purpose: int = _FOR_READING) -> None:
    kind = ir.FunctionType(ir.VoidType(), [_BYTES, _WORD, _WORD, _WORD])
    function = builder.module.declare_intrinsic("llvm.prefetch", [_BYTES], kind)
    asked = builder.bitcast(address, _BYTES)
    builder.call(function, [asked, *(_WORD(number) for number in (purpose, _KEEP, _DATA))])


@intrinsic
def turn_square(
    typing_context: Any, source: Any, row: Any, column: Any, target: Any, into_row: Any, into_column: Any
) -> Any:
    """SQUARE rows and columns of ``target``, from that place on, become those of ``source``, turned over.

    Halves of rows change places with halves of others, then quarters do, and so on.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, row, column, target, into_row, into_column = arguments
        in_source = _addresses(context, builder, signature.args[0], source)
        in_target = _addresses(context, builder, signature.args[3], target)

        def pointer(addresses: Callable[..., Any], first: Any, number: int, place: Any) -> Any:
            found = addresses(builder.add(first, first.type(number)), place)
            return builder.bitcast(found, _STRIP.as_pointer())

        rows = [builder.load(pointer(in_source, row, i, column), align=4) for i in range(SQUARE)]
        size = SQUARE // 2
        while size:
            rows = _exchanged(builder, rows, size)
            size //= 2
        for i, turned in enumerate(rows):
            builder.store(turned, pointer(in_target, into_row, i, into_column), align=4)
        return context.get_dummy_value()

    return types.void(source, row, column, target, into_row, into_column), generate


@intrinsic
def copy_line(
    typing_context: Any, source: Any, row: Any, column: Any, target: Any, into_row: Any, into_column: Any
) -> Any:
    """SQUARE columns of a row of ``target``, from that place on, become those of ``source``."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        source, row, column, target, into_row, into_column = arguments
        taken = _addresses(context, builder, signature.args[0], source)(row, column)
        given = _addresses(context, builder, signature.args[3], target)(into_row, into_column)
        line = builder.load(builder.bitcast(taken, _STRIP.as_pointer()), align=4)
        builder.store(line, builder.bitcast(given, _STRIP.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(source, row, column, target, into_row, into_column), generate


@intrinsic
def add_square(
    typing_context: Any,
    place: Any,
    x: Any,
    begin: Any,
    y: Any,
    start: Any,
    depth: Any,
    factor: Any,
    is_new: Any,
    ahead: Any,
) -> Any:
    """Of ``place``, (matrix, row, column), SQUARE rows and columns from there on:
    += factor * x[begin : begin + depth].T @ y[start : start + depth], which are as wide; = if it ``is_new``.

    What is added to is asked for before; and ``ahead``, a place, too: so many lines of that row.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place, _, begin, _, start, depth, factor, is_new, ahead = arguments
        in_x, in_y = (_addresses(context, builder, signature.args[i], arguments[i]) for i in (1, 3))
        targets = _asked(context, builder, signature.args[0], place, 1, 0)
        _asked(context, builder, signature.args[8], ahead, 0, _LINE)
        sums = [cgutils.alloca_once_value(builder, ir.Constant(_STRIP, None)) for _ in targets]
        with cgutils.for_range(builder, depth) as loop:
            row = in_y(builder.add(start, loop.index), depth.type(0))
            weights = builder.load(builder.bitcast(row, _STRIP.as_pointer()), align=4)
            for i, total in enumerate(sums):
                number = builder.load(in_x(builder.add(begin, loop.index), depth.type(i)))
                product = builder.fmul(_everywhere(builder, number, _STRIP), weights, flags=_ROUNDED_ONCE)
                builder.store(builder.fadd(builder.load(total), product, flags=_ROUNDED_ONCE), total)
        factors, is_first = _everywhere(builder, factor, _STRIP), builder.trunc(is_new, ir.IntType(1))
        for found, total in zip(targets, sums, strict=True):
            target = builder.bitcast(found, _STRIP.as_pointer())
            before = builder.select(is_first, ir.Constant(_STRIP, None), builder.load(target, align=4))
            change = builder.fmul(builder.load(total), factors, flags=_ROUNDED_ONCE)
            builder.store(builder.fadd(before, change, flags=_ROUNDED_ONCE), target, align=4)
        return context.get_dummy_value()

    return types.void(place, x, begin, y, start, depth, types.float32, types.boolean, ahead), generate


def _asked(context: Any, builder: Any, kind: Any, place: Any, down: int, across: int) -> list[Any]:
    """The addresses of SQUARE lines from a place on, so far from one another, which are asked for: those of
    other rows for writing."""
    matrix, row, column = cgutils.unpack_tuple(builder, place)
    addresses, found = _addresses(context, builder, kind[0], matrix), []
    for i in range(SQUARE):
        line = builder.add(row, row.type(i * down)), builder.add(column, column.type(i * across))
        found.append(addresses(*line))
        _ask(builder, found[-1], _FOR_WRITING if down else _FOR_READING)
    return found


def _exchanged(builder: Any, rows: list[Any], size: int) -> list[Any]:
    """Of every two rows that are ``size`` apart, squares of that size beside each other change places."""
    places = range(SQUARE)
    upper = _places([place if not place & size else SQUARE + place - size for place in places])
    lower = _places([place + size if not place & size else SQUARE + place for place in places])
    found = list(rows)
    for i in (i for i in places if not i & size):
        found[i] = builder.shuffle_vector(rows[i], rows[i + size], upper)
        found[i + size] = builder.shuffle_vector(rows[i], rows[i + size], lower)
    return found


def _places(numbers: list[int]) -> Any:
    return ir.Constant(ir.VectorType(_WORD, len(numbers)), numbers)


def _addresses(context: Any, builder: Any, kind: Any, value: Any) -> Callable[..., Any]:
    """What gives the address of an element of an array."""
    array = context.make_array(kind)(context, builder, value)
    return lambda *place: cgutils.get_item_pointer(context, builder, kind, array, place)


def _everywhere(builder: Any, number: Any, kind: Any) -> Any:
    """A vector of one number."""
    vector = builder.insert_element(ir.Constant(kind, ir.Undefined), number, _WORD(0))
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(_WORD, kind.count), None))
