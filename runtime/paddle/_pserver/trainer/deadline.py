"""Deadline: how long a trainer still waits for a shard. It stands while this process does.

A process that is stopped (SIGSTOP, a frozen machine) hears nothing, and what was said to it meanwhile lies in
its connections. So that is nobody's silence: what passes between two looks beyond ``MOST_S`` is left out. And
who finds the deadline over looks once more, without waiting, at what is there (client.py).

It must never know what is waited for. Guarantee: who looks often enough while it waits gives up after
``within_s`` of waiting, and not before.
"""

from __future__ import annotations

import time
from collections.abc import Callable

MOST_S = 10.0
"""Longer than anybody waits between two looks: an attempt to come to a shard takes seconds (approach.py)."""


class Deadline:
    """See the module's text. ``read``: seconds on a clock that does not run backwards."""

    def __init__(self, within_s: float, read: Callable[[], float] = time.monotonic) -> None:
        self._read, self._seen_at, self._left_s = read, read(), within_s
        self._is_ended = False

    def end(self) -> None:
        """Have it be over, from another thread."""
        self._is_ended = True

    def spend(self, seconds: float) -> None:
        """Look: so many seconds have passed in silence; what else has since the last look is left out."""
        self._seen_at, self._left_s = self._read(), self._left_s - seconds

    def leave(self, seconds: float) -> None:
        """Have so many seconds be left at least."""
        self._left_s = max(self._left_s, seconds)

    def left_s(self) -> float:
        """Look: how many seconds are left; 0 where it is over."""
        seen_at = self._read()
        passed_s = seen_at - self._seen_at
        self._left_s -= passed_s if passed_s < MOST_S else MOST_S
        self._seen_at = seen_at
        return 0.0 if self._is_ended or self._left_s < 0 else self._left_s

    @property
    def is_over(self) -> bool:
        """Whether it was over at the last look."""
        return self._is_ended or self._left_s <= 0
