"""Products by loops of our own against numpy's, which add in another order. See also tests/engine/ops."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from paddle._engine.kernels.matrices import amx, blocks, panels, pieces, products
from paddle._engine.kernels.matrices.tiles import ROWS, SQUARE, WIDTH
from tests.engine.kernels.case import Case, Draw, chance, filled, held, integer, normal

Array = np.ndarray
CLOSE = {"rtol": 1e-4, "atol": 5e-5}
OF_AMX = "" if amx.is_there() else "this processor multiplies no matrices by itself"
LOOPS = [(blocks, ""), (pieces, OF_AMX), (products, "")]


def sizes(draw: Draw) -> tuple[int, int, int]:
    """Rows that are multiplied, and rows and columns of the matrix."""
    samples, height = integer(draw, 1, WIDTH + SQUARE + 3), integer(draw, 1, 8 * ROWS + 3)
    return samples, height, integer(draw, WIDTH, 3 * WIDTH + 1)


def room(shapes: dict[str, tuple[int, int]]) -> tuple[Array, ...]:
    return tuple(np.full(shape, np.nan, np.float32) for shape in shapes.values())


def multiplied(loops: ModuleType) -> Callable[[Draw], tuple[Any, ...]]:
    """With columns on either side of those that are asked for."""

    def arguments(draw: Draw) -> tuple[Any, ...]:
        (n, height, width), beside = sizes(draw), integer(draw, 0, 9)
        whole = width + 2 * beside
        arrays = normal(draw, n, height), normal(draw, height, whole), filled(n, whole)
        return *arrays, beside, beside + width, *room(loops.room(n, height, width))

    return arguments


def multiplied_back(loops: ModuleType) -> Callable[[Draw], tuple[Any, ...]]:
    def arguments(draw: Draw) -> tuple[Any, ...]:
        (n, height, width), first, none = sizes(draw), integer(draw, 0, 3), np.empty((0, 0), np.float32)
        x, y = normal(draw, n, height + 4), normal(draw, height, width)
        is_added = chance(draw)
        target = y if is_added else filled(height, width) if chance(draw) else none
        below = filled(n, height + 4) if chance(draw) else none
        factor = np.float32(-0.5 if is_added else 1)
        back = target, below, factor, is_added, room(loops.room_back(n, height, width))
        return x, first, normal(draw, n, width), y, *back

    return arguments


def lay_out(matrix: Array, out: Array) -> None:
    """The last panel has 0 for columns that the one before has, too."""
    out[:] = 0
    for panel in range(len(out)):
        begin = panel * WIDTH
        own = matrix[:, begin : begin + WIDTH]
        out[panel, :, WIDTH - own.shape[1] :] = own


def laid_out(draw: Draw) -> tuple[Any, ...]:
    matrix = normal(draw, integer(draw, 0, 30), integer(draw, WIDTH, 3 * WIDTH + 1))
    return np.asfortranarray(matrix) if chance(draw) else matrix, filled(
        *panels.panels(*matrix.shape, "float32")
    )


def add_product(x: Array, laid: Array, out: Array) -> None:
    matrix = np.zeros((x.shape[1], out.shape[1]), np.float32)
    for panel, part in enumerate(laid):
        start = min(panel * WIDTH, out.shape[1] - WIDTH)
        matrix[:, start : start + WIDTH] += part
    panels.numpy_add_product(x, matrix, out)


def added(draw: Draw) -> tuple[Any, ...]:
    matrix = normal(draw, integer(draw, 1, 40), integer(draw, WIDTH, 3 * WIDTH + 1))
    laid = np.empty(panels.panels(*matrix.shape, "float32"), np.float32)
    lay_out(matrix, laid)
    x, out = (some_of(draw, integer(draw, 0, 2 * ROWS + 1), width) for width in matrix.shape)
    n = min(len(x), len(out))
    return x[:n], laid, out[:n]


def some_of(draw: Draw, height: int, width: int) -> Array:
    """Perhaps some columns of an array that has more: only rows are contiguous."""
    beside = integer(draw, 0, 2)
    return normal(draw, height, width + beside)[:, beside // 2 :][:, :width]


test_a_product_is_its_twin = held(
    [
        *(
            Case(
                *(loops.multiply, loops.numpy_multiply, multiplied(loops)),
                **CLOSE,
                idle=frozenset(range(5, 9)),
                lack=lack,
            )
            for loops, lack in LOOPS
        ),
        *(
            Case(
                *(loops.multiply_back, products.numpy_multiply_back, multiplied_back(loops)),
                **CLOSE,
                idle=frozenset({8}),
                lack=lack,
            )
            for loops, lack in LOOPS
        ),
        Case(panels.lay_out, lay_out, laid_out),
        Case(panels.add_product, add_product, added, **CLOSE),
    ]
)
