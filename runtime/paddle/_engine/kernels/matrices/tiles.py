"""A tile: a part of a product of matrices whose sums stay in registers until they are whole.

numba has no word for sums that are vectors, nor for asking for memory between two of them, and the compiler
makes none of a loop over numbers. It must never know how a matrix is cut into tiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic

FEATURES = get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES
"""What it can do, in LLVM's words."""

PROCESSOR = config.CPU_NAME or binding.get_host_cpu_name()
"""The name that LLVM has for what this is compiled for."""

ROWS, WIDTH = 4, 64 if "+avx512f" in FEATURES else 16
"""So many sums fit into registers beside a row of a panel: there are 32 of 16 numbers, or 16 of 8."""

SQUARE = 16
"""Rows, and columns, that are turned over in registers."""


class Best(NamedTuple):
    """How many rows are multiplied on a processor: ``high`` rows and ``wide`` SQUAREs of columns of a tile,
    sums of ``depth`` products at a time, from ``fewest`` rows on."""

    high: int
    wide: int
    depth: int
    fewest: int


MEASURED = {
    "znver4": Best(SQUARE, 1, 256, 257),
    "znver5": Best(8, 2, 256, 33),
    "icelake-server": Best(8, 3, 128, 33),
}
"""Processors, by LLVM's names, on which products of many rows were measured, and are ahead of OpenBLAS."""


STRIP = ir.VectorType(ir.FloatType(), SQUARE)
ROUNDED_ONCE = ("contract",)
"""A product and a sum may become one instruction."""

_LINE = 16  # numbers in a cache line
_WORD = ir.IntType(32)
_BYTES = ir.IntType(8).as_pointer()
_FOR_READING, _FOR_WRITING, _KEEP, _DATA = 0, 1, 3, 1


def is_ahead(processor: str, width: int) -> bool:
    """Whether it is one of these, and has registers for tiles of so many columns."""
    return processor in MEASURED and width == 64


IS_AHEAD = is_ahead(PROCESSOR, WIDTH)
HIGH, WIDE, DEPTH, FEWEST = MEASURED.get(PROCESSOR, MEASURED["znver4"])


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
            addresses(context, builder, kinds[place], array) for place, array in ((0, out), (3, x), (5, y))
        )
        rows = cgutils.unpack_tuple(builder, rows)
        targets = [builder.bitcast(in_out(row, column), vector.as_pointer()) for row in rows]
        sums = [cgutils.alloca_once(builder, vector) for _ in rows]
        for total in sums:
            builder.store(ir.Constant(vector, None), total)
        with _asking(context, builder, kinds[9], ahead, depth) as k:
            weights = builder.load(builder.bitcast(in_y(k, start), vector.as_pointer()), align=4)
            for row, total in zip(rows, sums, strict=True):
                number = everywhere(builder, builder.load(in_x(row, builder.add(begin, k))), vector)
                product = builder.fmul(number, weights, flags=ROUNDED_ONCE)
                builder.store(builder.fadd(builder.load(total), product, flags=ROUNDED_ONCE), total)
        factors = everywhere(builder, factor, vector)
        scaled = [builder.fmul(builder.load(total), factors, flags=ROUNDED_ONCE) for total in sums]
        befores = [builder.load(target, align=4) for target in targets]
        for target, before, change in zip(targets, befores, scaled, strict=True):
            builder.store(builder.fadd(before, change, flags=ROUNDED_ONCE), target, align=4)
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
    in_matrix, one = addresses(context, builder, kind[0], matrix), depth.type(1)
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
        in_source = addresses(context, builder, signature.args[0], source)
        in_target = addresses(context, builder, signature.args[3], target)

        def pointer(addresses: Callable[..., Any], first: Any, number: int, place: Any) -> Any:
            found = addresses(builder.add(first, first.type(number)), place)
            return builder.bitcast(found, STRIP.as_pointer())

        rows = [builder.load(pointer(in_source, row, i, column), align=4) for i in range(SQUARE)]
        size = SQUARE // 2
        while size:
            rows = exchanged(builder, rows, size)
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
        taken = addresses(context, builder, signature.args[0], source)(row, column)
        given = addresses(context, builder, signature.args[3], target)(into_row, into_column)
        line = builder.load(builder.bitcast(taken, STRIP.as_pointer()), align=4)
        builder.store(line, builder.bitcast(given, STRIP.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(source, row, column, target, into_row, into_column), generate


def _adding(high: int, wide: int) -> Any:
    """What adds a tile of so many rows, and so many times SQUARE columns."""

    @intrinsic
    def add(
        typing_context: Any,
        place: Any,
        x: Any,
        begin: Any,
        line: Any,
        y: Any,
        start: Any,
        depth: Any,
        factor: Any,
        is_new: Any,
        ahead: Any,
    ) -> Any:
        """Of ``place``, (matrix, row, column), the rows and columns of a tile from there on: += factor *
        x[begin : begin + depth, line:].T @ y, of which strips lie behind one another from ``start`` on, each
        ``depth`` rows; = if it ``is_new``.

        What is added to is asked for before; and ``ahead``, a place, too: SQUARE lines of that row.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            place, x, begin, line, y, start, depth, factor, is_new, ahead = arguments
            kinds = signature.args
            targets = _asked(context, builder, kinds[0], place, (high, wide), _FOR_WRITING)
            _asked(context, builder, kinds[9], ahead, (1, SQUARE), _FOR_READING)
            sides = addresses(context, builder, kinds[1], x), addresses(context, builder, kinds[4], y)
            sums = _summed(builder, sides, (begin, line, start, depth), (high, wide))
            factors, is_first = everywhere(builder, factor, STRIP), builder.trunc(is_new, ir.IntType(1))
            for found, total in zip(targets, sums, strict=True):
                target = builder.bitcast(found, STRIP.as_pointer())
                before = builder.select(is_first, ir.Constant(STRIP, None), builder.load(target, align=4))
                change = builder.fmul(builder.load(total), factors, flags=ROUNDED_ONCE)
                builder.store(builder.fadd(before, change, flags=ROUNDED_ONCE), target, align=4)
            return context.get_dummy_value()

        given = place, x, begin, line, y, start, depth, types.float32, types.boolean, ahead
        return types.void(*given), generate

    return add


def _summed(
    builder: Any, sides: tuple[Any, Any], where: tuple[Any, Any, Any, Any], size: tuple[int, int]
) -> list[Any]:
    """The sums of a tile, row by row, each in a variable."""
    (in_x, in_y), (begin, line, start, depth), (high, wide) = sides, where, size
    sums = [cgutils.alloca_once_value(builder, ir.Constant(STRIP, None)) for _ in range(high * wide)]
    with cgutils.for_range(builder, depth) as loop:
        k = loop.index
        strips = [builder.add(start, builder.mul(depth, depth.type(j))) for j in range(wide)]
        rows = [in_y(builder.add(strip, k), depth.type(0)) for strip in strips]
        weights = [builder.load(builder.bitcast(row, STRIP.as_pointer()), align=4) for row in rows]
        for i in range(high):
            number = builder.load(in_x(builder.add(begin, k), builder.add(line, line.type(i))))
            factors = everywhere(builder, number, STRIP)
            for weight, total in zip(weights, sums[i * wide : (i + 1) * wide], strict=True):
                product = builder.fmul(factors, weight, flags=ROUNDED_ONCE)
                builder.store(builder.fadd(builder.load(total), product, flags=ROUNDED_ONCE), total)
    return sums


add_square = _adding(SQUARE, 1)
add_strips = _adding(HIGH, WIDE)


def _asked(
    context: Any, builder: Any, kind: Any, place: Any, size: tuple[int, int], purpose: int
) -> list[Any]:
    """The addresses of so many rows, and lines in each, from a place on, which are asked for."""
    matrix, row, column = cgutils.unpack_tuple(builder, place)
    in_matrix, found = addresses(context, builder, kind[0], matrix), []
    for i in range(size[0]):
        for j in range(size[1]):
            line = builder.add(row, row.type(i)), builder.add(column, column.type(j * _LINE))
            found.append(in_matrix(*line))
            _ask(builder, found[-1], purpose)
    return found


def exchanged(builder: Any, rows: list[Any], size: int) -> list[Any]:
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


def addresses(context: Any, builder: Any, kind: Any, value: Any) -> Callable[..., Any]:
    """What gives the address of an element of an array."""
    array = context.make_array(kind)(context, builder, value)
    return lambda *place: cgutils.get_item_pointer(context, builder, kind, array, place)


def everywhere(builder: Any, number: Any, kind: Any) -> Any:
    """A vector of one number."""
    vector = builder.insert_element(ir.Constant(kind, ir.Undefined), number, _WORD(0))
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(_WORD, kind.count), None))
