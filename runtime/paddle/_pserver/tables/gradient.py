"""Gradient: what one push brings to one shard, as arrays.

It must never know who sent it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

MOVED = np.empty(0, np.float32)
"""Stands for the gradient of a parameter that its trainer has changed itself (see Lending)."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Gradient rows of one table: ``ids`` int64 (n,) in the whole table, ``values`` float32 (n, width)."""

    ids: np.ndarray
    values: np.ndarray


class Gradient(NamedTuple):
    """What one push brings to one shard.

    ``dense``: per segment of the layout a flat float32 array, which folding with others may overwrite where
    it is writable; nothing, where it was folded with that of another (tables.fold).
    ``rows``: per table its rows. ``whole``: what ``dense`` are pieces of, where they lie in it as the values
    do in those of the shard.
    """

    dense: Sequence[np.ndarray] = ()
    rows: Sequence[Rows] = ()
    whole: np.ndarray | None = None

    @property
    def is_ours(self) -> bool:
        """Whether ``dense`` is there, in memory that folding may overwrite."""
        return bool(self.dense) and all(part.flags.writeable for part in self.dense)


NOTHING = Gradient()
