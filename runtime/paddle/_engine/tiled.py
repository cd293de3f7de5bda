"""Tiled: products with a large matrix, by loops of our own bound to arrays.

Of few rows (kernels/matrices/products.py) they are ahead of BLAS; of many on processors that multiply small
matrices by themselves (pieces.py beside it), and where that was measured (blocks.py). Everything else is left
to BLAS. It must never know an operator, nor what a matrix means.

In a product numbers below the least normal one, 1.2e-38, are 0. Slopes come to be so small where attention
passes over what is masked, and each addition of them takes a hundred times as long. To a sum they add
nothing; elsewhere they are computed with, as a logarithm tells them from 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType

import numpy as np

from paddle._engine.arena import zeros
from paddle._engine.blas import Step, threads
from paddle._engine.program import Form, Shape

_LEAST = 4
"""Rows of what is multiplied. With fewer, a product is hardly more than reading the matrix."""

_LOWEST, _NARROWEST = 16, 64
"""Rows and columns of a matrix: what is in the nearest cache together, and the widest tile."""

_LEAST_FLUSHED = 1 << 12
"""Numbers in a matrix from which on a product takes longer than to tell the processor."""

_WORK = 1 << 18
"""Multiplications from which on a product takes longer than the call of a compiled loop."""

_NONE = np.empty((0, 0), np.float32)


def way(rows: int, shape: Shape, *dtypes: str) -> ModuleType | None:
    """The loops that multiply so many rows with a matrix of ``shape``; None where BLAS does that: many, where
    it is as fast, or was given several threads."""
    if set(dtypes) != {"float32"} or len(shape) != 2 or rows < _LEAST:
        return None
    if shape[0] < _LOWEST or shape[1] < _NARROWEST or rows * shape[0] * shape[1] < _WORK:
        return None
    from paddle._engine.kernels.matrices import amx, blocks, pieces, products, tiles  # loads numba

    is_large = min(shape) >= blocks.LEAST and threads() == 1
    if is_large and rows >= pieces.FEWEST and amx.is_there():
        return pieces
    if is_large and rows >= tiles.FEWEST and tiles.IS_AHEAD:
        return blocks
    return products if rows <= products.MOST else None


def is_laid_out(rows: int, shape: Shape, *dtypes: str) -> bool:
    """Whether loops for many rows do this, which lay both sides out."""
    found = way(rows, shape, *dtypes)
    return found is not None and found.__name__.endswith((".pieces", ".blocks"))


def room(x: Form, y: Form) -> Mapping[str, Form]:
    """What ``multiply`` needs besides, for a matrix y or columns of one."""
    found = way(x.shape[0], y.shape, x.dtype, y.dtype)
    return {} if found is None else _forms(found.room(x.shape[0], *y.shape))


def room_back(x: Form, y: Form) -> Mapping[str, Form]:
    """What ``multiply_back`` needs besides, for a matrix y or rows of one."""
    found = way(x.shape[0], y.shape, x.dtype, y.dtype)
    return {} if found is None else _forms(found.room_back(x.shape[0], *y.shape))


def taken(
    room: Callable[[Form, Form], Mapping[str, Form]], x: np.ndarray, y: np.ndarray
) -> Mapping[str, np.ndarray]:
    """Arrays of such a ``room``, for who is given none. They begin with a cache line, as those of a plan."""
    forms = room(*(Form(each.shape, each.dtype.name) for each in (x, y)))
    return {name: zeros(form.shape, form.dtype) for name, form in forms.items()}


def multiply(
    x: np.ndarray,
    y: np.ndarray,
    out: np.ndarray,
    room: Mapping[str, np.ndarray],
    columns: slice = slice(None),
) -> Callable[[], object] | None:
    """What fills these columns of ``out`` from x @ y whenever it is called; None where that does not pay.

    ``room``: see there.
    """
    first, last, _ = columns.indices(y.shape[1])
    found = way(len(x), (len(y), last - first), "float32") if _lie_well(x, y, out) else None
    if found is None:
        return None
    return partial(
        found.multiply, x, y, out, first, last, *_arrays(room, found.room(len(x), len(y), last - first))
    )


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
    used, and columns of x and ``below``. ``room``: see ``room_back``, for so many rows. None where it does
    not pay.
    """
    given = [each for each in (x, slope, y, target, below) if each is not None]
    first, last, _ = rows.indices(len(y))
    found = way(len(x), (last - first, y.shape[1]), "float32") if room and _lie_well(*given) else None
    if found is None:
        return None
    goal = _NONE if target is None else target[first:last]
    arrays = x, first, slope, y[first:last], goal, _NONE if below is None else below
    rest = is_added, _arrays(room, found.room_back(len(x), last - first, y.shape[1]))

    def step(factor: float) -> None:
        found.multiply_back(*arrays, np.float32(factor), *rest)

    return step


def flushed(step: Callable[..., object], matrix: np.ndarray) -> Callable[..., object]:
    """A step that multiplies with ``matrix``, in which numbers that are too small are 0."""
    if matrix.size < _LEAST_FLUSHED or matrix.dtype != np.float32:
        return step
    import numpy.ma  # noqa: F401  a first kernel has it loaded, and it looks at small numbers

    from paddle._engine.kernels import flushing  # loads numba

    return partial(_run, flushing.flush, flushing.restore, step) if flushing.IS_THERE else step


def _run(
    flush: Callable[[], int], restore: Callable[[int], None], step: Callable[..., object], *given: float
) -> object:
    before = flush()
    try:
        return step(*given)
    finally:
        restore(before)


def _forms(shapes: Mapping[str, Shape]) -> Mapping[str, Form]:
    return {name: Form(shape, "float32") for name, shape in shapes.items()}


def _arrays(room: Mapping[str, np.ndarray], names: Mapping[str, Shape]) -> tuple[np.ndarray, ...]:
    return tuple(room[name] for name in names)


def _lie_well(*arrays: np.ndarray) -> bool:
    return all(each.dtype == np.float32 and each.flags.c_contiguous for each in arrays)
