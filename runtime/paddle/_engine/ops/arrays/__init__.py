"""Operators of whole arrays: compared, ordered, gathered, tiled, transposed, drawn; one family per file."""

from paddle._engine.ops.arrays import (
    comparison,
    formulas,
    gathering,
    order,
    random,
    tiling,
    transposed,
    windows,
)
from paddle._engine.registry import Row

ROWS: tuple[Row, ...] = (
    *formulas.ROWS,
    *comparison.ROWS,
    *order.ROWS,
    *gathering.ROWS,
    *tiling.ROWS,
    *transposed.ROWS,
    *random.ROWS,
    *windows.ROWS,
)
