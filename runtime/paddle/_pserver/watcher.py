"""Watcher: whoever started pservers hears here how their job fares. Names only; small to import.

It must never know what becomes of what it is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Watcher(Protocol):
    """It is called in the process of each shard, or for one that died in that of their parent."""

    def joined(self) -> None:
        """The first trainer has come to a shard."""

    def waiting(self, trainers: Sequence[int], seconds: float) -> None:
        """Others wait for these trainers since so long; told every second while they do."""

    def barred(
        self, shard: str, ever: Sequence[int], until_pass_ends: Sequence[int], left: Sequence[int]
    ) -> bool:
        """These trainers are gone, and no other process can take their place in the shard: ever, before the
        pass ends, or because they have said goodbye. Told of all, by every process of the shard first of all
        and whenever they are others; again while there are any, or ``False`` said that it was not heard."""

    def broken(
        self, shard: str, reason: str, trainers: Sequence[int], *, is_own: bool, other: str = ""
    ) -> None:
        """A shard's job broke: by what these trainers did, or did not do; by the shard's own doing; or by
        that of another process of the job, by its name."""

    def restarted(self, shard: str, how: str) -> None:
        """A shard's process was killed and is started again; ``how`` it ended."""


class Unwatched:
    """Nobody listens."""

    def joined(self) -> None:
        """See :class:`Watcher`."""

    def waiting(self, trainers: Sequence[int], seconds: float) -> None:
        """See :class:`Watcher`."""

    def barred(
        self, shard: str, ever: Sequence[int], until_pass_ends: Sequence[int], left: Sequence[int]
    ) -> bool:
        """See :class:`Watcher`."""
        return True

    def broken(
        self, shard: str, reason: str, trainers: Sequence[int], *, is_own: bool, other: str = ""
    ) -> None:
        """See :class:`Watcher`."""

    def restarted(self, shard: str, how: str) -> None:
        """See :class:`Watcher`."""
