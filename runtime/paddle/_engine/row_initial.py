"""How a row that is made when first asked for gets its first values.

The counterpart of initial.py for tables without a declared height: there an array is filled from a generator
in order, here every row follows from its id. Plain data, so that it can be declared. It must never know a
table.

Guarantee: the values of a row depend on the seed, the table's name and the id, not on which rows were made
before nor on the number of shards.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import isfinite
from statistics import NormalDist
from typing import Literal

import numpy as np

from paddle._engine.errors import UnknownName

Kind = Literal["constant", "uniform", "normal", "truncated_normal"]
_TWO_DEVIATIONS = NormalDist().cdf(-2.0)


@dataclass(frozen=True, slots=True)
class RowInitial:
    """A distribution by name. ``one`` and ``other`` are its two numbers.

    ``constant``: every value is ``one``. ``uniform``: in [``one``, ``other``). ``normal``: mean ``one``,
    standard deviation ``other``. ``truncated_normal``: the same, within two deviations of the mean.
    (PaddlePaddle's fill_constant, uniform_random, gaussian_random and truncated_gaussian_random.)
    """

    kind: Kind = "constant"
    one: float = 0.0
    other: float = 0.0

    def __post_init__(self) -> None:
        if not (isfinite(self.one) and isfinite(self.other)):
            raise ValueError(f"rows cannot begin with numbers like {self.one} and {self.other}")

    def fill(self, key: int, ids: np.ndarray, out: np.ndarray) -> None:
        """Fill ``out`` float32 (n, width), C-contiguous, with the first values of rows ``ids`` int64 (n,)."""
        if self.kind == "constant":
            out.fill(self.one)
            return
        from paddle._engine.kernels import first_values  # numba is loaded only where rows are made

        if self.kind == "uniform":
            span = np.float32(self.other) - np.float32(self.one)
            first_values.uniform(np.uint64(key), ids, np.float32(self.one), span, out)
        elif self.kind in ("normal", "truncated_normal"):
            tail = _TWO_DEVIATIONS if self.kind == "truncated_normal" else 0.0
            first_values.normal(np.uint64(key), ids, float(self.one), float(self.other), tail, out)
        else:
            raise UnknownName(f"rows cannot be initialized by {self.kind!r}")


def row_key(seed: int, name: str) -> int:
    """The key of one table's rows, 64 bits: it follows from the seed and the table's name."""
    salt = (seed % 2**64).to_bytes(8, "little")
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8, salt=salt).digest(), "little")
