"""A meeting: where the threads of a team wait for each other, so that one of them acts for all.

It must never know what is done there. Rules:
1. Thread 0 leads: what is to be done for all is done by it, with what all have brought, in order of threads.
2. All come to the same meetings in the same order; nobody leaves one before the leader has acted, but those
   who come to the last one only to leave something there (``leave``).
3. What the leader tells is known until the next run; who asks for it waits until it is told.
4. When one fails, all who wait, and all who come later, are told: they raise Abandoned. It waits for nobody.

Who waits does so in a queue of its own, in the kernel, and is woken by one call: no thread spins.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from queue import SimpleQueue
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
        self._doors: list[SimpleQueue[Any]] = [SimpleQueue() for _ in range(count)]
        self._told: set[str] = set()
        self._is_abandoned = False

    def meet(self, number: int, brought: Any, act: Callable[[list[Any]], Sequence[Any]]) -> Any:
        """Bring something; gives what is this thread's of that which ``act`` of the leader makes of all."""
        if number:
            self._doors[0].put((number, brought))
            return self._called(number)
        everything = self._gathered(brought)
        made = act(everything)
        for door, own in zip(self._doors[1:], made[1:], strict=True):
            door.put(own)
        return made[0]

    def leave(self, number: int, brought: Any, act: Callable[[list[Any]], object]) -> None:
        """Bring something to the last meeting of a run; only the leader waits, and acts."""
        if number:
            self._doors[0].put((number, brought))
        else:
            act(self._gathered(brought))

    def _gathered(self, brought: Any) -> list[Any]:
        found = {0: brought}
        while len(found) < self.count:
            number, one = self._called(0)
            found[number] = one
        return [found[number] for number in range(self.count)]

    def _called(self, number: int) -> Any:
        """What is handed to a thread at its door."""
        found = None if self._is_abandoned else self._doors[number].get()
        if self._is_abandoned:
            raise Abandoned("another part of the batch has failed")
        return found

    def tell(self, words: Collection[str]) -> None:
        """Tell these words."""
        with self._changed:
            self._told.update(words)
            self._changed.notify_all()

    def hear(self, words: Collection[str], instead: str) -> None:
        """Wait until all of these are told, or what stands for all words is."""

        def is_told() -> bool:
            return instead in self._told or self._told.issuperset(words)

        with self._changed:
            self._changed.wait_for(lambda: is_told() or self._is_abandoned)
            if not is_told():
                raise Abandoned("another part of the batch has failed")

    def abandon(self) -> None:
        """This thread does not come again."""
        with self._changed:
            self._is_abandoned = True
            self._changed.notify_all()
        for door in self._doors:
            door.put(None)
