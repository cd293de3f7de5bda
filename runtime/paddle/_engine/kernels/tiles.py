"""A tile: a part of a product of matrices whose sums stay in registers until they are whole.

numba has no word for sums that are vectors, and the compiler makes none of a loop over numbers. It must never
know how a matrix is cut into tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.core.codegen import get_host_cpu_features
from numba.extending import intrinsic

_FEATURES = get_host_cpu_features() if config.CPU_FEATURES is None else config.CPU_FEATURES
ROWS, WIDTH = 4, 64 if "+avx512f" in _FEATURES else 16
"""So many sums fit into registers beside a row of a panel: there are 32 of 16 numbers, or 16 of 8."""

_VECTOR, _WORD = ir.VectorType(ir.FloatType(), WIDTH), ir.IntType(32)
_ROUNDED_ONCE = ("contract",)  # a product and a sum may become one instruction


@intrinsic
def add_tile(
    typing_context: Any, x: Any, panels: Any, out: Any, rows: Any, panel: Any, column: Any, depth: Any
) -> Any:
    """out[rows, column : column + WIDTH] += x[rows] @ panels[panel], for ROWS rows, some perhaps the same.

    ``panels``: C-contiguous, (count, depth, WIDTH); of x and out the columns lie side by side.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        in_x, in_panels, in_out = (
            _addresses(context, builder, *array)
            for array in zip(signature.args[:3], arguments[:3], strict=True)
        )
        rows, (panel, column, depth) = cgutils.unpack_tuple(builder, arguments[3]), arguments[4:]
        targets = [builder.bitcast(in_out(row, column), _VECTOR.as_pointer()) for row in rows]
        sums = [cgutils.alloca_once_value(builder, builder.load(each, align=4)) for each in targets]
        with cgutils.for_range(builder, depth) as loop:
            weights = builder.bitcast(in_panels(panel, loop.index, column.type(0)), _VECTOR.as_pointer())
            weights = builder.load(weights, align=4)
            for row, total in zip(rows, sums, strict=True):
                factor = _everywhere(builder, builder.load(in_x(row, loop.index)))
                product = builder.fmul(factor, weights, flags=_ROUNDED_ONCE)
                builder.store(builder.fadd(builder.load(total), product, flags=_ROUNDED_ONCE), total)
        for target, total in zip(targets, sums, strict=True):
            builder.store(builder.load(total), target, align=4)
        return context.get_dummy_value()

    return types.void(x, panels, out, rows, panel, column, depth), generate


def _addresses(context: Any, builder: Any, kind: Any, value: Any) -> Callable[..., Any]:
    """What gives the address of an element of an array."""
    array = context.make_array(kind)(context, builder, value)
    return lambda *place: cgutils.get_item_pointer(context, builder, kind, array, place)


def _everywhere(builder: Any, number: Any) -> Any:
    """A vector of one number."""
    vector = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, _WORD(0))
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(_WORD, WIDTH), None))
