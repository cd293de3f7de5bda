"""Reunion: a process that comes to a restored shard hears its place in its data once those are back who know.

1.  Where trainers are not in step nobody tells again what a restored shard lacks, such as passes that have
    ended since its snapshot. Who was there has heard of them, and says so with Hello (arrival.py). A process
    that takes a place, and was not there, may be the first to come: told at once it would begin with a pass
    that is over, and end its last one after the others have gone.
2.  So it waits until all have come whom the snapshot knew, or others in their places: no longer than
    ``patience_s``, for one of them may be no more. It is told so every ``WORD_S``.

It must never know what is trained. Guarantee: whoever waits is answered, or its connection ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from paddle._pserver.protocol.messages import Waiting
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.roster import Roster

LONGEST_S = 60.0
"""So long do trainers try to come back, unless they are told otherwise."""
WORD_S = 5.0

Then = Callable[[float], None]
"""What happens once all are there; the argument: when that is."""


@dataclass(slots=True)
class _Newcomer:
    """Trainer ``id`` waits ``since`` then, and was told so at ``word_at``."""

    id: int
    then: Then
    since: float
    word_at: float


class Reunion:
    """See the module's text."""

    def __init__(self, roster: Roster, outbox: Outbox, patience_s: float) -> None:
        self._roster, self._outbox = roster, outbox
        self._patience_s = min(patience_s, LONGEST_S)
        self._waiting: dict[int, _Newcomer] = {}  # by session

    def begin(self, id: int, session: int, then: Then, now: float) -> None:
        """The new process of trainer ``id`` waits on ``session``."""
        self._waiting[session] = _Newcomer(id, then, now, now)
        self.look(now)

    def lost(self, session: int) -> None:
        """A connection is gone."""
        self._waiting.pop(session, None)

    def look(self, now: float) -> None:
        """Let those go on for whom nobody is missing any more; at the end of every event."""
        if not self._waiting:
            return
        for session, newcomer in list(self._waiting.items()):
            missing, waited_s = self._roster.unheard - {newcomer.id}, now - newcomer.since
            if not missing or waited_s >= self._patience_s:
                self.lost(session)
                newcomer.then(now)
            elif now - newcomer.word_at >= WORD_S:
                newcomer.word_at = now
                names = self._roster.describe_all(missing, now)
                text = f"waiting {waited_s:.0f} s to hear from {names} which passes have ended"
                self._outbox.send(session, Waiting(text))
