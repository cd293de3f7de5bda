"""Parting: when a trainer that says goodbye is let go: once all that it told lasts.

Whoever has gone can tell nothing again, and a shard that starts anew from a snapshot that does not know of
the goodbye waits for that trainer in vain.

1.  Where snapshots are kept one is asked for, again if need be (insisting.py), and it is answered once that
    lasts. The others do not wait for it meanwhile: it has left the roster.
2.  Once nobody else is in the job, or that is broken, and none is on its way any more for any of those who
    leave, one that could not be written is not tried again; and no longer than ``patience_s`` is anybody
    kept, also where a disk hangs and does not even fail: then it is answered all the same, and what that
    means is told.

It must never know a roster or a disk. Guarantee: every goodbye is answered, or its connection ends.
"""

from __future__ import annotations

import logging
from functools import partial

from paddle._pserver.protocol.messages import Answer
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.insisting import Insisting
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.saving import Cause


class Parting:
    """See the module's text."""

    def __init__(self, clocks: Clocks, outbox: Outbox, insisting: Insisting, patience_s: float) -> None:
        self._clocks, self._outbox, self._insisting = clocks, outbox, insisting
        self._patience_s = patience_s
        self._leaving: dict[int, int] = {}  # trainers that said goodbye and are not answered, by session

    def begin(self, id: int, session: int, now: float) -> None:
        """The trainer ``id`` says goodbye on ``session``, and all it told must last."""
        self._leaving[session] = id
        why = Cause("goodbye", f"trainer {id} says goodbye, and all it told must last")
        self._insisting.begin(session, why, partial(self.let_go, session), now)

    def let_go(self, session: int) -> None:
        """Answer the goodbye on ``session``, whatever it says."""
        self.lost(session)
        self._outbox.send(session, Answer(self._clocks.version))
        self._outbox.close(session)

    def lost(self, session: int) -> None:
        """The connection is gone; who was not answered comes back to say it again."""
        self._leaving.pop(session, None)
        self._insisting.end(session)

    def look(self, now: float, *, is_needed: bool) -> None:
        """Give up those for whom no snapshot lasts. ``is_needed``: others are in the job, who would wait for
        one that is not known to have left."""
        is_tried = is_needed or self._insisting.is_under_way(self._leaving)
        for session, id in list(self._leaving.items()):
            waited_s = self._insisting.waited_s(session, now)
            if waited_s >= self._patience_s or not is_tried:
                self._outbox.note(_given_up(id, waited_s), logging.ERROR if is_needed else logging.INFO)
                self.let_go(session)


def _given_up(id: int, waited_s: float) -> str:
    return (
        f"lets trainer {id} go though no snapshot could be written in {waited_s:.0f} s: should this pserver "
        "be killed before one lasts, others that are still in the job wait for that trainer in vain"
    )
