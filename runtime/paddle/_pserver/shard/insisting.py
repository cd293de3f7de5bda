"""Insisting: who needs a snapshot that lasts, and has one tried again where it could not be written.

1.  One is asked for, and what waits for it happens once it lasts.
2.  One that could not be written is tried again, after ``FIRST_S`` and then later and later, and who waits is
    told so. Nobody else waits for that.
3.  How long that goes on is for those to say who began it: parting.py, resuming.py.

It must never know a roster or a disk. Guarantee: what waits happens at most once, and not after ``end``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from paddle._pserver.protocol.messages import Waiting
from paddle._pserver.shard.outbox import Outbox
from paddle._pserver.shard.saving import Cause, Saving

FIRST_S = 1.0
LONGEST_S = 10.0


@dataclass(slots=True)
class _Wish:
    """``waits``: for a snapshot that is on its way; else one could not be written, and is tried
    ``again_at``."""

    cause: Cause
    then: Callable[[], None]
    since: float
    waits: bool = True
    again_at: float | None = None
    pause_s: float = FIRST_S


class Insisting:
    """See the module's text."""

    def __init__(self, outbox: Outbox, saving: Saving) -> None:
        self._outbox, self._saving = outbox, saving
        self._wishes: dict[int, _Wish] = {}  # by session

    def begin(self, session: int, cause: Cause, then: Callable[[], None], now: float) -> None:
        """``then`` is for when a snapshot lasts that is cut from now on; ``session`` waits for it."""
        self._wishes[session] = wish = _Wish(cause, then, now)
        self._ask(session, wish)

    def end(self, session: int) -> None:
        """Nobody waits on this connection any more."""
        self._wishes.pop(session, None)

    def waited_s(self, session: int, now: float) -> float:
        """Since when somebody waits on this connection."""
        return now - self._wishes[session].since

    def is_under_way(self, sessions: Collection[int]) -> bool:
        """Whether one is, for any of these."""
        return any(self._wishes[session].waits for session in sessions)

    def look(self, now: float) -> None:
        """Try again what could not be written; at the end of every event."""
        for session, wish in list(self._wishes.items()):
            if wish.waits:
                continue
            if wish.again_at is None:
                wish.again_at = now + wish.pause_s
                wish.pause_s = min(2 * wish.pause_s, LONGEST_S)
            elif now >= wish.again_at:
                wish.waits, wish.again_at = True, None
                self._ask(session, wish)

    def _ask(self, session: int, wish: _Wish) -> None:
        self._saving.ask(wish.cause, lambda lasts: self._told(session, wish, lasts=lasts), session)

    def _told(self, session: int, wish: _Wish, *, lasts: bool) -> None:
        if self._wishes.get(session) is not wish:
            return  # gone meanwhile
        if lasts:
            self.end(session)
            wish.then()
        else:
            wish.waits = False
            self._outbox.send(session, Waiting("trying again to write a snapshot that lasts, which failed"))
