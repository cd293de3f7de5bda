"""Matrices: inverses, determinants, what is solved by them, and what they are taken apart into.

It must never know an operator's block. Guarantee: computed in double precision; a matrix that has no inverse
is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.ops.formulas.formula import Attrs, Formula, Shape, unbroadcast


def _wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64)


def _turned(x: np.ndarray) -> np.ndarray:
    return np.swapaxes(x, -1, -2)


def _inverse(x: np.ndarray) -> np.ndarray:
    try:
        return np.asarray(np.linalg.inv(_wide(x)))
    except np.linalg.LinAlgError as error:
        raise ValueError(f"{error}: a matrix of {list(x.shape[-2:])} has no inverse") from None


def _inverse_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    turned = _turned(_inverse(arrays[0]))
    return [-turned @ _wide(came) @ turned]


Formula("inverse", "Input", "Output", lambda told, x: _inverse(x), _inverse_back).register()


def _determined_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x = arrays[0]
    size = np.linalg.det(_wide(x)) * _wide(came).reshape(x.shape[:-2])
    return [size[..., None, None] * _turned(_inverse(x))]


Formula(
    "determinant",
    "Input",
    "Out",
    lambda told, x: np.linalg.det(_wide(x)),
    _determined_back,
    lambda told, x: tuple(x[:-2]) or (1,),
).register()


def _logarithms_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    return [_wide(came)[1].reshape(*arrays[0].shape[:-2], 1, 1) * _turned(_inverse(arrays[0]))]


Formula(
    "slogdeterminant",
    "Input",
    "Out",
    lambda told, x: np.stack(np.linalg.slogdet(_wide(x))),
    _logarithms_back,
    lambda told, x: (2, *x[:-2]),
).register()


def _solved(matrix: np.ndarray, y: np.ndarray) -> np.ndarray:
    column = y[..., None] if y.ndim == 1 else y
    found = _inverse_times(matrix, column)
    return found[..., 0] if y.ndim == 1 else found


def _inverse_times(matrix: np.ndarray, y: np.ndarray) -> np.ndarray:
    try:
        return np.asarray(np.linalg.solve(_wide(matrix), _wide(y)))
    except np.linalg.LinAlgError as error:
        raise ValueError(f"{error}: {list(matrix.shape[-2:])} cannot be solved") from None


def _solved_back(matrix: np.ndarray, y: np.ndarray, out: np.ndarray, came: np.ndarray) -> list[Any]:
    slope, found = (each[..., None] if y.ndim == 1 else each for each in (_wide(came), _wide(out)))
    of_y = _inverse_times(_turned(matrix), slope)
    of_matrix = -of_y @ _turned(found)
    of_y = of_y[..., 0] if y.ndim == 1 else of_y
    return [unbroadcast(of_matrix, matrix.shape), unbroadcast(of_y, y.shape)]


def _beside(told: Attrs, x: Shape, y: Shape) -> Shape:
    if len(y) == 1:
        return tuple(x[:-1])
    return (*(x[:-2] if len(x) > len(y) else y[:-2]), x[-1], y[-1])


Formula(
    "solve",
    "X Y",
    "Out",
    lambda told, x, y: _solved(x, y),
    lambda told, arrays, outs, came: _solved_back(arrays[0], arrays[1], outs[0], came),
    _beside,
).register()


def _triangle(told: Attrs, x: np.ndarray) -> np.ndarray:
    found = np.triu(x) if told["upper"] else np.tril(x)
    if told["unitriangular"]:
        found = found * (1 - np.eye(x.shape[-1])) + np.eye(x.shape[-1])
    return _turned(found) if told["transpose"] else found


def _triangle_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    of_matrix, of_y = _solved_back(_triangle(told, arrays[0]), arrays[1], outs[0], came)
    of_x = _turned(of_matrix) if told["transpose"] else of_matrix
    of_x = np.triu(of_x) if told["upper"] else np.tril(of_x)
    return [of_x * (1 - np.eye(of_x.shape[-1])) if told["unitriangular"] else of_x, of_y]


Formula(
    "triangular_solve",
    "X Y",
    "Out",
    lambda told, x, y: _solved(_triangle(told, x), y),
    _triangle_back,
    _beside,
).register(upper=True, transpose=False, unitriangular=False)


def _factor(told: Attrs, x: np.ndarray) -> np.ndarray:
    whole = np.triu(x) + _turned(np.triu(x, 1)) if told["upper"] else np.tril(x) + _turned(np.tril(x, -1))
    try:
        lower = np.linalg.cholesky(_wide(whole))
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"{error}: cholesky is of symmetric matrices whose eigenvalues are above 0"
        ) from None
    return _turned(lower) if told["upper"] else lower


def _factor_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    lower, slope = _wide(_factor(told, arrays[0])), _wide(came)
    if told["upper"]:
        lower, slope = _turned(lower), _turned(slope)
    inner = np.tril(_turned(lower) @ slope)
    inner = inner - 0.5 * inner * np.eye(lower.shape[-1])
    over = np.linalg.inv(lower)
    found = _turned(over) @ inner @ over
    return [(found + _turned(found)) / 2]


Formula("cholesky", "X", "Out", _factor, _factor_back).register(upper=False)


def _right_angles(told: Attrs, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if told["mode"] == "r":
        return np.zeros(0), np.asarray(np.linalg.qr(_wide(x), "r"))
    found = np.linalg.qr(_wide(x), told["mode"])
    return found[0], found[1]


def _right_angles_shape(told: Attrs, x: Shape) -> tuple[Shape, Shape]:
    rows, columns = x[-2:]
    least = rows if told["mode"] == "complete" else -1 if min(rows, columns) < 0 else min(rows, columns)
    return (*x[:-2], rows, least), (*x[:-2], least, columns)


Formula("qr", "X", "Q R", _right_angles, shape=_right_angles_shape).register(mode="reduced")


def _singular_shape(told: Attrs, x: Shape) -> tuple[Shape, Shape, Shape]:
    rows, columns = x[-2:]
    least = -1 if min(rows, columns) < 0 else min(rows, columns)
    first, last = (rows, columns) if told["full_matrices"] else (least, least)
    return (*x[:-2], rows, first), (*x[:-2], least), (*x[:-2], last, columns)


Formula(
    "svd",
    "X",
    "U S VH",
    lambda told, x: tuple(np.linalg.svd(_wide(x), bool(told["full_matrices"]))),
    shape=_singular_shape,
).register(full_matrices=False)
Formula(
    "eigh",
    "X",
    "Eigenvalues Eigenvectors",
    lambda told, x: tuple(np.linalg.eigh(_wide(x), told["UPLO"])),
    shape=lambda told, x: (tuple(x[:-1]), x),
).register(UPLO="L")
Formula(
    "pinv",
    "X",
    "Out",
    lambda told, x: np.linalg.pinv(_wide(x), told["rcond"], bool(told["hermitian"])),
    shape=lambda told, x: (*x[:-2], x[-1], x[-2]),
).register(rcond=1e-15, hermitian=False)
