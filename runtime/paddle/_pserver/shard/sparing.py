"""Sparing: whom a job goes on without, where ``min_trainers`` lets it.

A trainer that would break the job, because it is missing when patience ends or says that it failed, is left
out instead while ``min_trainers`` others are connected. It owes nothing any more, and cannot come back. Where
snapshots are kept one is made of that: a shard that starts anew from an older one would wait for it again.
One of which it is told that it has ended for good is left out as soon as so many others are connected.

It must never know why a trainer is missing. Guarantee: with ``min_trainers`` 0 nobody is left out; a step
counts what was pushed, so that a trainer's last push may count in some shards and not in others.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from paddle._pserver.errors import TrainerLost
from paddle._pserver.protocol.messages import failure
from paddle._pserver.shard.barrier import Barrier
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.roster import Roster, Standing
from paddle._pserver.shard.saving import Cause, Saving


class Sparing:
    """See the module's text."""

    def __init__(
        self,
        min_trainers: int,
        clocks: Clocks,
        roster: Roster,
        barrier: Barrier,
        outbox: Outbox,
        saving: Saving,
    ) -> None:
        self._min_trainers, self._saving = min_trainers, saving
        self._clocks, self._roster, self._barrier, self._outbox = clocks, roster, barrier, outbox
        self._fallen: dict[int, str] = {}  # who has ended for good -> how

    def hear(self, id: int, how: str) -> None:
        """A trainer has ended for good."""
        self._fallen[id] = how

    def due(self) -> dict[int, str]:
        """Of those that have ended for good, whom the job can go on without now, and how each ended."""
        if not self._fallen:
            return {}
        found = {id: how for id, how in self._fallen.items() if not self._roster.trainers[id].has_left}
        return found if self.can_spare([*found]) else {}

    def can_spare(self, ids: Sequence[int]) -> bool:
        """Whether the job goes on without these."""
        rest = set(self._roster.ids(Standing.JOINED)) - set(ids)
        return bool(self._min_trainers) and len(rest) >= self._min_trainers

    def leave_out(self, ids: Sequence[int], why: str, now: float) -> None:
        """They are not in the job any more."""
        names = self._roster.describe_all(ids, now)
        text = f"goes on without {names}, as min_trainers={self._min_trainers} allows: {why}"
        self._outbox.note(text, logging.WARNING)
        for id in ids:
            trainer = self._roster.trainers[id]
            self._clocks.unsettled[id] = 0
            self._barrier.remove(id)
            if trainer.session is not None:
                # Else it would take half of an old step and half of a new one for values.
                self._outbox.drop(trainer.session)
                self._outbox.send(trainer.session, failure(TrainerLost(text)))
                self._outbox.close(trainer.session)
            self._roster.leave_out(trainer, now)
        self._saving.ask(Cause("left_out", f"the job goes on without {names}"), lambda _: None)
