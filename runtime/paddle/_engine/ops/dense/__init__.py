"""Operators of dense arrays that the later generations of the API have beyond v2's, one family per file."""

from paddle._engine.ops.dense import (
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
