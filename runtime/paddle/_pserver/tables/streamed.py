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
    flat = np.concatenate([np.empty(0, array.dtype), *(piece.reshape(-1) for piece in array.pieces())])
    found: np.ndarray = flat.reshape(array.shape)
    return found
