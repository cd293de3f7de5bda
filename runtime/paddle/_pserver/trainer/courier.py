"""Courier: does what one shard is asked and told, at once, later or in a thread, while the trainer computes.

1.  Work is done in the order in which it was given, one after another.
2.  After work that failed nothing more is done. Who waits gets its error, and everybody after that.
3.  Whoever waits goes on as soon as what it waits for is there, not only when the work is done.

It must never know what it does. Guarantee: an error is never lost, unless nobody waits any more.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

Work = Callable[[], None]
Until = Callable[[], bool]


class Courier(Protocol):
    """Two ways of doing work. One thread gives it and waits; ``wakes`` may be called in any."""

    def at_once(self, work: Work) -> None:
        """Begin it without being asked again."""

    def when_needed(self, work: Work) -> None:
        """Do it before somebody has waited for it."""

    def wait(self, until: Until | None = None) -> None:
        """Return when all work is done, or ``until`` is true; raises what work has raised."""

    def wakes(self) -> None:
        """What somebody waits for may be there."""

    def leave(self, patience_s: float) -> bool:
        """Do nothing more; whether the work under way has ended within ``patience_s``."""


class Here:
    """Does it in the thread that gives it: a message that fits into the buffers of a connection is sent in no
    time, and its answer waits there until it is needed."""

    def __init__(self) -> None:
        self._later: deque[Work] = deque()
        self._error: BaseException | None = None

    def at_once(self, work: Work) -> None:
        """See Courier."""
        work()

    def when_needed(self, work: Work) -> None:
        """See Courier."""
        self._later.append(work)

    def wait(self, until: Until | None = None) -> None:
        """See Courier."""
        if self._error is not None:
            raise self._error
        while self._later and not (until is not None and until()):
            try:
                self._later.popleft()()
            except BaseException as error:
                self._error = error
                raise

    def wakes(self) -> None:
        """See Courier."""

    def leave(self, patience_s: float) -> bool:
        """See Courier."""
        self._later.clear()
        return True


class Apart:
    """Does it in a thread of its own, called ``name``, which begins with the first work."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._changed = threading.Condition()
        self._work: deque[Work] = deque()  # the first is under way
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._is_over = False
        self._until: Until | None = None  # what somebody waits for

    def at_once(self, work: Work) -> None:
        """See Courier."""
        with self._changed:
            self._work.append(work)
            self._changed.notify_all()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    when_needed = at_once

    def wait(self, until: Until | None = None) -> None:
        """See Courier."""
        with self._changed:
            self._until = until
            self._changed.wait_for(lambda: self._is_still or (until is not None and until()))
            self._until = None
            if self._error is not None:
                raise self._error

    def wakes(self) -> None:
        """See Courier. Most of what comes is not what is waited for, and to wake in vain costs both."""
        with self._changed:
            if self._until is not None and self._until():
                self._changed.notify_all()

    def leave(self, patience_s: float) -> bool:
        """See Courier."""
        with self._changed:
            self._is_over = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(patience_s)
        return self._thread is None or not self._thread.is_alive()

    @property
    def _is_still(self) -> bool:
        return not self._work or self._error is not None or self._is_over

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._work or self._is_over)
                if self._is_over:
                    return
                work = self._work[0]
            try:
                work()
            except BaseException as error:
                self._end(error)
                return
            with self._changed:
                self._work.popleft()
                self._changed.notify_all()

    def _end(self, error: BaseException) -> None:
        with self._changed:
            self._error = error
            self._changed.notify_all()
