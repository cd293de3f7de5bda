"""Vigil: who does little else than to wait for what comes at once stays awake for it.

To sleep and to be woken takes a process longer than a small exchange does: the kernel switches twice, and
what it needs has left the processor's caches meanwhile. A trainer and a shard of one machine answer each
other in less.

1.  A wait begins awake where each of the ``MANY`` before it began less than ``ROUND_S`` before the next.
2.  Who is awake looks again and again, for ``ROUND_S``, and then sleeps as it would have at once.

So whoever computes between its waits, or waits for a processor that others have, or for a distant machine,
sleeps: there nothing is gained, and others may need the processor. So does who hears a message that comes in
a few pieces now and then, though it waits for one soon after the other: the last wait is a long one.

It must never know what is waited for. Guarantee: after a wait that was long, or work that was, the next
``MANY`` waits are slept; so nobody is awake in vain more often than once in so many waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

ROUND_S = 150e-6
MANY = 16

Found = TypeVar("Found")


class Vigil(Generic[Found]):
    """See the module's text. ``look`` gives what has come, if anything; ``read`` seconds on a clock that does
    not run backwards."""

    def __init__(self, look: Callable[[], Found], read: Callable[[], float] = time.perf_counter) -> None:
        self._look, self._read = look, read
        self._began = -ROUND_S
        self._near = 0  # waits that began soon after the one before, in a row

    def keep(self) -> Found | None:
        """A wait begins: what came while this was awake. If nothing did whoever waits is to sleep now."""
        before, self._began = self._began, self._read()
        self._near = self._near + 1 if self._began - before < ROUND_S else 0
        if self._near < MANY:
            return None
        until = self._began + ROUND_S
        while not (found := self._look()):
            if self._read() >= until:
                return None
        return found
