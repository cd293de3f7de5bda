"""Cores: processor time, shared by those who run or each its own.

It must never know what is computed. Guarantee: work takes at least the seconds it is said to; with m at work
on n shared cores each goes on at the rate min(1, n / m), so none is lost and none is made.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Any, Protocol

from benchmarks.scale.agenda import Agenda, Wait


class Cores(Protocol):
    """Where a process's work is done."""

    def work(self, seconds: float, then: Callable[..., None], *args: Any) -> None:
        """Call ``then`` when so much work is done."""
        ...


class OwnCore:
    """A core for whoever asks: nobody waits for it."""

    def __init__(self, agenda: Agenda) -> None:
        self._agenda = agenda

    def work(self, seconds: float, then: Callable[..., None], *args: Any) -> None:
        """See Cores."""
        self._agenda.at(self._agenda.now + seconds, then, *args)


class SharedCores:
    """``cores`` for all who ask, in equal shares, as a fair scheduler gives them: processor sharing.

    All who run have the same rate, so one number tells how far: ``_virtual``, the work that each has been
    given since the beginning. Work is done when that has grown by as much.
    """

    def __init__(self, agenda: Agenda, cores: float) -> None:
        self._agenda, self._cores = agenda, cores
        self._virtual = self._at = 0.0
        self._running: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._count = itertools.count()
        self._plan = 0  # the newest; older ones are void
        self.busy_s = 0.0  # of all cores

    def work(self, seconds: float, then: Callable[..., None], *args: Any) -> None:
        """See Cores."""
        self._catch_up()
        heapq.heappush(self._running, (self._virtual + seconds, next(self._count), then, args))
        self._plan_next()

    @property
    def _rate(self) -> float:
        return min(1.0, self._cores / len(self._running))

    def _catch_up(self) -> None:
        passed, self._at = self._agenda.now - self._at, self._agenda.now
        if self._running:
            self._virtual += passed * self._rate
            self.busy_s += passed * self._rate * len(self._running)

    def _plan_next(self) -> None:
        self._plan += 1
        if self._running:
            left = max(0.0, self._running[0][0] - self._virtual)
            self._agenda.at(self._agenda.now + left / self._rate, self._done, self._plan)

    def _done(self, plan: int) -> None:
        if plan != self._plan:
            return
        self._catch_up()
        self._virtual, _, then, args = heapq.heappop(self._running)
        self._plan_next()
        then(*args)


class Thread:
    """One that does one thing after the other. ``busy_s``: the work it has been given."""

    def __init__(self, cores: Cores) -> None:
        self.busy_s = 0.0
        self._cores = cores

    def work(self, seconds: float) -> Wait:
        """A wait: until so much work is done."""
        self.busy_s += seconds
        return lambda resume: self._cores.work(seconds, resume)
