"""Sockets: the same courses by the whole way, from trainers over connections of this machine to several
shards, each of which has a part of the model, dense or sparse, and knows no other.

What trainers see does not depend on how many shards there are, so it is the same references that foresee it.
Guarantee: who does something is done, or waits at every shard, when others go on; nothing else is waited for.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from paddle._pserver.trainer.remote import RemoteExchange

from ..conftest import Pservers, Start
from .course import Course

SHARDS = 2  # with dense parameters, and as many with tables
MOST_BREAKS = 2  # in a course: who comes back takes its time
_LOOK_S = 0.002


class Place:
    """A trainer's thread and connections: what Seat is without these. It asks again by itself what it did not
    hear the answer to."""

    is_forgetful = is_over = False

    def __init__(self, pservers: Pservers, id: int) -> None:
        self._pservers, self.id, self.is_waiting = pservers, id, False
        self.exchange: RemoteExchange = pservers.exchange(id)
        self._thread = ThreadPoolExecutor(1)
        self._work: Future[object] = Future()

    def do(self, work: Callable[[], object]) -> None:
        """Until it is done or waits."""
        self._work = self._thread.submit(work)
        self._see()

    def go_on(self) -> bool:
        """Whether what it waited for has come; then until it is done or waits again."""
        if not self.is_waiting or self._waits():
            return False
        self._see()
        return not self.is_waiting

    def end(self) -> None:
        """Whatever it waits for, it does so no more: its job is over."""
        self._thread.shutdown()

    def _see(self) -> None:
        while not wait([self._work], _LOOK_S).done:
            if self._waits():
                self.is_waiting = True
                return
        self.is_waiting = False
        self._work.result()

    def _waits(self) -> bool:
        hubs = self._pservers.hubs
        return bool(self._pservers.call(lambda: all(self.id in hub.shard.barrier for hub in hubs)))


class CourseOverSockets(Course):
    """See the module's text. What breaks are connections; no shard does."""

    def __init__(self, mode: str, rule: str, start: Start) -> None:
        super().__init__(mode, rule)
        self._start, self.breaks = start, 0

    def take_seats(self, trainers: int) -> list[Any]:
        """See Course."""
        self.pservers = self._start(1, SHARDS, SHARDS, num_gradient_servers=trainers)
        self.seats = [Place(self.pservers, id) for id in range(trainers)]
        return [seat.exchange for seat in self.seats]

    def step_in_turns(self, places: list[int]) -> None:
        """See Course. These begin at once: each step takes its time here."""

    @precondition(lambda self: self.breaks < MOST_BREAKS)
    @rule(data=st.data())
    def break_down(self, data: st.DataObject) -> None:
        """A trainer's connections."""
        self.breaks += 1
        for shard in self.seats[data.draw(st.sampled_from(sorted(self.here)))].exchange._shards:
            if (connection := shard.line.client._socket) is not None:
                with suppress(OSError):  # it was broken before, and nobody has noticed yet
                    connection.shutdown(socket.SHUT_RDWR)
        self.go_on()

    def teardown(self) -> None:
        if self.seats:
            self.pservers.call(lambda: [hub.stop("the test is over") for hub in self.pservers.hubs])
        for seat in self.seats:
            seat.end()
