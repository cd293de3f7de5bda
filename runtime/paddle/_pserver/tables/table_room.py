"""Table room: how many bytes the open tables of one shard may come to need, all together.

It must never know what a table keeps. Guarantee: what would not fit is refused before it is made, with an
error that names the table.
"""

from __future__ import annotations

from paddle._pserver.errors import TableFull
from paddle._pserver.options import in_mib


class TableRoom:
    """See the module's text."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._taken: dict[tuple[str, str], int] = {}

    @property
    def left_bytes(self) -> int:
        """What no table has taken."""
        return self.limit_bytes - sum(self._taken.values())

    def take(self, table: str, size_bytes: int, what: str = "for rows that were just asked for") -> None:
        """From now on ``table`` has so many bytes for this. Raises TableFull."""
        place = table, what
        others = sum(taken for other, taken in self._taken.items() if other != place)
        if others + size_bytes > self.limit_bytes and size_bytes > self._taken.get(place, 0):
            raise TableFull(
                f"table {table!r} would need {in_mib(size_bytes, up=True)} on this shard {what}; open tables "
                f"have {in_mib(others)} besides, and all of them may have {in_mib(self.limit_bytes)}: use "
                "more pservers (`paddle reshard` cuts snapshots for them); where trainers send gradients the "
                "table may also forget rows (shrink), or let fewer ids in (its entry policy)"
            )
        self._taken[place] = size_bytes
