"""Agenda: simulated time, and what happens when. Processes are generators that yield what they wait for.

It must never know what it simulates, a wall clock or chance.

Guarantee: events happen in the order of their times, those of one time in the order in which they were put
down; so one input gives one history.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Callable, Generator
from typing import Any

Resume = Callable[..., None]
Wait = Callable[[Resume], None]
"""What a process yields: it is given the call that goes on with the process, now or later."""


class Agenda:
    """See the module's text. ``now``: seconds."""

    def __init__(self) -> None:
        self.now = 0.0
        self.is_over = False  # whoever sets it ends the run
        self._count = itertools.count()
        self._heap: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []

    def at(self, time: float, call: Callable[..., None], *args: Any) -> None:
        """Call at ``time``, which is not past."""
        heapq.heappush(self._heap, (time, next(self._count), call, args))

    def run(self) -> None:
        """Until nothing is left to happen, or it is over."""
        heap = self._heap
        while heap and not self.is_over:
            self.now, _, call, args = heapq.heappop(heap)
            call(*args)

    def begin(self, process: Generator[Wait, Any, None]) -> None:
        """Begin a process now."""
        self.at(self.now, Running(process).go, None)


class Running:
    """A process between what it waits for."""

    def __init__(self, process: Generator[Wait, Any, None]) -> None:
        self._process = process

    def go(self, value: Any = None) -> None:
        """Go on, with what was waited for."""
        try:
            wait = self._process.send(value)
        except StopIteration:
            return
        wait(self.go)


class Mailbox:
    """Things for one process, in the order of their coming."""

    def __init__(self) -> None:
        self._things: deque[Any] = deque()
        self._resume: Resume | None = None

    def put(self, thing: Any) -> None:
        """Something came."""
        resume, self._resume = self._resume, None
        if resume is None:
            self._things.append(thing)
        else:
            resume(thing)

    def take(self, resume: Resume) -> None:
        """A wait: for the next thing."""
        if self._things:
            resume(self._things.popleft())
        else:
            self._resume = resume
