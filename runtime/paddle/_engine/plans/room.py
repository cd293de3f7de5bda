"""Room: what is made once for each shape, such as plans, and kept while there is memory for it.

It must never know what is kept. Guarantees: as many as ``least`` are kept in any case. What is made beyond
these may have a process grow by ``MOST``; from then on one goes for each that comes, and another where the
process has grown even so, none of the quarter that was used last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from mmap import PAGESIZE
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

Value = TypeVar("Value")

MOST = 1 << 29
"""By so many bytes a process may grow: hundreds of plans of recurrences, thousands of others."""


class Room:
    """By how many bytes a process has grown."""

    def __init__(self) -> None:
        self.grown = 0

    @property
    def is_spent(self) -> bool:
        """Whether what comes must take the place of something."""
        return self.grown >= MOST

    @contextmanager
    def growing(self, besides: Callable[[], int]) -> Iterator[None]:
        """Count what the process grows by meanwhile, but for what is ``besides``."""
        before = _resident() - besides()
        try:
            yield
        finally:
            self.grown += max(0, _resident() - besides() - before)


ROOM = Room()
"""That of this process."""


def _resident() -> int:
    return int(Path("/proc/self/statm").read_bytes().split()[1]) * PAGESIZE


class Kept(Generic[Value]):
    """Values by key, the last used last."""

    def __init__(self, least: int) -> None:
        self._least = least
        self._values: dict[object, Value] = {}
        self._grown = 0
        self._chance = Random(0)

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Value]:
        return iter(self._values.values())

    def __bool__(self) -> bool:
        return bool(self._values)

    @property
    def is_beyond(self) -> bool:
        """Whether another one would be more than are kept in any case."""
        return len(self._values) >= self._least

    def get(self, key: object) -> Value | None:
        """The value of a key, which is used now."""
        found = self._values.pop(key, None)
        if found is not None:
            self._values[key] = found
        return found

    def put(self, key: object, value: Value) -> None:
        """Keep a value; where room is spent others go."""
        self._values.pop(key, None)
        self._values[key] = value
        grown, self._grown = ROOM.grown > self._grown, ROOM.grown
        for _ in range(1 + grown if ROOM.is_spent else 0):
            if len(self._values) > self._least:
                del self._values[self._left()]

    def _left(self) -> object:
        """Who goes: any but the quarter used last. Of shapes that come in turn, one more than there is room
        for, the one not used for longest would always be the next to come."""
        keys = list(self._values)
        return keys[self._chance.randrange(max(1, 3 * len(keys) // 4))]

    def keep(self, is_kept: Callable[[Value], bool]) -> None:
        """Drop all others."""
        self._values = {key: value for key, value in self._values.items() if is_kept(value)}
