"""Streamed: an array that comes in pieces, so that it need not lie in memory as a whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Streamed:
    """See the module's text. ``pieces``: its values, in order; they may be asked for more than once."""

    dtype: np.dtype
    shape: tuple[int, ...]
    pieces: Callable[[], Iterator[np.ndarray]]

    @property
    def nbytes(self) -> int:
        """Of all of it."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize


Array = np.ndarray | Streamed


def pieces(array: Array) -> Iterator[np.ndarray]:
    """The pieces of an array, or the array as one."""
    return array.pieces() if isinstance(array, Streamed) else iter([array])


def whole(array: Array) -> np.ndarray:
    """The array, or all its pieces in one."""
    if not isinstance(array, Streamed):
        return array
    found = np.empty(array.shape, array.dtype)
    pour(array, found)
    return found


def pour(array: Array, into: np.ndarray) -> None:
    """Write the array, or its pieces, into one of its size, C-contiguous. Raises ValueError where they are
    more or fewer."""
    flat, end = into.reshape(-1), 0
    for piece in pieces(array):
        begin, end = end, end + piece.size
        flat[begin:end] = piece.reshape(-1)
    if end != flat.size:
        raise ValueError(f"{end} values came, and {flat.size} should have")
