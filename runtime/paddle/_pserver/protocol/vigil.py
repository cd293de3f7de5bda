"""Vigil: who waits for something that comes at once stays awake for it.

To sleep and to be woken takes a process longer than a small exchange does: the kernel switches twice, and
what it needs has left the processor's caches meanwhile. A trainer and a shard of one machine answer each
other in less.

1.  A wait begins awake where the one before was short: shorter than ``SHORT_S``.
2.  Who is awake looks again and again, for ``SHORT_S``, and then sleeps as it would have at once.

So a wait that was long costs one vigil, and the waits after it none: whoever waits for a batch that is being
computed, for a processor that others have, or for a distant machine, sleeps.

It must never know what is waited for. Guarantee: of two waits one after another, of which the first was long,
the second is slept.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

SHORT_S = 100e-6

Found = TypeVar("Found")


class Vigil(Generic[Found]):
    """See the module's text. ``look`` gives what has come, if anything; ``read`` seconds on a clock that does
    not run backwards."""

    def __init__(self, look: Callable[[], Found], read: Callable[[], float] = time.perf_counter) -> None:
        self._look, self._read = look, read
        self._since = 0.0
        self._is_awake = False

    def begin(self) -> Found | None:
        """A wait begins: what came while this was awake. If nothing did whoever waits is to sleep now."""
        self._since = since = self._read()
        while self._is_awake:
            if found := self._look():
                return found
            self._is_awake = self._read() - since < SHORT_S
        return None

    def end(self) -> None:
        """It has come."""
        self._is_awake = self._read() - self._since < SHORT_S
