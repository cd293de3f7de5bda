"""OpenRows: what a batch uses of an open table: its ids each once, and their rows, packed.

A table without a declared height is no array. So a plan has one of its own, with a row for each id that a
batch can bring, and lookups are bound to places in it instead of ids. It must never know where rows come
from.

Guarantee: the arrays stay the same ones from batch to batch.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class OpenRows:
    """See the module's text. ``values``: float32, as many rows as there are numbers in all ``ids``, the int64
    arrays that lookups are fed."""

    def __init__(self, values: np.ndarray, ids: Sequence[np.ndarray]) -> None:
        self._values, self._ids = values, ids
        ends = np.cumsum([0, *(part.size for part in ids)]).tolist()
        size = ends[-1]
        self._flat, self._found = np.empty(size, np.int64), np.empty(size, np.int64)
        self._places = np.empty(size, np.int64)
        spans = zip(ends, ends[1:], ids, strict=False)
        self.places = [self._places[start:end].reshape(part.shape) for start, end, part in spans]

    def distinct(self) -> np.ndarray:
        """Each id of the batch once, ascending, as their gradients will be; ``places`` say from now on which
        of them each is."""
        from paddle._engine.kernels.ordering import placed  # numba is loaded only where it is needed

        if not len(self._flat):
            return self._found
        np.concatenate([part.reshape(-1) for part in self._ids], out=self._flat)
        return self._found[: placed(self._flat, self._places, self._found)]

    def take(self, rows: np.ndarray) -> None:
        """The rows of these ids, in their order: their last columns, where they have more than are used."""
        self._values[: len(rows)] = rows[:, rows.shape[1] - self._values.shape[1] :]
