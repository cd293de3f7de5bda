"""Matrices: ``paddle.linalg``.

It must never compute: each function appends operators to the default program. Guarantee: gradients go through
all but what takes a matrix apart (``qr``, ``svd``, ``eigh`` and what is made of them).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from paddle._absent import AbsentName
from paddle.tensor import math
from paddle.tensor._append import append, append_all
from paddle.tensor.creation import diag, eye, full_like, tril, triu
from paddle.tensor.linalg import dist as dist
from paddle.tensor.linalg import matmul
from paddle.tensor.linalg import norm as norm
from paddle.tensor.logic import greater_than
from paddle.tensor.manipulation import cast, concat, transpose, unsqueeze
from paddle.tensor.manipulation import slice as part
from paddle.tensor.stat import mean

__all__ = [
    *("cholesky", "cholesky_solve", "cond", "corrcoef", "cov", "det", "dist", "eigh", "eigvalsh"),
    *("householder_product", "inv", "inverse", "lstsq", "lu", "lu_unpack", "matrix_power", "matrix_rank"),
    *("multi_dot", "norm", "pinv", "qr", "slogdet", "solve", "svd", "triangular_solve"),
]

_ABSENT = """
    eig eigvals matrix_exp pca_lowrank
    """.split()  # noqa: SIM905  read in columns


def inv(x: Any, name: str | None = None) -> Any:
    """What each matrix times it is one."""
    return append("inverse", {"Input": x}, outputs=("Output",), name=name)


inverse = inv  # as paddle itself calls it


def det(x: Any, name: str | None = None) -> Any:
    """The determinant of each matrix."""
    return append("determinant", {"Input": x}, name=name)


def slogdet(x: Any, name: str | None = None) -> Any:
    """The sign of the determinant of each matrix and the logarithm of its size, (2, ...)."""
    return append("slogdeterminant", {"Input": x}, name=name)


def solve(x: Any, y: Any, name: str | None = None) -> Any:
    """What x times it is y."""
    return append("solve", {"X": x, "Y": y}, name=name)


def cholesky(x: Any, upper: bool = False, name: str | None = None) -> Any:
    """The triangle L of which x is L @ L.T, or, ``upper``, L.T of it."""
    return append("cholesky", {"X": x}, {"upper": upper}, name=name)


def cholesky_solve(x: Any, y: Any, upper: bool = False, name: str | None = None) -> Any:
    """What A times it is x, of which ``cholesky(A, upper)`` is y."""
    y = triu(y) if upper else tril(y)
    turned = transpose(y, [*range(len(y.shape) - 2), len(y.shape) - 1, len(y.shape) - 2])
    whole = matmul(turned, y) if upper else matmul(y, turned)
    return solve(whole, x, name)


def triangular_solve(
    x: Any,
    y: Any,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    name: str | None = None,
) -> Any:
    """What x times it is y, where the triangle of x above its diagonal counts (below it: not ``upper``)."""
    told = {"upper": upper, "transpose": transpose, "unitriangular": unitriangular}
    return append("triangular_solve", {"X": x, "Y": y}, told, name=name)


def multi_dot(x: Sequence[Any], name: str | None = None) -> Any:
    """The product of several matrices."""
    found = x[0]
    for each in x[1:]:
        found = matmul(found, each)
    return math.scale(found, 1.0, name=name)


def matrix_power(x: Any, n: int, name: str | None = None) -> Any:
    """x times itself ``n`` times; the inverse so often where n is below 0."""
    base, left, found = (inv(x) if n < 0 else x), abs(n), None
    if n == 0:
        return matmul(x, inv(x), name=name)
    while left:
        if left % 2:
            found = base if found is None else matmul(found, base)
        left //= 2
        base = matmul(base, base) if left else base
    return math.scale(found, 1.0, name=name)


def qr(x: Any, mode: str = "reduced", name: str | None = None) -> Any:
    """A matrix of columns at right angles, and the triangle by which it gives x; that alone in mode "r"."""
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"QR decomposition: the mode {mode!r} is none of reduced, complete and r")
    both = append_all("qr", {"X": x}, {"mode": mode}, outputs=("Q", "R"), stop_gradient=True, name=name)
    return both[1] if mode == "r" else tuple(both)


def svd(x: Any, full_matrices: bool = False, name: str | None = None) -> tuple[Any, Any, Any]:
    """U, the singular values, falling, and V.T, of which x is the product."""
    outputs = ("U", "S", "VH")
    told = {"full_matrices": full_matrices}
    u, s, vh = append_all("svd", {"X": x}, told, outputs=outputs, stop_gradient=True, name=name)
    return u, s, vh


def eigh(x: Any, UPLO: str = "L", name: str | None = None) -> tuple[Any, Any]:
    """The eigenvalues of a symmetric matrix, ascending, and its eigenvectors, one a column."""
    outputs = ("Eigenvalues", "Eigenvectors")
    values, vectors = append_all(
        "eigh", {"X": x}, {"UPLO": UPLO}, outputs=outputs, stop_gradient=True, name=name
    )
    return values, vectors


def eigvalsh(x: Any, UPLO: str = "L", name: str | None = None) -> Any:
    """The eigenvalues of a symmetric matrix, ascending."""
    return eigh(x, UPLO, name)[0]


def matrix_rank(x: Any, tol: float | None = None, hermitian: bool = False, name: str | None = None) -> Any:
    """How many singular values are above ``tol``: the largest times the larger size times 1.2e-7 if None."""
    values = math.abs(eigvalsh(x)) if hermitian else svd(x)[1]
    if tol is None:
        limit = math.scale(math.max(values, -1, keepdim=True), max(x.shape[-2:]) * 1.1920929e-07)
    else:
        limit = math.scale(math.max(values, -1, keepdim=True), 0.0, float(tol))
    return math._reduced("reduce_sum", cast(greater_than(values, limit), "int32"), -1, False, name)


def pinv(x: Any, rcond: float = 1e-15, hermitian: bool = False, name: str | None = None) -> Any:
    """The inverse as near as there is one: singular values up to ``rcond`` times the largest count as 0."""
    told = {"rcond": float(rcond), "hermitian": hermitian}
    return append("pinv", {"X": x}, told, stop_gradient=True, name=name)


def lu(x: Any, pivot: bool = True, get_infos: bool = False, name: str | None = None) -> tuple[Any, ...]:
    """Both triangles of which x is the product, in one matrix, and with which row each changed places, from 1
    on; with ``get_infos`` also, of each matrix, where its first pivot is 0."""
    told, kinds = {"pivot": pivot}, {"Pivots": "int32", "Infos": "int32"}
    outputs = ("Out", "Pivots", "Infos")
    found = append_all("lu", {"X": x}, told, outputs=outputs, dtypes=kinds, stop_gradient=True, name=name)
    return tuple(found if get_infos else found[:2])


def lu_unpack(
    x: Any, y: Any, unpack_ludata: bool = True, unpack_pivots: bool = True, name: str | None = None
) -> tuple[Any, Any, Any]:
    """What ``lu`` gave as three matrices: rows in other places, the lower and the upper triangle."""
    told = {"unpack_ludata": unpack_ludata, "unpack_pivots": unpack_pivots}
    inputs, outputs = {"X": x, "Pivots": y}, ("Pmat", "L", "U")
    places, lower, upper = append_all(
        "lu_unpack", inputs, told, outputs=outputs, stop_gradient=True, name=name
    )
    return places, lower, upper


def lstsq(
    x: Any, y: Any, rcond: float | None = None, driver: str | None = None, name: str | None = None
) -> tuple[Any, ...]:
    """What x times it comes nearest to y; by how much it fails, squared, where x is higher than wide; the
    rank of x, and its singular values ("gelsd" and "gelss"), of those above ``rcond`` times the largest."""
    how = "gelsy" if driver is None else driver
    if how not in ("gels", "gelsd", "gelss", "gelsy"):
        raise ValueError(f"the driver of lstsq is 'gels', 'gelsd', 'gelss' or 'gelsy', not {driver!r}")
    told = {"rcond": 1e-7 * max(x.shape[-2:]) if rcond is None else float(rcond), "driver": how}
    outputs = ("Solution", "Residuals", "Rank", "SingularValues")
    kinds = {"Rank": "int32"}
    inputs = {"X": x, "Y": y}
    return tuple(
        append_all("lstsq", inputs, told, outputs=outputs, dtypes=kinds, stop_gradient=True, name=name)
    )


def cond(x: Any, p: Any = None, name: str | None = None) -> Any:
    """How much x stretches against how little: its norm times that of its inverse. ``p``: 2 if None, -2, 1,
    -1, inf, -inf, "fro" or "nuc"."""
    if p in (None, 2, -2):
        values = svd(x)[1]
        largest, least = math.max(values, -1), math.min(values, -1)
        return math.divide(least, largest, name) if p == -2 else math.divide(largest, least, name)
    if p not in ("fro", "nuc", 1, -1, float("inf"), float("-inf")):
        raise ValueError(f"p of cond is None, 2, -2, 1, -1, inf, -inf, 'fro' or 'nuc', not {p!r}")
    return math.multiply(_matrix_norm(x, p), _matrix_norm(inv(x), p), name)


def _matrix_norm(x: Any, p: Any) -> Any:
    if p == "fro":
        return norm(x, "fro", [-2, -1])
    if p == "nuc":
        return math.sum(svd(x)[1], -1)
    lines = math.sum(math.abs(x), -2 if p in (1, -1) else -1)
    return math.max(lines, -1) if p > 0 else math.min(lines, -1)


def householder_product(x: Any, tau: Any, name: str | None = None) -> Any:
    """The first columns of the product of reflections: of column i of x what is below its diagonal says the
    way, and ``tau`` how far."""
    rows, columns = x.shape[-2:]
    found: Any = eye(rows, dtype=x.dtype)
    for at in range(min(columns, tau.shape[-1])):
        column = part(x, [-1], [at], [at + 1])
        above, diagonal = part(column, [-2], [0], [at + 1]), part(column, [-2], [at], [at + 1])
        above = math.scale(above, 0.0)
        pieces = [part(above, [-2], [0], [at])] if at else []
        pieces.append(math.scale(diagonal, 0.0, 1.0))
        pieces += [part(column, [-2], [at + 1], [rows])] if at + 1 < rows else []
        way = concat(pieces, -2)
        far = unsqueeze(part(tau, [-1], [at], [at + 1]), -1)
        turned = matmul(matmul(found, way), way, transpose_y=True)
        found = math.subtract(found, math.multiply(turned, far))
    return math.scale(part(found, [-1], [0], [columns]), 1.0, name=name)


def corrcoef(x: Any, rowvar: bool = True, name: str | None = None) -> Any:
    """How the rows of x (columns: not ``rowvar``) vary together, from -1 to 1."""
    both = cov(x, rowvar)
    apart = math.sqrt(diag(both))
    return math.clip(math.divide(math.divide(both, unsqueeze(apart, 1)), apart), -1.0, 1.0, name)


def cov(
    x: Any,
    rowvar: bool = True,
    ddof: bool = True,
    fweights: Any = None,
    aweights: Any = None,
    name: str | None = None,
) -> Any:
    """How the rows of x (columns: not ``rowvar``) vary together; ``ddof``: over one observation less."""
    rows = unsqueeze(x, 0) if len(x.shape) == 1 else x if rowvar else transpose(x, [1, 0])
    if fweights is not None or aweights is not None:
        return _weighed(rows, ddof, fweights, aweights, name)
    apart = math.subtract(rows, mean(rows, 1, keepdim=True))
    if rows.shape[1] < 0:
        raise ValueError(f"paddle.linalg.cov counts observations, and {list(rows.shape)} is declared")
    total = matmul(apart, apart, transpose_y=True)
    return math.scale(total, 1.0 / (rows.shape[1] - (1 if ddof else 0)), name=name)


def _weighed(rows: Any, ddof: bool, fweights: Any, aweights: Any, name: str | None) -> Any:
    """``fweights``: how often each observation was made; ``aweights``: how much it counts."""
    given = [cast(each, rows.dtype) for each in (fweights, aweights) if each is not None]
    weights = given[0] if len(given) == 1 else math.multiply(*given)
    total = math.sum(weights)
    apart = math.subtract(rows, math.divide(math.sum(math.multiply(rows, weights), 1, keepdim=True), total))
    less = full_like(total, 1.0)
    if aweights is not None:
        less = math.divide(math.sum(math.multiply(weights, cast(aweights, rows.dtype))), total)
    over = math.subtract(total, less) if ddof else total
    return math.divide(matmul(math.multiply(apart, weights), apart, transpose_y=True), over, name)


def __getattr__(name: str) -> NoReturn:
    if name in _ABSENT:
        raise AbsentName(f"paddle.linalg.{name} is not in this release: it is not built.")
    raise AttributeError(f"paddle.linalg.{name} does not exist", name=name)
