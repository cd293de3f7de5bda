"""Matrices taken apart into triangles, and what comes nearest to solving them.

It must never know an operator's block. Guarantee: computed in double precision; rows change places as LAPACK
has them change, counted from 1.
"""

from __future__ import annotations

import numpy as np

from paddle._program.description.dtypes import VarType
from paddle._program.ops.formulas.formula import Attrs, Formula, Shape


def _eliminated(matrix: np.ndarray, pivots: np.ndarray, is_free: bool) -> int:
    """Both triangles in ``matrix`` itself; gives where the first pivot is 0, from 1 on, or 0."""
    failed = 0
    for at in range(len(pivots)):
        row = at + int(np.abs(matrix[at:, at]).argmax()) if is_free else at
        pivots[at] = row + 1
        matrix[[at, row]] = matrix[[row, at]]
        if matrix[at, at] == 0:
            failed = failed or at + 1
            continue
        matrix[at + 1 :, at] /= matrix[at, at]
        matrix[at + 1 :, at + 1 :] -= np.outer(matrix[at + 1 :, at], matrix[at, at + 1 :])
    return failed


def _triangles(told: Attrs, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    matrices = x.astype(np.float64).reshape(-1, *x.shape[-2:])
    pivots = np.zeros((len(matrices), min(x.shape[-2:])), np.int64)
    pairs = zip(matrices, pivots, strict=True)
    failed = np.array([_eliminated(matrix, rows, bool(told["pivot"])) for matrix, rows in pairs])
    before = x.shape[:-2]
    return matrices.reshape(x.shape), pivots.reshape(*before, -1), failed.reshape(before or (1,))


def _least(x: Shape) -> int:
    return -1 if min(x[-2:]) < 0 else min(x[-2:])


Formula(
    "lu",
    "X",
    "Out Pivots Infos",
    _triangles,
    shape=lambda told, x: (x, (*x[:-2], _least(x)), tuple(x[:-2]) or (1,)),
    dtypes={"Pivots": VarType.INT32, "Infos": VarType.INT32},
).register(pivot=True)


def _permutation(rows: int, pivots: np.ndarray) -> np.ndarray:
    order = np.arange(rows)
    for at, row in enumerate(pivots.astype(np.int64) - 1):
        order[[at, row]] = order[[row, at]]
    return np.eye(rows)[:, order]


def _apart(told: Attrs, x: np.ndarray, pivots: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows, least = x.shape[-2], min(x.shape[-2:])
    every = pivots.reshape(-1, pivots.shape[-1])
    turned = np.stack([_permutation(rows, each) for each in every]).reshape(*x.shape[:-2], rows, rows)
    return turned, np.tril(x[..., :least], -1) + np.eye(rows, least), np.triu(x[..., :least, :])


Formula(
    "lu_unpack",
    "X Pivots",
    "Pmat L U",
    _apart,
    shape=lambda told, x, pivots: (
        (*x[:-1], x[-2]),
        (*x[:-1], _least(x)),
        (*x[:-2], _least(x), x[-1]),
    ),
).register(unpack_ludata=True, unpack_pivots=True)


def _nearest(told: Attrs, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    x, y = x.astype(np.float64), y.astype(np.float64)
    left, sizes, right = np.linalg.svd(x, full_matrices=False)
    counts = sizes > told["rcond"] * sizes.max(-1, keepdims=True)
    over = np.where(counts, 1 / np.where(counts, sizes, 1), 0.0)
    found = np.swapaxes(right, -1, -2) @ (over[..., None] * (np.swapaxes(left, -1, -2) @ y))
    rank, nothing = counts.sum(-1), np.zeros(0)
    rows, columns = x.shape[-2:]
    is_whole = rows > columns and bool((rank == columns).all())
    missed = np.square(y - x @ found).sum(-2) if is_whole else nothing
    how = told["driver"]
    return found, missed, nothing if how == "gels" else rank, sizes if how in ("gelsd", "gelss") else nothing


def _nearest_shape(told: Attrs, x: Shape, y: Shape) -> tuple[Shape, ...]:
    before, how = tuple(x[:-2]), told["driver"]
    rank = (0,) if how == "gels" else before
    missed = (*before, y[-1]) if x[-2] > x[-1] else (0,)
    return (*before, x[-1], y[-1]), missed, rank, (*before, _least(x)) if how in ("gelsd", "gelss") else (0,)


Formula(
    "lstsq",
    "X Y",
    "Solution Residuals Rank SingularValues",
    _nearest,
    shape=_nearest_shape,
    dtypes={"Rank": VarType.INT32},
).register(rcond=0.0, driver="gelsy")
