"""Loan: what a shard and one of its trainers, of the same machine and user, lend each other in memory.

The trainer tells where its dense gradients lie: a push brings only the word that there is one. The shard
tells where its values lie: an answer brings only the word that they may be read. What is not told goes over
the connection as it does for everybody.

Bodies in memory have no checksum. They go no way on which they could be damaged: both sides have the same
memory, and a checksum would guard it against itself.

It must never know what a push means. Guarantee: a trainer's memory is mapped for reading alone, and nothing
outside of what was mapped is read, whatever the trainer says.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import groupby

import numpy as np

from paddle._pserver.errors import BadMessage
from paddle._pserver.memory import region
from paddle._pserver.memory.region import Region
from paddle._pserver.protocol.messages import Share, Shared
from paddle._pserver.protocol.placement import Slice
from paddle._pserver.tables.tables import Tables


class Loan:
    """See the module's text. ``process``: the trainer's, where it is of this machine and user."""

    def __init__(self, process: int | None = None) -> None:
        self._process = process
        self._lent: np.ndarray | None = None  # what the trainer reads by itself
        self._tables: Tables | None = None  # for which these two are cut
        self._pieces: list[list[np.ndarray]] = []  # of the trainer's memory, per segment
        self._gathered: list[np.ndarray] = []  # ours, for segments of several pieces

    def share(self, share: Share, tables: Tables) -> Shared:
        """A trainer tells where its gradients lie, and whether it can read values."""
        self._lent = self._tables = None
        if self._process is None:
            return Shared()
        if share.gradients is not None:
            self._take(region.find(self._process, share.gradients), share.starts, tables)
        if tables.shown is None or not share.reads:
            return Shared(self._tables is not None)
        self._lent = tables.values
        return Shared(self._tables is not None, tables.shown.lies, os.getpid())

    def covers(self, body: Sequence[np.ndarray]) -> bool:
        """Whether the trainer reads all of ``body`` by itself."""
        return self._lent is not None and len(body) == 1 and body[0] is self._lent

    def has_gradient(self, tables: Tables) -> bool:
        """Whether the trainer's gradients for ``tables`` are in its memory."""
        return self._tables is tables

    def gradient(self) -> list[np.ndarray]:
        """Per segment the gradient: where the trainer has it, or put together from several pieces."""
        return [
            pieces[0] if len(pieces) == 1 else np.concatenate(pieces, out=ours)
            for pieces, ours in zip(self._pieces, self._gathered, strict=True)
        ]

    def _take(self, at: Region | None, starts: Mapping[str, int], tables: Tables) -> None:
        if at is None:
            return
        slices = groupby(tables.layout.slices, key=lambda part: part.name)
        self._pieces = [[_piece(at, starts, part) for part in parts] for _, parts in slices]
        self._gathered = [
            np.empty(segment.size if len(pieces) > 1 else 0, np.float32)
            for segment, pieces in zip(tables.layout.segments, self._pieces, strict=True)
        ]
        self._tables = tables


def _piece(at: Region, starts: Mapping[str, int], part: Slice) -> np.ndarray:
    if part.name not in starts:
        raise BadMessage(f"it was not told where the gradient of {part.name!r} lies")
    first, count = starts[part.name] + 4 * part.start, part.stop - part.start
    if first % 4 or first + 4 * count > at.size_bytes:
        raise BadMessage(f"the gradient of {part.name!r} is said to lie outside of its memory")
    return at.array(np.float32, first, count)
