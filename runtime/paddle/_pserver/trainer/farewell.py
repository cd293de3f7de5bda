"""Farewell: the last words of a trainer that leaves while its connection to a shard is broken.

Others wait at that shard, or soon will, for one that does not come back: they would until their patience
ends. So it is told on a connection of its own, if it can be within seconds: who it is, that it was in the
job (the shard may have been started again since), and goodbye.

It must never know a line. Guarantee: it takes no longer than ``WITHIN_S`` and what a client needs to part,
and raises nothing. Where nothing listens it ends at once.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable

from paddle._pserver.errors import BROKEN, PserverError
from paddle._pserver.protocol.messages import Declare, Goodbye, Mark
from paddle._pserver.trainer.client import Client
from paddle._pserver.trainer.deadline import Deadline
from paddle._pserver.trainer.greeting import Greeting

WITHIN_S = 10.0  # for a shard that is being started again; one that is not there is known at once
_PARTING_S = 6.0
_RETRY_S = 0.1


class Farewell:
    """See the module's text. It begins at once, in a thread; :meth:`wait` next."""

    def __init__(
        self,
        make: Callable[[], Client],
        greeting: Greeting,
        answered: Mark,
        declare: Declare,
        goodbye: Goodbye,
    ) -> None:
        self._make, self._greeting, self._answered = make, greeting, answered
        self._declare, self._goodbye = declare, goodbye
        self._thread = threading.Thread(target=self._run, name="farewell", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Until it has been said, or could not be."""
        self._thread.join(WITHIN_S + _PARTING_S)

    def _run(self) -> None:
        deadline = Deadline(WITHIN_S)
        with contextlib.suppress(PserverError):
            while not self._is_said(deadline) and deadline.left_s():
                time.sleep(_RETRY_S)

    def _is_said(self, deadline: Deadline) -> bool:
        client = self._make()
        try:
            client.connect(deadline, insists=False)
            self._greeting.say(client, self._answered)
            self._greeting.hear(client)
            client.send(self._declare, asking="to let it leave")
            client.say_goodbye(self._goodbye)
        except BROKEN:
            client.close()
            return False
        client.part()
        return True
