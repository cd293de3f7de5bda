"""Outbox: what a shard says while it handles one event, in order.

It must never decide what is said, or to whom.

Guarantee: the open question of a trainer ends with the next thing that it is told, unless it is told to go on
waiting; a trainer that is not connected is told nothing.
"""

from __future__ import annotations

import logging

import numpy as np

from paddle._pserver.protocol.messages import Reply, Waiting
from paddle._pserver.shard.barrier import Barrier
from paddle._pserver.shard.effects import Close, Drop, Effect, Note, Send
from paddle._pserver.shard.roster import Roster, Standing


class Outbox:
    """See the module's text. ``live``: the values that are sent may change before all of them is out."""

    def __init__(self, roster: Roster, barrier: Barrier) -> None:
        self.effects: list[Effect] = []
        self.live = False
        self._roster, self._barrier = roster, barrier

    def begin(self) -> None:
        """An event comes: what was said before it has been taken, or is lost with the error that ended it."""
        self.effects = []

    def note(self, text: str, level: int = logging.INFO) -> None:
        """Say something to people."""
        self.effects.append(Note(text, level))

    def note_refusal(self, session: int, error: Exception) -> None:
        """A trainer that was let in is sent away with its model."""
        trainer = self._roster.of(session)
        if trainer is not None:
            others = self._roster.ids(Standing.JOINED, Standing.GONE, Standing.LOST) != [trainer.id]
            then = "" if others else ", and waits for another in its place until it is stopped"
            self.note(f"refuses trainer {trainer.id} at {trainer.peer}{then}: {error}", logging.WARNING)

    def send(self, session: int, message: Reply, body: tuple[np.ndarray, ...] = ()) -> None:
        """Say something on a connection, whoever is there."""
        self.effects.append(Send(session, message, body, live=self.live))

    def tell(self, id: int, message: Reply, body: tuple[np.ndarray, ...] = ()) -> None:
        """Say something to a trainer."""
        if not isinstance(message, Waiting):
            self._barrier.remove(id)
        session = self._roster.trainers[id].session
        if session is not None:
            self.send(session, message, body)

    def drop(self, session: int) -> None:
        """Break off what is not out yet: the values are about to change."""
        self.effects.append(Drop(session))

    def close(self, session: int) -> None:
        """Part, once all that was said is out."""
        self.effects.append(Close(session))
