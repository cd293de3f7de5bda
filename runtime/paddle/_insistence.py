"""Insistence: an error of a signal that comes where Python can raise nothing is raised a moment later.

In a finalizer, a ``__del__`` or the callback of a weak reference Python only prints what the signal's handler
raises, and goes on as if nobody had pressed Ctrl+C. It must never know what the error says. Guarantee: the
main thread is ended by it, whatever it waits for; until Python ends the program and there is nothing to end.
SIGALRM and its timer are the program's: they are borrowed for that moment.
"""

from __future__ import annotations

import atexit
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

_FIRST_S, _NEXT_S = 0.001, 0.05  # the first may come to another thread, or where nothing can be raised, too
_AT_ONCE_S = 1e-6


class _Alarm:
    """SIGALRM and its timer, borrowed from the program until they have raised an error."""

    def __init__(self) -> None:
        self._error: BaseException | None = None
        self._handler: Any = None
        self._timer, self._since_s = (0.0, 0.0), 0.0

    def set(self, error: BaseException) -> None:
        """Raise it soon."""
        if not self._is_borrowed():
            self._handler = signal.getsignal(signal.SIGALRM)
            self._timer = signal.getitimer(signal.ITIMER_REAL)
            self._since_s = time.monotonic()
        self._error = error
        signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, _FIRST_S, _NEXT_S)

    def give_back(self) -> BaseException | None:
        """The program has both as they were. Gives the error that was not raised yet."""
        if not self._is_borrowed():
            return None
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        error, self._error = self._error, None
        signal.signal(signal.SIGALRM, self._handler or signal.SIG_DFL)
        left_s, every_s = self._timer
        if left_s:
            left_s = max(left_s - (time.monotonic() - self._since_s), _AT_ONCE_S)
            signal.setitimer(signal.ITIMER_REAL, left_s, every_s)
        return error

    def _is_borrowed(self) -> bool:
        return signal.getsignal(signal.SIGALRM) == self._ring

    def _ring(self, signum: int, frame: FrameType | None) -> None:
        if _Hook.is_above(frame):
            return  # what it raised there would be lost: the timer rings again
        error = self.give_back()
        if error is not None and _is_running():
            raise error.with_traceback(None)


_alarm = _Alarm()


class _Hook:
    """What Python calls with an error that it cannot raise. ``before``: what it called until now."""

    def __init__(self, before: Any) -> None:
        self._before = before
        self.kinds: set[type[BaseException]] = set()

    def __call__(self, unraisable: Any) -> None:
        error: BaseException | None = unraisable.exc_value
        is_main = threading.current_thread() is threading.main_thread()
        if error is not None and is_main and isinstance(error, tuple(self.kinds)) and _is_running():
            _alarm.set(error)
        else:
            self._before(unraisable)

    @classmethod
    def is_above(cls, frame: FrameType | None) -> bool:
        """Whether a hook waits for this frame, or is it."""
        while frame is not None and frame.f_code is not cls.__call__.__code__:
            frame = frame.f_back
        return frame is not None


def insist(kind: type[BaseException]) -> None:
    """From now on errors of this kind are not lost in the main thread, whose handlers of signals raise
    them."""
    hook = sys.unraisablehook
    if not isinstance(hook, _Hook):
        sys.unraisablehook = hook = _Hook(hook)
        atexit.register(_alarm.give_back)
    hook.kinds.add(kind)


def settle() -> None:
    """Raise now what would be raised in a moment: another program is about to take this one's place, and
    SIGALRM would end it."""
    if (error := _alarm.give_back()) is not None:
        raise error.with_traceback(None)


def _is_running() -> bool:
    """Whether Python does not yet end the program: then it waits for threads and calls what is registered."""
    return threading.main_thread().is_alive() and not sys.is_finalizing()
