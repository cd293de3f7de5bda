"""Which ids deserve a row: the entry policy of a table without a declared height. Plain data.

It must never know a table. Guarantee: an id enters with the same sighting on every run, whatever the order of
ids and the number of shards.

Semantics: PaddlePaddle 2.0's CountFilterEntry and ProbabilityEntry. Every time that a pull for training
names an id is a sighting. Until an id has entered, pulls answer zeros and its gradients are ignored. One that
enters with its first sighting is there at once; one that enters later is shown from the next step on: else
what a trainer sees in a step that all take together would depend on who came first. There a draw decides at
each sighting of an id, which lets it in with 1 - p; here it is p, as documented, and the sighting that lets
an id in follows from the id.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p
from typing import Literal

import numpy as np

_MOST = 1 << 31
_ENTRY = 0x454E545259  # keeps this draw apart from those of the row's values


@dataclass(frozen=True, slots=True)
class Entry:
    """``always``; ``count``: with sighting ``number``; ``probability``: with each one so probably."""

    kind: Literal["always", "count", "probability"] = "always"
    number: float = 1

    def __post_init__(self) -> None:
        if self.kind == "count" and not (0 <= self.number < _MOST and self.number == int(self.number)):
            raise ValueError(f"a row enters after a whole number of sightings, and not {self.number}")
        if self.kind == "probability" and not 0 < self.number < 1:
            raise ValueError(f"a row enters with a probability between 0 and 1, and not {self.number}")

    def needed(self, key: int, ids: np.ndarray) -> np.ndarray:
        """With which sighting each of ``ids`` enters, int64. ``key``: the table's, see row_key."""
        if self.kind != "probability":
            return np.full(len(ids), self.number if self.kind == "count" else 1, np.int64)
        from paddle._engine.kernels import first_values  # numba is loaded only where rows are made

        draw = np.empty((len(ids), 1), np.float32)
        first_values.uniform(np.uint64(key ^ _ENTRY), ids, np.float32(0), np.float32(1), draw)
        tries = np.log1p(-draw[:, 0].astype(np.float64)) / log1p(-self.number)
        return 1 + np.minimum(tries, _MOST).astype(np.int64)
