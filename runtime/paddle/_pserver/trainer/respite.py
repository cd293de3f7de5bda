"""Respite: how long a line that broke has until it is answered again, whatever it does meanwhile.

1.  It begins with the first break. An answer ends it, and so does the word of a shard for whom it waits: that
    one is there, and ends the wait itself (barrier.py).
2.  While the line comes back silence counts, on every connection that it tries. When it is over so is what is
    asked there.
3.  A shard that has let the line in has ``FIRST_WORD_S`` at least: what it hears again may wait for other
    trainers, and it says so after half of that.
4.  On a connection that is back silence counts, too, and ends nothing: a call has its own time. If the
    connection breaks after all, the time that went is gone.

It must never know what is asked. Guarantee: a line that nobody answers gives up ``within_s`` after it broke,
``FIRST_WORD_S`` later at most, and one call's time later where it was back.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from paddle._pserver.trainer.client import IDLE_S, Client
from paddle._pserver.trainer.deadline import Deadline

FIRST_WORD_S = 10.0


class Respite:
    """See the module's text."""

    def __init__(self, within_s: float) -> None:
        self._within_s = within_s
        self._deadline: Deadline | None = None

    def begin(self) -> Deadline:
        """It broke, now or before; how long it still has."""
        if self._deadline is None:
            self._deadline = Deadline(self._within_s)
        return self._deadline

    def end(self) -> None:
        """It was answered."""
        self._deadline = None

    def go_on(self) -> None:
        """The shard has let the line in, and is asked the next that it lacks."""
        self.begin().leave(FIRST_WORD_S)

    def bind(self, client: Client) -> None:
        """A line comes back on this connection."""
        client.on_idle, client.on_waiting = self._hold, self.end
        client.longest_send_s = max(self.begin().left_s(), FIRST_WORD_S)

    def release(self, client: Client, on_idle: Callable[[], None]) -> None:
        """The line is back, on this connection; ``on_idle``: see Client."""

        def idle() -> None:
            self._count()
            on_idle()

        client.on_idle, client.on_waiting, client.longest_send_s = idle, self.end, math.inf
        client.renews = self._within_s > 0

    def _count(self) -> None:
        if self._deadline is not None:
            self._deadline.spend(IDLE_S)

    def _hold(self) -> None:
        self._count()
        if self._deadline is not None and self._deadline.is_over:
            raise TimeoutError("timed out")
