"""Table room: how many bytes the open tables of one shard may come to need, all together.

It must never know what a table keeps. Guarantee: what would not fit is refused before it is made, with an
error that names the table.
"""

from __future__ import annotations

from paddle._pserver.errors import TableFull


class TableRoom:
    """See the module's text."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._taken: dict[str, int] = {}

    @property
    def left_bytes(self) -> int:
        """What no table has taken."""
        return self.limit_bytes - sum(self._taken.values())

    def take(self, table: str, size_bytes: int) -> None:
        """From now on ``table`` has so many bytes. Raises TableFull."""
        others = sum(taken for name, taken in self._taken.items() if name != table)
        if others + size_bytes > self.limit_bytes and size_bytes > self._taken.get(table, 0):
            raise TableFull(
                f"table {table!r} would need {size_bytes >> 20} MiB on this shard for rows that were just "
                f"asked for; other open tables have {others >> 20} MiB, and all of them may have "
                f"{self.limit_bytes >> 20} MiB: use more pservers, have the table forget rows (shrink), or "
                "let fewer ids in (its entry policy)"
            )
        self._taken[table] = size_bytes
