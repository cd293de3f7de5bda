"""Patience with other machines: a socket that gives up where nothing can be sent, a gate, a deadline.

It must never know what is sent, or what is done behind the gate. Guarantee: nobody waits for ever for a
machine that has gone silent, nor long behind others who wait for such machines.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

AT_ONCE = 16  # machines that something is done with at a time
STALL_S = 15.0  # without a byte: then a connection is given up
_TRIES, _PAUSE_S = 3, 0.3
Value = TypeVar("Value")


class ImpatientSocket:
    """A socket, or what is like one, that is broken once nothing can be sent by it for ``patience_s``, and
    says at once that something came.

    A kernel tries for a quarter of an hour to bring bytes through a cable that was cut, and for ever to bring
    them to a machine that does not read; Paramiko tries as long. Only time that was spent trying is counted,
    not that in which this process stood still. ``is_stuck``: whether that is why it broke.

    A kernel says that along with what is sent next, or after 40 ms. But a node sends several things after a
    login, each when the one before has come, and nothing is sent from here meanwhile.
    """

    def __init__(self, inner: Any, patience_s: float) -> None:
        self._inner = inner
        self._patience_s = patience_s
        self._moment_s = 0.0
        self._waited_s = 0.0
        self.is_stuck = False
        # A channel through a jump host is no socket.
        self._can_say = isinstance(inner, socket.socket) and inner.family != socket.AF_UNIX

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def settimeout(self, moment_s: float) -> None:
        """How long a single try takes."""
        self._moment_s = moment_s
        self._inner.settimeout(moment_s)

    def recv(self, most: int) -> bytes:
        """Receive some bytes."""
        data = bytes(self._inner.recv(most))
        if self._can_say:
            self._inner.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        return data

    def send(self, data: bytes) -> int:
        """Send some of ``data``; raises TimeoutError where nothing could be sent for a moment."""
        try:
            sent = int(self._inner.send(data))
        except TimeoutError:
            self._waited_s += self._moment_s
            if self._waited_s < self._patience_s:
                raise
            self.is_stuck = True
            raise ConnectionAbortedError("nothing can be sent any more") from None
        self._waited_s = 0.0
        return sent


class Gate:
    """Lets ``width`` through at a time. Whoever takes longer than ``most_s`` has nothing to do but to wait
    for another machine, which costs nothing here, and counts no more."""

    def __init__(self, width: int, most_s: float) -> None:
        self._places = threading.Semaphore(width)
        self._most_s = most_s

    @contextlib.contextmanager
    def passed(self) -> Iterator[None]:
        """Be one of those that are let through."""
        self._places.acquire()
        has_left = threading.Lock()

        def leave() -> None:
            if has_left.acquire(blocking=False):
                self._places.release()

        late = _after(self._most_s, leave)
        try:
            yield
        finally:
            late.cancel()
            leave()


def again(
    do: Callable[[], Value],
    may_pass: Callable[[Exception], bool],
    pause: Callable[[float], bool] | None = None,
) -> Value:
    """Do something, up to three times where what failed may pass: sshd drops connections at random while many
    log in (MaxStartups). ``pause``: waits between, and says whether to give up."""
    pause = pause or threading.Event().wait
    for tries_left in reversed(range(_TRIES)):
        try:
            return do()
        except Exception as error:
            if not (tries_left and may_pass(error)) or pause(_PAUSE_S):
                raise
    raise AssertionError  # the last try returns or raises


@contextlib.contextmanager
def deadline(after_s: float, end: Callable[[], object]) -> Iterator[None]:
    """What is not done by then fails, as ``end`` has it do, and is a TimeoutError."""
    is_late = threading.Event()

    def give_up() -> None:
        is_late.set()
        end()

    late = _after(after_s, give_up)
    try:
        yield
    except Exception as error:
        if is_late.is_set():
            raise TimeoutError(f"not done within {after_s:.0f} s") from error
        raise
    finally:
        late.cancel()


def _after(seconds: float, do: Callable[[], object]) -> threading.Timer:
    timer = threading.Timer(seconds, do)
    timer.daemon = True
    timer.start()
    return timer
