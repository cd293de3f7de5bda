"""Live: arrays of a cut that nobody has copied, read where they lie while their shard stands still.

1.  Nothing is copied when it is made, and pieces are copies: what one holds does not change.
2.  Before the arrays change, whoever changes them says so. Whatever was not read by then is lost, and the cut
    with it (cut_room.py); they change all the same.

It must never know a table, or who reads. It lasts as long as somebody has it who reads, as Frozen does.
Guarantee: a piece is, bit for bit, what was there when this was made, or there is none. Memory: a piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from paddle._pserver.tables.cut_room import CutRoom
from paddle._pserver.tables.frozen import portions
from paddle._pserver.tables.readers import Readers
from paddle._pserver.tables.streamed import Array, Streamed

_WHY = "values changed before they were written, and there was no room for a copy of them (--snapshot_memory)"


class Live:
    """See the module's text. ``room``: the cut's."""

    def __init__(self, room: CutRoom) -> None:
        self._room = room

    def spoil(self) -> None:
        """The arrays are about to change."""
        self._room.fail(_WHY)

    def streamed(self, arrays: Mapping[str, np.ndarray]) -> dict[str, Array]:
        """``arrays``, C-contiguous, to be read in pieces. Each raises OSError (rule 2)."""
        return {name: self._one(array) for name, array in arrays.items()}

    def _one(self, array: np.ndarray) -> Streamed:
        flat = array.reshape(-1)

        def pieces() -> Iterator[np.ndarray]:
            for part in portions(len(flat), flat[:0]):
                self._room.check()
                yield flat[part].copy()

        return Streamed(array.dtype, array.shape, pieces)


class Lives(Readers[Live]):
    """Those whose arrays these are."""

    def spoil(self) -> None:
        """They are about to change."""
        for live in self.now():
            live.spoil()
