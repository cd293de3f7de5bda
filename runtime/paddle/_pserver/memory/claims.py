"""Claims: what shards of one process share of the memory that it may use.

Nobody knows before trainers come which of them will keep anything. It must never know what is kept.
Guarantee: what all have claimed is within the limit, where each claims no more than was left to it.
"""

from __future__ import annotations


class Claims:
    """Of ``limit_bytes``."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._taken: dict[str, int] = {}

    def left_bytes(self, owner: str) -> int:
        """What the others have left to ``owner``, who begins anew."""
        return self._limit_bytes - sum(taken for name, taken in self._taken.items() if name != owner)

    def take(self, owner: str, nbytes: int) -> None:
        """``owner`` may come to need so much."""
        self._taken[owner] = nbytes
