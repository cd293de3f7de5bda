"""A line that is being opened, in a thread of its own, by whoever knows how.

It must never know what a line is. Guarantee, by three rules:

1. Whoever waits has a line or a reason by the deadline, and at once where it is called off, whatever the
   thread is stuck in: a host that is off, a name server that is silent, an agent that wants its key touched.
2. What such a thread comes to later is closed.
3. Of all openings with one ``gate``, no more go on at a time than it lets through; waiting there is not
   counted.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, InvalidStateError
from typing import Generic, Protocol, TypeVar

from paddle._launch.errors import NodeError, NodeLost
from paddle._launch.machines.patience import Gate

OPEN_S = 25.0  # for all of it: connecting, by a jump host perhaps, and logging in
_WORDS_S = 0.5  # who opens it may know better words for a deadline that has passed


class Closable(Protocol):
    """What can be let go of."""

    def close(self) -> None: ...


_Line = TypeVar("_Line", bound=Closable, covariant=True)
# Told when it is too late (on the monotonic clock), and what is set once nobody waits any more.
Connect = Callable[[float, threading.Event], _Line]


class Opening(Generic[_Line]):
    """One of them, which another thread may call off. ``late``: the words for a deadline that has passed."""

    def __init__(self, connect: Connect[_Line], gate: Gate, late: Callable[[float], NodeError]) -> None:
        self._connect = connect
        self._gate = gate
        self._late = late
        self._is_off = threading.Event()
        self._outcome: Future[_Line] = Future()

    def open(self, patience_s: float = OPEN_S) -> _Line:
        """Open it, or say why not."""
        with self._gate.passed():
            end = time.monotonic() + patience_s
            if not self._is_off.is_set():
                threading.Thread(target=self._work, args=[end], daemon=True).start()
            try:
                return self._outcome.result(patience_s + _WORDS_S)
            except TimeoutError as error:
                self._give_up(late := self._late(patience_s))
                raise late from error

    def call_off(self) -> None:
        """Let ``open`` end at once, from another thread."""
        self._give_up(NodeLost("it was not reached: the launch was stopped."))

    def _give_up(self, why: NodeError) -> None:
        self._is_off.set()
        if not self._outcome.done():
            self._settle(lambda: self._outcome.set_exception(why))

    def _work(self, end: float) -> None:
        try:
            line = self._connect(end, self._is_off)
        except Exception as error:  # whatever it is, somebody waits for it
            why = error
            self._settle(lambda: self._outcome.set_exception(why))
            return
        if not self._settle(lambda: self._outcome.set_result(line)):
            line.close()

    def _settle(self, put: Callable[[], None]) -> bool:
        """Say how it came out; False where that was said already."""
        try:
            put()
        except InvalidStateError:
            return False
        return True
