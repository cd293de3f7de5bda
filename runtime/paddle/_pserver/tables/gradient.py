"""Gradient: what one push brings to one shard, as arrays.

It must never know who sent it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True, slots=True)
class Rows:
    """Gradient rows of one table: ``ids`` int64 (n,) in the whole table, ``values`` float32 (n, width)."""

    ids: np.ndarray
    values: np.ndarray


class Gradient(NamedTuple):
    """What one push brings to one shard.

    ``dense``: per segment of the layout a flat float32 array, which folding with others may overwrite where
    it is writable.
    ``rows``: per table its rows.
    """

    dense: Sequence[np.ndarray] = ()
    rows: Sequence[Rows] = ()


NOTHING = Gradient()
