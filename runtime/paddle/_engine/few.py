"""Few: products of few rows with a large matrix, by loops of our own (kernels/products.py) bound to arrays.

With many rows BLAS makes as much of a processor. It must never know an operator, nor what the matrices mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from paddle._engine.blas import Step
from paddle._engine.program import Form, Shape

LEAST, MOST = 4, 256
"""Rows of what is multiplied. With fewer, a product is hardly more than reading the matrix; and there are
processors on which BLAS is as fast with less (kernels/products.py)."""

_LOWEST, _NARROWEST = 16, 64
"""Rows and columns of a matrix: what is in the nearest cache together, and the widest tile."""

_WORK = 1 << 18
"""Multiplications from which on a product takes longer than the call of a compiled loop."""

_NONE = np.empty((0, 0), np.float32)


def pays(rows: int, shape: Shape, *dtypes: str) -> bool:
    """Whether so many rows are multiplied with a matrix of ``shape`` by loops of our own."""
    if set(dtypes) != {"float32"} or len(shape) != 2 or not LEAST <= rows <= MOST:
        return False
    return shape[0] >= _LOWEST and shape[1] >= _NARROWEST and rows * shape[0] * shape[1] >= _WORK


def room(x: Form, y: Form) -> Mapping[str, Form]:
    """What WayBack needs besides, for a matrix y or rows of one."""
    if not pays(x.shape[0], y.shape, x.dtype, y.dtype):
        return {}
    from paddle._engine.kernels import products  # loads numba

    found = products.room(x.shape[0], y.shape[0]) if x.shape[0] <= products.MOST else {}
    return {name: Form(shape, "float32") for name, shape in found.items()}


def multiply(
    x: np.ndarray, y: np.ndarray, out: np.ndarray, columns: slice = slice(None)
) -> Callable[[], object] | None:
    """What fills these columns of ``out`` from x @ y whenever it is called; None where that does not pay."""
    first, last, _ = columns.indices(y.shape[1])
    if not (_lie_well(x, y, out) and pays(len(x), (len(y), last - first), "float32")):
        return None
    from paddle._engine.kernels import products  # loads numba

    return partial(products.multiply, x, y, out, first, last) if len(x) <= products.MOST else None


def multiply_back(
    x: np.ndarray,
    slope: np.ndarray,
    y: np.ndarray,
    *,
    target: np.ndarray | None,
    below: np.ndarray | None,
    room: Mapping[str, np.ndarray],
    is_added: bool = False,
    rows: slice = slice(None),
) -> Step | None:
    """What, called with a factor, computes from the slope of x @ y two products at once: slope @ y.T, which
    ``below`` becomes, and factor * x.T @ slope, which ``target`` becomes, or to which it ``is_added``.

    ``target`` may be y; the first product is by y as it was. Only these ``rows`` of y and ``target`` are
    used, and columns of x and ``below``. ``room``: see there, for so many rows. None where it does not pay.
    """
    given = [each for each in (x, slope, y, target, below) if each is not None]
    if not (room and _lie_well(*given)):
        return None
    from paddle._engine.kernels.products import multiply_back as compiled  # loads numba

    first, last, _ = rows.indices(len(y))
    goal = _NONE if target is None else target[first:last]
    arrays = x, first, slope, y[first:last], goal, _NONE if below is None else below
    rest = is_added, tuple(room[name] for name in ("x", "below", "panel", "turned"))

    def step(factor: float) -> None:
        compiled(*arrays, np.float32(factor), *rest)

    return step


def _lie_well(*arrays: np.ndarray) -> bool:
    return all(each.dtype == np.float32 and each.flags.c_contiguous for each in arrays)
