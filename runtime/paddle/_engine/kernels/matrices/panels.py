"""Panels: a matrix laid out once, for many products with a few rows each.

BLAS lays a matrix out anew for every product. Where rows are few, as in a moment of a recurrence, that takes
up to as long as to multiply. Here a matrix (depth, width) becomes panels (count, depth, WIDTH), some of its
columns each. A product reads each panel from its beginning to its end for ROWS rows at a time, whose sums
stay in registers (tiles.py). It must never know what is multiplied.

Guarantee: the numpy twin adds the same products, in another order.
"""

from __future__ import annotations

import numpy as np

from paddle._engine.kernels.kernel import kernel
from paddle._engine.kernels.matrices.tiles import ROWS, WIDTH, add_tile

ONE = np.float32(1)


def panels(height: int, width: int, dtype: str) -> tuple[int, int, int]:
    """The shape of a matrix's panels; one that is narrower than a panel, or no float32, has none."""
    count = -(-width // WIDTH) if width >= WIDTH and dtype == "float32" else 0
    return count, height, WIDTH


@kernel
def lay_out(matrix: np.ndarray, out: np.ndarray) -> None:
    """Fill ``out`` with the panels of a float32 matrix.

    The last one ends where the matrix does, and has 0 for columns that the one before it has, too.
    """
    width = matrix.shape[1]
    for panel in range(out.shape[0]):
        begin = panel * WIDTH
        start = min(begin, width - WIDTH)
        for k in range(matrix.shape[0]):
            for j in range(WIDTH):
                out[panel, k, j] = matrix[k, start + j] if start + j >= begin else np.float32(0)


@kernel
def add_product(x: np.ndarray, panels: np.ndarray, out: np.ndarray) -> None:
    """out += x @ matrix, of (n, depth) and (n, width) whose rows are contiguous."""
    last = x.shape[0] - 1
    for panel in range(panels.shape[0]):
        column = min(panel * WIDTH, out.shape[1] - WIDTH)
        for row in range(0, x.shape[0], ROWS):
            rows = row, min(row + 1, last), min(row + 2, last), min(row + 3, last)
            add_tile(out, rows, column, x, 0, panels[panel], 0, x.shape[1], ONE, None)


def numpy_add_product(x: np.ndarray, matrix: np.ndarray, out: np.ndarray) -> None:
    """The same by the matrix itself, for any floating dtype."""
    np.add(out, x @ matrix, out)
