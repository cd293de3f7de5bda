"""A meeting: where the threads of a team wait for each other, so that one of them acts for all.

It must never know what is done there. Rules:
1. Thread 0 leads: what is to be done for all is done by it, with what all have brought, in order of threads.
2. All come to the same meetings in the same order; nobody leaves one before the leader has acted.
3. What the leader tells is known until the next run; who asks for it waits until it is told.
4. When one fails, all who wait, and all who come later, are told: they raise Abandoned. It waits for nobody.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from typing import Any

from paddle._engine.errors import EngineError


class Abandoned(EngineError):
    """Another thread of the team has failed, or the one that leads it was interrupted."""


class Meeting:
    """For ``count`` threads, until the next ``begin``."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.begin(1)

    def begin(self, count: int) -> None:
        """So many threads are going to meet; nobody is there yet."""
        self.count = count
        self._brought: dict[int, Any] = {}
        self._left: Sequence[Any] = ()
        self._held = 0
        self._told: set[str] = set()
        self._is_all_told = False
        self._is_abandoned = False

    def meet(self, number: int, brought: Any, act: Callable[[list[Any]], Sequence[Any]]) -> Any:
        """Bring something; gives what is this thread's of that which ``act`` of the leader makes of all."""
        with self._changed:
            held = self._held
            self._brought[number] = brought
            self._changed.notify_all()
            if number:
                self._wait(lambda: self._held > held)
                return self._left[number]
            self._wait(lambda: len(self._brought) == self.count)
            everything = [self._brought.pop(each) for each in range(self.count)]
        made = act(everything)
        with self._changed:
            self._left, self._held = made, held + 1
            self._changed.notify_all()
        return made[0]

    def tell(self, words: Collection[str] | None) -> None:
        """Tell these words, or all that there are."""
        with self._changed:
            self._told.update(words or ())
            self._is_all_told = self._is_all_told or words is None
            self._changed.notify_all()

    def hear(self, words: Collection[str]) -> None:
        """Wait until all of these are told."""
        with self._changed:
            self._wait(lambda: self._is_all_told or self._told.issuperset(words))

    def abandon(self) -> None:
        """This thread does not come again."""
        with self._changed:
            self._is_abandoned = True
            self._changed.notify_all()

    def _wait(self, until: Callable[[], bool]) -> None:
        self._changed.wait_for(lambda: until() or self._is_abandoned)
        if not until():
            raise Abandoned("another part of the batch has failed")
