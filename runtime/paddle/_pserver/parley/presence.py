"""Presence: a process says, where those of its job meet, that it is alive, until it leaves.

It speaks on a thread of its own, so that a step that takes an hour is no silence. It must never know what the
others tell each other. Guarantee: who has begun is heard of well within a lease while it lives and reaches
the place; leaving says so once, shortly.
"""

from __future__ import annotations

import http.client
import threading
from collections.abc import Sequence
from contextlib import suppress

from paddle._pserver.parley.errors import ParleyError
from paddle._pserver.parley.line import Line
from paddle._pserver.parley.messages import Here, Leave, Seat

LEASE_S = 60.0
"""Who was not heard of for so long is gone."""
_BEAT_S = 5.0
_ANSWER_S = 5.0


class Presence:
    """Of who has ``seats``, by ``line``, from now on."""

    def __init__(self, line: Line, seats: Sequence[Seat], beat_s: float = _BEAT_S) -> None:
        self._line, self._seats, self._beat_s = line, list(seats), beat_s
        self.was_met = False
        """Whether the place has answered."""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="parley presence", daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """This one comes no more. Idempotent."""
        if self._over.is_set():
            return
        self._over.set()
        self._thread.join(_ANSWER_S)
        if self._line.is_open:
            with suppress(OSError, http.client.HTTPException, ParleyError):
                self._line.ask("leave", Leave(self._seats), _ANSWER_S)
        self._line.close()

    def _beat(self) -> None:
        while not self._over.is_set():
            try:
                self._line.ask("here", Here(self._seats), _ANSWER_S)
                self.was_met = True
            except (OSError, http.client.HTTPException):
                pass  # whoever waits is told of it, by the one who waits
            except ParleyError:
                return  # nothing that asking again would mend; a call of this process will say it
            self._over.wait(self._beat_s)
