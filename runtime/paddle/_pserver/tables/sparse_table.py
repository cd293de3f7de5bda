"""Sparse table: what a shard asks of whatever keeps its rows of one, packed (packed_table.py) or hashed
(hash_table.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from paddle._pserver.protocol.placement import RowRange
from paddle._pserver.tables.cut_room import CutRoom
from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.streamed import Array


class SparseTable(Protocol):
    """One sparse table's share of a shard."""

    held: RowRange

    @property
    def name(self) -> str:
        """The parameter's."""
        ...

    @property
    def rows(self) -> int:
        """How many rows there are."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes of these and their state."""
        ...

    def check(self, ids: np.ndarray) -> None:
        """Whether all ``ids`` int64 (n,) are rows that live here; raises BadMessage."""
        ...

    def gather(self, ids: np.ndarray) -> np.ndarray:
        """A copy of rows ``ids``, which have been checked, float32 (n, width)."""
        ...

    def peek(self, ids: np.ndarray) -> np.ndarray:
        """The same for a test: no row is made or counted."""
        ...

    def state(self) -> dict[str, np.ndarray]:
        """See :meth:`paddle._pserver.tables.tables.Tables.state`; by kind."""
        ...

    def cut(self, room: CutRoom, worth_bytes: int) -> dict[str, Array]:
        """See :meth:`paddle._pserver.tables.tables.Tables.cut`; by kind. ``room``: the cut's."""
        ...

    def restore(self, state: Mapping[str, Array], step: int) -> None:
        """See :meth:`paddle._pserver.tables.tables.Tables.restore`."""
        ...

    def begin_after(self, steps: int) -> None:
        """Go on as if so many steps had been taken; to be called on a new table."""
        ...

    def apply(self, parts: Sequence[Rows], scale: np.float32 | None, learning_rate: float, step: int) -> None:
        """Apply the sum of ``parts``, times ``scale``, to the rows they name, which have been checked."""
        ...
