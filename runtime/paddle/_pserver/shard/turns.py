"""Turns: trainers in step bring their gradients one after another, where the memory for these is bounded.

A step adds up gradients in the order of trainers. Who comes before its turn has its gradient lie here until
those before it have come: of many trainers nearly as many gradients. So each announces its own
(announcing.py), and brings it when it is told to:

1.  The first, in the order of trainers, of those in the pass that have not pushed has its turn. It is told to
    bring its gradient whatever else there is, so that nobody waits for ever.
2.  Others are told to as long as no more than ``most`` have come, or are about to, before their turn.
3.  What nobody can come before any more is added up at once, so that one gradient is left of it.
4.  Whoever pushes without a word, as a process of an earlier version, is not refused.

So there are at most ``most`` gradients and two: the sum so far and the one whose turn it is. It must never
know a value. Guarantee: what is added up, and in which order, is as without turns.
"""

from __future__ import annotations

import msgspec

from paddle._pserver.protocol.announcing import Announce, Bring
from paddle._pserver.shard.barrier import Barrier
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.modes import Sync
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.roster import Roster
from paddle._pserver.tables.tables import Tables


class Turns:
    """See the module's text."""

    def __init__(
        self,
        most: int,
        mode: Sync,
        tables: Tables,
        *,
        clocks: Clocks,
        roster: Roster,
        barrier: Barrier,
        outbox: Outbox,
    ) -> None:
        self._most, self._mode, self._tables = most, mode, tables
        self._clocks, self._roster, self._barrier, self._outbox = clocks, roster, barrier, outbox
        self._coming: dict[int, int] = {}  # who was told to bring a gradient, and on which connection

    def came(self, id: int) -> None:
        """A trainer has pushed."""
        self._coming.pop(id, None)

    def fold(self) -> None:
        """Rule 3."""
        offers, turn = self._mode.offers, self._turn
        done = [offers[id] for id in sorted(offers) if turn is None or id < turn]
        if len(done) > 1:
            folded = self._tables.fold([offer.gradient for offer in done])
            for offer, gradient in zip(done, folded, strict=True):
                offers[offer.trainer] = msgspec.structs.replace(offer, gradient=gradient)

    def call(self) -> None:
        """Tell those to bring theirs who may: rules 1 and 2."""
        announced = [
            id
            for id, announce in self._barrier.questions(Announce)
            if announce.step > self._clocks.pushes[id]  # else its push is here, and that is to be answered
        ]
        if not announced:
            return
        turn, early = self._turn, self._early
        for id in sorted(announced):
            if id == turn or len(early) < self._most:
                self._coming[id] = self._session(id)
                early |= {id} - {turn}
                self._outbox.tell(id, Bring())

    @property
    def _turn(self) -> int | None:
        """Whose it is; None where all have come."""
        return min(self._roster.present - self._mode.offers.keys(), default=None)

    @property
    def _early(self) -> set[int]:
        """Of whom there is a gradient in memory of this side before its turn, or is about to be."""
        turn = self._turn
        self._coming = {id: session for id, session in self._coming.items() if session == self._session(id)}
        here = {id for id, offer in self._mode.offers.items() if offer.gradient.is_ours}
        return {id for id in here | self._coming.keys() if turn is not None and id > turn}

    def _session(self, id: int) -> int:
        session = self._roster.trainers[id].session
        return -1 if session is None else session
