"""Matrices: products, inverses, what is solved by them and what they are taken apart into; diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from .case import Case

RNG = np.random.default_rng(6)
A, B = RNG.normal(size=(2, 3, 4))
C = RNG.normal(size=(2, 4, 3))
V = RNG.normal(size=(4, 3))
CUBE = RNG.normal(size=(2, 4, 5, 3))[0]
SQUARE = RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3)
SOLID = SQUARE @ SQUARE.swapaxes(1, 2)
SIDE = RNG.normal(size=(2, 3, 2))
TALL = RNG.normal(size=(4, 3))
IMAGES, OTHERS = RNG.normal(size=(2, 2, 3, 2, 4))
LEFT, RIGHT = RNG.normal(size=3), RNG.normal(size=4)


def _apart(p: float) -> Any:
    return lambda x, y: np.atleast_1d(np.linalg.norm((x - y).reshape(-1), p))


def _stretched(x: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return x / np.linalg.svd(x, compute_uv=False)[0]


def _lower(x: np.ndarray) -> np.ndarray:
    return np.linalg.cholesky((x + x.swapaxes(-1, -2)) / 2)


def _on_diagonal(x: np.ndarray, offset: int) -> np.ndarray:
    return np.stack([np.diag(row, offset) for row in x], 1)


def _eliminated(x: np.ndarray) -> tuple[np.ndarray, ...]:
    found, pivots = zip(*(scipy.linalg.lu_factor(each) for each in x), strict=True)
    return np.stack(found), np.stack(pivots) + 1, np.zeros(len(x))


def _torch_eliminated(t: Any, x: Any) -> Any:
    found, pivots = t.linalg.lu_factor(x)
    return found, pivots, t.zeros(len(x))


def _unpacked(x: np.ndarray, pivots: np.ndarray) -> tuple[np.ndarray, ...]:
    order = np.arange(len(x))
    for at, row in enumerate(pivots - 1):
        order[[at, row]] = order[[row, at]]
    return np.eye(len(x))[:, order], np.tril(x, -1) + np.eye(len(x)), np.triu(x)


def _nearest(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, ...]:
    found, missed, rank, sizes = np.linalg.lstsq(x, y, rcond=None)
    return found, missed, np.array(rank), sizes


def _torch_nearest(t: Any, x: Any, y: Any) -> Any:
    found = t.linalg.lstsq(x, y, driver="gelsd")
    return found.solution, found.residuals, found.rank, found.singular_values


def _triangle(upper: bool, transpose: bool, unit: bool) -> Case:
    def solved(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        found = np.triu(x) if upper else np.tril(x)
        found = found * (1 - np.eye(3)) + np.eye(3) if unit else found
        return np.linalg.solve(found.swapaxes(1, 2) if transpose else found, y)

    return Case(
        "triangular_solve",
        {"X": SQUARE, "Y": SIDE},
        solved,
        lambda t, x, y: t.linalg.solve_triangular(
            x.mT if transpose else x, y, upper=upper != transpose, unitriangular=unit
        ),
        told={"upper": upper, "transpose": transpose, "unitriangular": unit},
    )


CASES = [
    Case(
        "addmm",
        {"Input": A[:1, :3], "X": A, "Y": V},
        lambda i, x, y: 2 * i + 0.5 * x @ y,
        lambda t, i, x, y: t.addmm(i, x, y, beta=2, alpha=0.5),
        told={"Alpha": 0.5, "Beta": 2.0},
    ),
    Case("kron", {"X": V[:2, :2], "Y": C}, np.kron, lambda t, x, y: t.kron(x, y)),
    Case("cross", {"X": C, "Y": V}, np.cross, lambda t, x, y: t.linalg.cross(x, y.expand(2, 4, 3))),
    Case(
        "cross",
        {"X": A, "Y": B},
        lambda x, y: np.cross(x, y, axis=0),
        lambda t, x, y: t.linalg.cross(x, y, dim=0),
        told={"dim": 0},
    ),
    *(
        Case(
            "dist",
            {"X": A, "Y": B},
            _apart(p),
            lambda t, x, y, p=p: t.dist(x, y, p).reshape(1),
            told={"p": p},
        )
        for p in (0.0, 1.0, 2.0, 3.0, np.inf, -np.inf)
    ),
    Case(
        "fsp",
        {"X": IMAGES, "Y": OTHERS[:, :2]},
        lambda x, y: np.einsum("nchw,ndhw->ncd", x, y) / 8,
        lambda t, x, y: t.einsum("nchw,ndhw->ncd", x, y) / 8,
    ),
    Case("inverse", {"Input": SQUARE}, np.linalg.inv, lambda t, x: t.linalg.inv(x), "Output"),
    Case("determinant", {"Input": SQUARE}, np.linalg.det, lambda t, x: t.linalg.det(x)),
    Case(
        "slogdeterminant",
        {"Input": -SQUARE},
        lambda x: np.stack(np.linalg.slogdet(x)),
        lambda t, x: t.stack(tuple(t.linalg.slogdet(x))),
    ),
    Case("solve", {"X": SQUARE, "Y": SIDE}, np.linalg.solve, lambda t, x, y: t.linalg.solve(x, y)),
    Case("solve", {"X": SQUARE, "Y": SIDE[0]}, np.linalg.solve, lambda t, x, y: t.linalg.solve(x, y)),
    Case(
        "solve",
        {"X": SQUARE[0], "Y": SIDE[0, :, 0]},
        np.linalg.solve,
        lambda t, x, y: t.linalg.solve(x, y),
    ),
    *(_triangle(*(bool(bits & bit) for bit in (1, 2, 4))) for bits in range(8)),
    Case("cholesky", {"X": SOLID}, _lower, lambda t, x: t.linalg.cholesky(x)),
    Case(
        "cholesky",
        {"X": SOLID},
        lambda x: _lower(x).swapaxes(1, 2),
        lambda t, x: t.linalg.cholesky(x, upper=True),
        told={"upper": True},
    ),
    Case(
        "qr",
        {"X": TALL},
        lambda x: tuple(np.linalg.qr(x)),
        lambda t, x: tuple(t.linalg.qr(x)),
        "Q R",
        is_turned=True,
    ),
    Case(
        "svd",
        {"X": TALL},
        lambda x: tuple(np.linalg.svd(x, full_matrices=False)),
        lambda t, x: tuple(t.linalg.svd(x, full_matrices=False)),
        "U S VH",
        is_turned=True,
    ),
    Case(
        "eigh",
        {"X": SOLID},
        lambda x: tuple(np.linalg.eigh(x)),
        lambda t, x: tuple(t.linalg.eigh(x)),
        "Eigenvalues Eigenvectors",
        is_turned=True,
    ),
    Case("pinv", {"X": TALL}, np.linalg.pinv, lambda t, x: t.linalg.pinv(x)),
    Case("lu", {"X": SQUARE[:, ::-1]}, _eliminated, _torch_eliminated, "Out Pivots Infos"),
    Case(
        "lu_unpack",
        {"X": SQUARE[0], "Pivots": np.array([2, 3, 3])},
        _unpacked,
        lambda t, x, pivots: tuple(t.lu_unpack(x, pivots.int())),
        "Pmat L U",
    ),
    Case(
        "lstsq",
        {"X": TALL, "Y": A.T},
        _nearest,
        _torch_nearest,
        "Solution Residuals Rank SingularValues",
        {"driver": "gelsd"},
    ),
    Case(
        "spectral_norm",
        {"Weight": A, "U": LEFT, "V": RIGHT},
        _stretched,
        lambda t, x, u, v: x / t.linalg.matrix_norm(x, 2),
        told={"power_iters": 60},
        of="Weight",
    ),
    Case(
        "diagonal",
        {"Input": CUBE},
        lambda x: np.diagonal(x, 1, 2, 1),
        lambda t, x: x.diagonal(1, 2, 1),
        told={"offset": 1, "axis1": 2, "axis2": 1},
    ),
    Case(
        "diagonal",
        {"Input": CUBE},
        lambda x: np.diagonal(x, -1, 0, 1),
        lambda t, x: x.diagonal(-1),
        told={"offset": -1},
    ),
    *(
        Case(
            "diag_embed",
            {"Input": A},
            lambda x, k=k: _on_diagonal(x, k),
            lambda t, x, k=k: t.diag_embed(x, k, 0, 2),
            told={"offset": k, "dim1": 0, "dim2": 2},
        )
        for k in (1, -1)
    ),
    *(
        Case(
            "trace",
            {"Input": CUBE},
            lambda x, k=k: np.trace(x, k, 1, 2),
            lambda t, x, k=k: x.diagonal(k, 1, 2).sum(-1),
            told={"offset": k, "axis1": 1, "axis2": 2},
        )
        for k in (1, -2)
    ),
]
