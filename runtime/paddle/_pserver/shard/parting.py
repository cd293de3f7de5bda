"""Parting: when a trainer that says goodbye is let go: once all that it told lasts.

Whoever has gone can tell nothing again, and a shard that starts anew from a snapshot that does not know of
the goodbye waits for that trainer in vain.

1.  Where snapshots are kept one is asked for, and it is answered once that lasts.
2.  One that could not be written is tried again, after ``FIRST_S`` and then later and later, and the trainer
    is told for what it waits. The others do not wait for it meanwhile: it has left the roster.
3.  Once nobody else is in the job, or that is broken, one that could not be written is not tried again; and
    no longer than ``patience_s`` is anybody kept, also where a disk hangs and does not even fail: then it is
    answered all the same, and what that means is told.

It must never know a roster or a disk. Guarantee: every goodbye is answered, or its connection ends.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from paddle._pserver.protocol.messages import Answer, Waiting
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.saving import Cause, Saving

FIRST_S = 1.0
LONGEST_S = 10.0


@dataclass(slots=True)
class _Leaving:
    """One that said goodbye and is not answered. ``waits``: for a snapshot that is on its way; else one could
    not be written, and is tried ``again_at``."""

    id: int
    since: float
    waits: bool = True
    again_at: float | None = None
    pause_s: float = FIRST_S


class Parting:
    """See the module's text."""

    def __init__(self, clocks: Clocks, outbox: Outbox, saving: Saving, patience_s: float) -> None:
        self._clocks, self._outbox, self._saving, self._patience_s = clocks, outbox, saving, patience_s
        self._leaving: dict[int, _Leaving] = {}  # by session

    def begin(self, id: int, session: int, now: float) -> None:
        """The trainer ``id`` says goodbye on ``session``, and all it told must last."""
        self._leaving[session] = _Leaving(id, now)
        self._ask(session, id)

    def answer(self, session: int) -> None:
        """Let it go."""
        self._leaving.pop(session, None)
        self._outbox.send(session, Answer(self._clocks.version))
        self._outbox.close(session)

    def lost(self, session: int) -> None:
        """The connection is gone; who was not answered comes back to say it again."""
        self._leaving.pop(session, None)

    def look(self, now: float, *, is_needed: bool) -> None:
        """Go on with those for whom no snapshot lasts. ``is_needed``: others are in the job, who
        would wait for one that is not known to have left."""
        for session, leaving in list(self._leaving.items()):
            waited_s = now - leaving.since
            if waited_s >= self._patience_s or not (leaving.waits or is_needed):
                self._outbox.note(
                    _given_up(leaving.id, waited_s), logging.ERROR if is_needed else logging.INFO
                )
                self.answer(session)
            elif leaving.waits:
                continue
            elif leaving.again_at is None:
                leaving.again_at = now + leaving.pause_s
                leaving.pause_s = min(2 * leaving.pause_s, LONGEST_S)
            elif now >= leaving.again_at:
                leaving.waits, leaving.again_at = True, None
                self._ask(session, leaving.id)

    def _ask(self, session: int, id: int) -> None:
        why = Cause("goodbye", f"trainer {id} says goodbye, and all it told must last")
        self._saving.ask(why, lambda lasts: self._told(session, lasts=lasts), session)

    def _told(self, session: int, *, lasts: bool) -> None:
        leaving = self._leaving.get(session)
        if leaving is not None and lasts:
            self.answer(session)
        elif leaving is not None:
            leaving.waits = False
            self._outbox.send(session, Waiting("trying again to write a snapshot that lasts, which failed"))


def _given_up(id: int, waited_s: float) -> str:
    return (
        f"lets trainer {id} go though no snapshot could be written in {waited_s:.0f} s: should this pserver "
        "be killed before one lasts, others that are still in the job wait for that trainer in vain"
    )
