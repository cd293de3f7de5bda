"""Products of matrices and norms: ``paddle.matmul`` and its family.

It must never compute: each function appends operators to the default program. Guarantee: products are of the
last two axes, those before them are broadcast.
"""

from __future__ import annotations

from typing import Any

from paddle.tensor._append import append, floats_alone
from paddle.tensor.math import _reduced, abs, add, max, min, multiply, pow, sign, sqrt, square, subtract, sum

__all__ = ["bmm", "dist", "dot", "matmul", "mm", "mv", "norm"]


def matmul(
    x: Any, y: Any, transpose_x: bool = False, transpose_y: bool = False, name: str | None = None
) -> Any:
    """The product of matrices, or of vectors with them."""
    attrs = {"trans_x": transpose_x, "trans_y": transpose_y}
    return append("matmul_v2", {"X": x, "Y": y}, attrs, name=name)


def mm(input: Any, mat2: Any, name: str | None = None) -> Any:
    """The product of matrices."""
    return matmul(input, mat2, name=name)


def bmm(x: Any, y: Any, name: str | None = None) -> Any:
    """The products of two batches of matrices."""
    return matmul(x, y, name=name)


def mv(x: Any, vec: Any, name: str | None = None) -> Any:
    """The product of a matrix with a vector."""
    return matmul(x, vec, name=name)


def dot(x: Any, y: Any, name: str | None = None) -> Any:
    """The inner products along the last axis: one of two lines, one for each row of two matrices; in the
    dtype of ``x``."""
    both = multiply(x, y)
    return _reduced("reduce_sum", both, -1, len(x.shape) == 1, name)


def norm(x: Any, p: Any = "fro", axis: Any = None, keepdim: bool = False, name: str | None = None) -> Any:
    """The ``p`` norm along ``axis``, of all elements if None. "fro" is that of 2; 0 counts what is not 0."""
    if not isinstance(p, str) and p not in (0, 1, 2, float("inf"), float("-inf")):
        floats_alone("norm", x=x)
    if p in ("fro", 2):
        return _root(sum(square(x), axis, keepdim=keepdim), 2, name)
    if p == float("inf"):
        return max(abs(x), axis, keepdim, name)
    if p == float("-inf"):
        return min(abs(x), axis, keepdim, name)
    if p == 1:
        return sum(abs(x), axis, keepdim=keepdim, name=name)
    if p == 0:
        return sum(abs(sign(x)), axis, keepdim=keepdim, name=name)
    if not isinstance(p, (int, float)):
        raise ValueError(f"p of norm is 'fro' or a number, which may be inf or -inf, not {p!r}")
    return _root(sum(pow(abs(x), p), axis, keepdim=keepdim), p, name)


def _root(total: Any, p: float, name: str | None = None) -> Any:
    """The ``p``-th root of what is not below 0; where it is 0 its slope is finite, so that of a norm is 0."""
    from paddle.tensor.creation import zeros_like
    from paddle.tensor.logic import equal
    from paddle.tensor.manipulation import cast

    if p < 0:
        return pow(total, 1.0 / p, name)
    lifted = cast(equal(total, zeros_like(total)), total.dtype)
    lifted.stop_gradient = True
    whole = add(total, lifted)
    return subtract(sqrt(whole) if p == 2 else pow(whole, 1.0 / p), lifted, name)


def dist(x: Any, y: Any, p: float = 2, name: str | None = None) -> Any:
    """The ``p`` norm of x - y; where p is 0, how many elements differ."""
    apart = subtract(x, y)
    return norm(apart, p)
