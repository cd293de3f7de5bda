"""Turns: trainers in step bring their gradients one after another, where the memory for these is bounded.

A step adds up gradients in the order of trainers. Who comes before its turn has its gradient lie here until
those before it have come: of many trainers nearly as many gradients. So each announces its own
(announcing.py), and brings it when it is told to:

1.  The first, in the order of trainers, of those in the pass that have not pushed has its turn. It is told to
    bring its gradient whatever else there is, so that nobody waits for ever.
2.  Others are told to as long as no more than ``most`` have come, or are about to, before their turn.
3.  What nobody can come before any more is added up at once, so that one gradient is left of it: the sum.
4.  The gradient whose turn it is, is added to the sum while it comes (adding.py). Its trainer may lose its
    connection meanwhile, and brings it again. Where it does not, because it is left out or another process
    has its place, that sum is void: those that are in it are told to bring theirs again, which they keep
    until they are answered. One that has left is not in that step then. Whose place others have again and
    again is waited for no longer from the second time on than one that is told once (barrier.py).
5.  Whoever pushes without a word, as a process of an earlier version, is not refused.

So there are at most ``most`` gradients and the sum; and one more where gradients are decoded, or a shard has
tables, too. It must never know a value. Guarantee: what is added up, and in which order, is as without turns.
"""

from __future__ import annotations

import msgspec

from paddle._pserver.protocol.announcing import Announce, Bring
from paddle._pserver.protocol.messages import Push
from paddle._pserver.shard.adding import Adding
from paddle._pserver.shard.barrier import Barrier
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.modes import Sync
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.roster import Roster
from paddle._pserver.tables.gradient import Gradient
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
        # Who was told to bring a gradient: on which connection, and whether before its turn.
        self._coming: dict[int, tuple[int, bool]] = {}
        self._again: set[int] = set()  # who is to bring one again that was admitted
        self._adding: tuple[int, Adding] | None = None  # whose gradient is being added to the sum

    def adding(self, session: int, step: int) -> Adding | None:
        """What takes the gradient of a push that comes; None where it is to lie in memory of its own."""
        trainer, turn = self._roster.of(session), self._turn
        if trainer is None or trainer.id != turn or not self._is_next(turn, step):
            return None
        if self._adding is None:
            there = [offer.gradient for id, offer in self._mode.offers.items() if id < turn]
            sums = [gradient for gradient in there if gradient.dense]
            if len(sums) != 1 or not sums[0].is_ours:
                return None
            self._adding = turn, Adding(sums[0].dense)
        return self._adding[1] if self._adding[0] == turn else None

    def came(self, id: int, gradient: Gradient, now: float) -> Gradient:
        """A trainer has pushed, for the first time or because it was to do so again; what of that is still to
        be added."""
        self._barrier.go_on(id, now)  # the next one has only now been told to come
        self._coming.pop(id, None)
        self._again.discard(id)
        if self._adding is None or self._adding[0] != id:
            return gradient
        adding, self._adding = self._adding[1], None
        adding.add_rest(gradient.dense)
        return gradient._replace(dense=())

    def wants_again(self, id: int, step: int) -> bool:
        """Whether a push that was admitted is to come again."""
        return id in self._again and step == self._clocks.pushes[id]

    def joined(self, id: int, now: float) -> None:
        """Another process is trainer ``id``."""
        self._again.discard(id)
        if self._adding is not None and self._adding[0] == id:
            self._give_up(now)

    def _give_up(self, now: float) -> None:
        """Rule 4: nobody brings to its end what is being added."""
        assert self._adding is not None
        (gone, adding), self._adding = self._adding, None
        adding.give_up()
        if not adding.has_begun:
            return
        self._barrier.begin_again(gone, now)
        lost = [id for id in self._mode.offers if id < gone]
        for id in lost:
            del self._mode.offers[id]
        self._again.update(id for id in lost if id in self._roster.present)
        again = ", ".join(f"trainer {id}" for id in sorted(self._again))
        whom = f"what was added before is brought again by {again or 'nobody, as all of them have left'}"
        self._outbox.note(f"trainer {gone} has not brought all of its gradient: {whom}")

    def fold(self, now: float) -> None:
        """Rule 3."""
        if self._adding is not None and self._adding[0] not in self._roster.present:
            self._give_up(now)
        self._barrier.left(self._roster.present, now)
        offers, turn = self._mode.offers, self._turn
        done = [offers[id] for id in sorted(offers) if turn is None or id < turn]
        if len(done) > 1:
            folded = self._tables.fold([offer.gradient for offer in done])
            for offer, gradient in zip(done, folded, strict=True):
                offers[offer.trainer] = msgspec.structs.replace(offer, gradient=gradient)

    def call(self, now: float) -> None:
        """Tell those to bring theirs who may: rules 1 and 2."""
        announced = [
            id
            for id, announce in self._barrier.questions(Announce)
            if self._is_wanted(id, announce.step)  # else its push is here, and that is to be answered
        ]
        announced += [id for id, push in self._barrier.questions(Push) if id in self._again]
        if not announced:
            return
        turn, early = self._turn, self._early
        for id in sorted(announced):
            if id == turn or len(early) < self._most:
                self._coming[id] = self._session(id), id != turn
                early |= {id} - {turn}
                self._outbox.tell(id, Bring())
                self._barrier.called(id, now)
            else:
                self._barrier.waits_its_turn(id)

    def _is_next(self, id: int, step: int) -> bool:
        """Whether this push will be in the next step: what is added cannot be refused any more."""
        return step == self._clocks.pushes[id] + 1 or self.wants_again(id, step)

    def _is_wanted(self, id: int, step: int) -> bool:
        return step > self._clocks.pushes[id] or id in self._again

    @property
    def _turn(self) -> int | None:
        """Whose it is; None where all have come."""
        return min(self._roster.present - self._mode.offers.keys(), default=None)

    @property
    def _early(self) -> set[int]:
        """Of whom there is a gradient in memory of this side before its turn, or is about to be."""
        turn = self._turn
        self._coming = {id: told for id, told in self._coming.items() if told[0] == self._session(id)}
        here = {id for id, offer in self._mode.offers.items() if offer.gradient.is_ours}
        on_their_way = {id for id, (_, is_early) in self._coming.items() if is_early}
        return {id for id in here if turn is not None and id > turn} | on_their_way

    def _session(self, id: int) -> int:
        session = self._roster.trainers[id].session
        return -1 if session is None else session
