"""Diagonals, corners and right angles: ``paddle.diagonal``, ``paddle.tril_indices``, ``paddle.cross``.

They must never compute: each function appends operators to the default program. Guarantee: a diagonal's
elements lie along the last axis; one below 0 is below the main one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle.tensor import math
from paddle.tensor._append import append
from paddle.tensor.creation import assign, ones_like
from paddle.tensor.manipulation import cast, flatten, flip, stack, transpose
from paddle.tensor.placing import diag_embed

__all__ = ["cross", "diagflat", "diagonal", "rot90", "tril_indices", "triu_indices", "vander"]


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Any:
    """A diagonal of the axes ``axis1`` and ``axis2``, as the last axis."""
    told = {"offset": offset, "axis1": axis1, "axis2": axis2}
    return append("diagonal", {"Input": x}, told, name=name)


def diagflat(x: Any, offset: int = 0, name: str | None = None) -> Any:
    """A matrix with all elements of x, in their order, on a diagonal."""
    return diag_embed(flatten(x) if len(x.shape) > 1 else x, offset)


def padded(x: Any, offset: int, padding_value: float) -> Any:
    """A matrix with the line x on a diagonal and ``padding_value`` elsewhere."""
    found = diag_embed(x, offset)
    if not padding_value:
        return found
    ones = ones_like(x)
    ones.stop_gradient = True
    return math.add(found, math.scale(diag_embed(ones, offset), -padding_value, padding_value))


def cross(x: Any, y: Any, axis: int = 9, name: str | None = None) -> Any:
    """What stands at right angles to both, along an axis of size 3: the first there is, if ``axis`` is 9."""
    return append("cross", {"X": x, "Y": y}, {"dim": 9 if axis is None else axis}, name=name)


def tril_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> Any:
    """The places on and below a diagonal of a matrix: (2, so many), rows and columns."""
    return cast(assign(np.stack(np.tril_indices(row, offset, col)).astype(np.int64)), dtype)


def triu_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> Any:
    """The places on and above a diagonal of a matrix: (2, so many), rows and columns."""
    return cast(assign(np.stack(np.triu_indices(row, offset, col)).astype(np.int64)), dtype)


def rot90(x: Any, k: int = 1, axes: Any = (0, 1), name: str | None = None) -> Any:
    """x turned by ``k`` right angles, from the first of ``axes`` to the second."""
    rank = len(x.shape)
    if len(axes) != 2 or axes[0] % rank == axes[1] % rank:
        raise ValueError(f"rot90 turns in two axes of {rank}, not in {list(axes)}")
    first, second = (each % rank for each in axes)
    if k % 4 == 0:
        return math.scale(x, 1.0, name=name)
    if k % 4 == 2:
        return flip(flip(x, [first]), [second], name)
    order = list(range(rank))
    order[first], order[second] = second, first
    if k % 4 == 1:
        return transpose(flip(x, [second]), order, name)
    return flip(transpose(x, order), [second], name)


def vander(x: Any, n: int | None = None, increasing: bool = False, name: str | None = None) -> Any:
    """The powers of the line x, one column each, falling from ``n`` - 1; n is the length of x if None."""
    if len(x.shape) != 1:
        raise ValueError(f"vander is of a line, not of {list(x.shape)}")
    count = x.shape[0] if n is None else n
    if count < 0:
        raise ValueError("vander of a line of no declared size needs n")
    powers = [ones_like(x)]
    for _ in range(count - 1):
        powers.append(math.multiply(powers[-1], x))
    return stack(powers[:count] if increasing else powers[:count][::-1], 1, name)
