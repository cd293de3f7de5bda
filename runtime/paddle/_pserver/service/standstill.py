"""Standstill: what trainers ask waits while a shard's state is read where it lies.

A state for whose copy there is no memory is read as it is, and what changes it has to wait for that: it is
dealt with when the last piece was read, in the order in which it came. Until then everybody who waits for an
answer of this shard hears from time to time what for. All else goes on: who comes, fails or says goodbye is
heard, and so is whoever comes to look.

It must never know a value. Guarantee: what a trainer asked is dealt with once, or its connection is gone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from paddle._pserver.errors import BadMessage
from paddle._pserver.protocol.messages import (
    CountChanges,
    EndPass,
    Export,
    Pull,
    PullChanges,
    PullRows,
    Push,
    Recall,
)
from paddle._pserver.service.session import Session
from paddle._pserver.shard.inlet import Inbound
from paddle._pserver.shard.saving import WORD_S
from paddle._pserver.tables.cut_room import CutRoom

_CHANGING = (Push, PullRows, Pull, EndPass, Export, Recall, CountChanges, PullChanges)
WORD = (
    "writing its state to a snapshot, and takes no step meanwhile: there is no memory for a copy "
    "(--memory_limit, --snapshot_memory)"
)


class Standstill:
    """See the module's text. ``deal``: with what was asked on a session. ``room``: of the state that is being
    read, if there is one. ``stood_s``: for how long somebody waited for the last one."""

    def __init__(self, deal: Callable[[Session, Inbound], None]) -> None:
        self.room: CutRoom | None = None
        self._deal = deal
        self._held: dict[Session, Inbound] = {}
        self._word_at = self._since = self.stood_s = 0.0

    @property
    def is_needed(self) -> bool:
        """Whether the shard should stand still now."""
        return self.room is not None and (bool(self._held) or self.room.must_stand)

    def begin(self, room: CutRoom | None) -> None:
        """A state is being read. ``room``: what it takes of memory; None where all of it is there."""
        self.room, self.stood_s = room, 0.0

    def holds(self, session: Session, inbound: Inbound) -> bool:
        """Whether what is asked is dealt with later."""
        if not self.is_needed or not isinstance(inbound.message, _CHANGING):
            return False
        if session in self._held:
            raise BadMessage(f"{type(inbound.message).__name__} came before the last question was answered")
        if not self._held:
            self._since = time.monotonic()
        self._held[session] = inbound
        return True

    def lost(self, session: Session) -> None:
        """A connection is gone."""
        self._held.pop(session, None)

    def waiting(self, others: Iterable[Session], now: float) -> list[Session]:
        """Where somebody is to be told that it waits: ``others``, for whom the shard has no answer yet, too.
        Call about once a second."""
        if self.is_needed and now - self._word_at < WORD_S:
            return []
        self._word_at = now
        return [*self._held, *others] if self.is_needed else []

    def end(self) -> None:
        """All of it was read, or nobody reads it any more."""
        held, self._held, self.room = self._held, {}, None
        if held:
            self.stood_s = time.monotonic() - self._since
        for session, inbound in held.items():
            self._deal(session, inbound)
