"""Ahead: what of one gradient goes to a dense shard ahead of its push, as soon as it is final.

1.  Segments go in the order in which they become final, those that wait together in one part.
2.  A part is not made for less than ``PART_BYTES``: what is left goes with the push.
3.  What went ahead on one connection is void on another.

It must never know bytes, or what becomes of them. Two threads may use it: one that gives, one that takes.
Guarantee: a push brings every segment that no part brought on the same connection.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass

PART_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Due:
    """``segments``, ascending, to be sent in part ``number``; as a push: after ``number`` parts."""

    number: int
    segments: tuple[int, ...]


class Ahead:
    """See the module's text. ``sizes``: of the shard's segments, in bytes."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._lock = threading.Lock()
        self._waiting: list[int] = []
        self._sent: set[int] = set()
        self._parts = 0
        self._way: object = None

    def give(self, segment: int) -> bool:
        """It is final; whether it is time to send."""
        with self._lock:
            self._waiting.append(segment)
            return self._is_enough

    def part(self, way: object) -> Due | None:
        """What to send now on the connection ``way``, if it is enough for a part."""
        with self._lock:
            if not self._is_enough:
                return None
            if way is not self._way:
                self._way, self._parts = way, 0
                self._sent.clear()
            self._parts += 1
            due = Due(self._parts, tuple(sorted(self._waiting)))
            self._sent.update(self._waiting)
            self._waiting.clear()
            return due

    def rest(self) -> tuple[Due, object]:
        """What the push brings on the connection that is returned too."""
        with self._lock:
            lacking = tuple(index for index in range(len(self._sizes)) if index not in self._sent)
            return Due(self._parts, lacking), self._way

    @property
    def _is_enough(self) -> bool:
        return sum(self._sizes[segment] for segment in self._waiting) >= PART_BYTES
