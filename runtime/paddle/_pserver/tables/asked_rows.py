"""AskedRows: where the rows are that trainers asked for last, so that they are not looked for again when
their gradients come: a batch's gradient is of the rows that its trainer has asked for.

It must never know who asks, nor what a row holds. What rows are numbered anew is the caller's to tell
(``clear``). Guarantee: what is found is where it was noted, and rows of one id are summed in order of
occurrence.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.summed_rows import summed

FEWEST = 256
"""Fewer ids are found sooner than they are compared."""
_MOST = 32  # lists of ids: as many trainers may have asked and not pushed yet
_MOST_IDS = 1 << 19  # in all lists: 8 MiB


class Brought(NamedTuple):
    """What pushes bring: ``ids`` int64 (n,) each once, and the ``gradient`` float32 (n, width) of each.
    ``rows``: where they are, if that is known of all; then these stand for the ids, too."""

    ids: np.ndarray
    rows: np.ndarray | None
    gradient: np.ndarray


class AskedRows:
    """See the module's text."""

    def __init__(self) -> None:
        self._lists: deque[tuple[np.ndarray, np.ndarray]] = deque()

    def note(self, ids: np.ndarray, rows: np.ndarray) -> None:
        """``ids`` int64 (n,) have these ``rows`` int64 (n,), an array that nobody changes; each has one.
        Those that do not ascend are not noted: each may not be there once."""
        if len(ids) < FEWEST or not (ids[1:] > ids[:-1]).all():
            return
        self._lists.append((ids.copy(), rows))
        while len(self._lists) > _MOST or sum([len(known) for known, _ in self._lists]) > _MOST_IDS:
            self._lists.popleft()

    def summed(self, parts: Sequence[Rows]) -> Brought:
        """The sum of ``parts``. What is known of them is not, afterwards."""
        taken = [self._taken(part.ids) for part in parts]
        known = [Rows(rows, part.values) for rows, part in zip(taken, parts, strict=True) if rows is not None]
        if len(known) < len(parts):
            ids, gradient = summed(parts)
            return Brought(ids, None, gradient)
        rows, gradient = summed(known) if len(known) > 1 else (known[0].ids, known[0].values)
        return Brought(rows, rows, gradient)

    def _taken(self, ids: np.ndarray) -> np.ndarray | None:
        for place, (known, rows) in enumerate(self._lists):
            if len(known) == len(ids) and known[0] == ids[0] and np.array_equal(known, ids):
                del self._lists[place]
                return rows
        return None

    def clear(self) -> None:
        """Know none any more."""
        self._lists.clear()
