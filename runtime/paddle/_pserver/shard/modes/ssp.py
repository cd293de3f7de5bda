"""Stale synchronous parallel: a trainer may be ahead of the slowest by ``staleness`` steps, and no more.

A push is applied at once, alone. Its answer is held until every trainer in the pass has pushed at least
``its own pushes - staleness`` times; pushes are counted from the beginning of the pass. Trainers that have
ended their pass hold nobody; one that begins in the midst of a pass is counted as the slowest that is there
(clocks.py).

A trainer counts its pushes itself and tells all shards the same, with every push and when it comes back. What
shards had counted each for itself would differ once one was killed or a process replaced; two trainers that
are each ahead of the other, at different shards, wait for ever.

Guarantee: the values in the answer to a trainer's push number c of a pass hold all pushes of number
c - staleness and less of all trainers in the pass; so a gradient never lacks more than the last ``staleness``
of any other. Nothing is discarded.

late        the others go on until they are ``staleness`` steps ahead of it, and then wait.
lost        the same.
repeated    it is answered once its push would be: the answer is held as the first one was.
replaced    at any time. The new process counts on from the pushes of the old one, as each shard knows them,
            and tells all shards the highest.
"""

from __future__ import annotations

from collections.abc import Set

from paddle._pserver.shard.modes.mode import Due, Mode, Offer


class Ssp(Mode):
    """See the module's text. ``paces``: how often each trainer has pushed in the pass, this push
    included, which the caller counts."""

    def __init__(self, paces: list[int], staleness: int) -> None:
        self._staleness = staleness
        self._paces = paces
        self._held: set[int] = set()
        self._due: Due | None = None

    def offer(self, offer: Offer) -> None:
        """See :class:`Mode`."""
        self._held.add(offer.trainer)
        self._due = Due((offer,), held=True)

    def due(self, present: Set[int]) -> Due | None:
        """See :class:`Mode`."""
        due, self._due = self._due, None
        return due

    def released(self, present: Set[int]) -> list[int]:
        """See :class:`Mode`."""
        if not self._held:
            return []
        # All that are held wait for the slowest: looked up once, since each push of many trainers asks.
        slowest = min((self._paces[id] for id in present), default=None)
        free = sorted(
            id for id in self._held if slowest is None or self._paces[id] - self._staleness <= slowest
        )
        self._held.difference_update(free)
        return free

    def _behind(self, trainer: int, present: Set[int]) -> Set[int]:
        """Those that hold the trainer."""
        enough = self._paces[trainer] - self._staleness
        return {id for id in present if self._paces[id] < enough}

    def holds_again(self, trainer: int, present: Set[int]) -> bool:
        """See :class:`Mode`."""
        if self._behind(trainer, present):  # a restored shard has forgotten that it was
            self._held.add(trainer)
        return trainer in self._held

    def awaited(self, present: Set[int], waiting: Set[int]) -> Set[int]:
        """See :class:`Mode`."""
        behind = {slow for id in self._held for slow in self._behind(id, present)}
        return behind or present - waiting

    def joined(self, trainer: int) -> None:
        """See :class:`Mode`."""
        self._held.discard(trainer)
