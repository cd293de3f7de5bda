"""Sieve: which of a batch's rows live on which shard, found for all shards at once.

Each shard could look for its own; then a trainer of a hundred shards would look through its rows a hundred
times. It must never know a connection.

Guarantee: a shard's positions are those that its RowRange picks, ascending.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from paddle._pserver.protocol.placement import RowRange

_SHORT = 1 << 16  # numbers below it are sorted by their bits


class Sieve:
    """``ids``: of each table, int64, in any order."""

    def __init__(self, ids: Mapping[str, np.ndarray]) -> None:
        self.ids = ids
        self._sorted: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    def positions(self, held: RowRange) -> np.ndarray | slice:
        """Of the ids of the table that a shard holds a part of, those that live there."""
        if held.stride == 1:
            return slice(None)
        order, ends = self._sort(held)
        return order[ends[held.first] : ends[held.first + 1]]

    def _sort(self, held: RowRange) -> tuple[np.ndarray, np.ndarray]:
        """All positions, shard after shard, and where those of each begin."""
        name, shards = held.parameter.name, held.stride
        if name not in self._sorted:
            shard = self.ids[name] % shards
            order = np.argsort(shard.astype(np.uint16) if shards <= _SHORT else shard, kind="stable")
            self._sorted[name] = order, np.append(0, np.bincount(shard, minlength=shards).cumsum())
        return self._sorted[name]
