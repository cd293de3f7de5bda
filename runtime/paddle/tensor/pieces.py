"""Pieces of tensors: ``paddle.take``, ``paddle.unfold``, ``paddle.as_strided``, ``paddle.vsplit`` and others.

They must never compute: each function appends operators to the default program. Guarantee: where an element
stands is said by the sizes that are declared, but for ``take`` by those of the feed.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations as chosen
from itertools import combinations_with_replacement as chosen_again
from typing import Any

import numpy as np

from paddle.tensor import math
from paddle.tensor.creation import assign, zeros_like
from paddle.tensor.logic import less_than
from paddle.tensor.manipulation import cast, flatten, gather, reshape, split, transpose, unsqueeze
from paddle.tensor.search import where
from paddle.tensor.stat import numel

__all__ = ["as_strided", "cdist", "combinations", "take", "unfold", "vsplit"]


def take(x: Any, index: Any, mode: str = "raise", name: str | None = None) -> Any:
    """The elements of all of x, in their order, that ``index`` names, in the shape of ``index``.

    Of places that there are not: ``mode`` "raise" refuses them, "wrap" goes round, "clip" takes the nearest.
    """
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"'mode' in 'take' should be 'raise', 'wrap', 'clip', but received {mode}.")
    line, places = (flatten(each) if len(each.shape) > 1 else each for each in (x, index))
    nothing = zeros_like(places)
    size = math.add(nothing, cast(numel(x), places.dtype))
    if mode == "wrap":
        places = math.mod(places, size)
    elif mode == "clip":
        places = math.minimum(math.maximum(places, nothing), math.scale(size, bias=-1.0))
    else:
        places = where(less_than(places, nothing), math.add(places, size), places)
    found = gather(line, places, 0)
    return (
        found
        if len(index.shape) == 1
        else reshape(found, [-1 if at == 0 else size for at, size in enumerate(index.shape)], name)
    )


def _known(x: Any, function: str) -> int:
    if any(size < 0 for size in x.shape):
        raise ValueError(f"paddle.{function} counts in {x.name!r}, of which {list(x.shape)} is declared")
    return int(np.prod(x.shape))


def as_strided(
    x: Any, shape: Sequence[int], stride: Sequence[int], offset: int = 0, name: str | None = None
) -> Any:
    """A tensor of ``shape`` of which an element lies ``stride`` elements of x behind the one before it, the
    first at ``offset``."""
    size = _known(x, "as_strided")
    places = np.full(tuple(shape), offset, np.int64)
    for axis, step in enumerate(stride):
        line = [-1 if at == axis else 1 for at in range(len(shape))]
        places = places + np.arange(shape[axis]).reshape(line) * step
    if places.size and (places.min() < 0 or places.max() >= size):
        raise ValueError(f"as_strided goes from {places.min()} to {places.max()} in {size} elements")
    line = flatten(x) if len(x.shape) > 1 else x
    return reshape(gather(line, assign(places.reshape(-1)), 0), list(shape), name)


def unfold(x: Any, axis: int, size: int, step: int, name: str | None = None) -> Any:
    """All slices of ``size`` along ``axis``, one each ``step``: they lie along it, their elements along a new
    last axis. The axis has a declared size."""
    axis %= len(x.shape)
    length = x.shape[axis]
    if length < size:
        raise ValueError(f"slices of {size} are not in an axis of {length}")
    count = (length - size) // step + 1
    places = np.arange(count)[:, None] * step + np.arange(size)
    found = gather(x, assign(places.reshape(-1).astype(np.int64)), axis)
    sizes = [0] * axis + [count, size] + [*x.shape[axis + 1 :]]
    apart = reshape(found, sizes)
    rest = [at for at in range(len(sizes)) if at != axis + 1]
    return transpose(apart, [*rest, axis + 1], name) if axis + 1 != len(sizes) - 1 else apart


def vsplit(x: Any, num_or_sections: Any, name: str | None = None) -> Any:
    """x in parts along its first axis, of which it has two at least."""
    if len(x.shape) < 2:
        raise ValueError(f"vsplit is of two axes at least, not of {list(x.shape)}")
    return split(x, num_or_sections, 0, name)


def combinations(x: Any, r: int = 2, with_replacement: bool = False, name: str | None = None) -> Any:
    """All choices of ``r`` of the line x, one a row, in their order."""
    if len(x.shape) != 1 or x.shape[0] < 0:
        raise ValueError(f"combinations are of a line of a declared size, not of {list(x.shape)}")
    if r < 0:
        raise ValueError(f"Expected a non-negative number, but got r={r}")
    every = (chosen_again if with_replacement else chosen)(range(x.shape[0]), r)
    places = np.array([*every], np.int64).reshape(-1, r)
    return reshape(gather(x, assign(places.reshape(-1)), 0), [len(places), r], name)


def cdist(
    x: Any,
    y: Any,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
    name: str | None = None,
) -> Any:
    """The ``p``-norm of each row of x less each of y: (..., rows of x, rows of y)."""
    from paddle.tensor.linalg import norm

    apart = math.subtract(unsqueeze(x, len(x.shape) - 1), unsqueeze(y, len(y.shape) - 2))
    if p == 0:
        from paddle.tensor.tallies import count_nonzero

        return math.scale(count_nonzero(apart, -1).astype("float32"), 1.0, name=name)
    if p == float("inf"):
        return math.max(math.abs(apart), -1)
    return norm(apart, p, -1)
