"""Exits: whether the process ends by ``sys.exit`` with an error, told to who says goodbye at its end.

Python keeps what an uncaught error was (``sys.last_value``) for whoever runs at exit, but not that of
``sys.exit(7)``. So from :func:`listen` on ``sys.exit`` raises a SystemExit that notices how it goes: one that
a program catches goes while functions run, the one that ends the process when none does any more.

It must never know a job. Guarantee: an exit that was caught is none. ``raise SystemExit(7)``, and an ``exit``
that was imported from ``sys`` before, are not seen.
"""

from __future__ import annotations

import sys
import threading
from typing import NoReturn

_python = sys.exit
_uncaught: str | None = None


class _Exit(SystemExit):
    """One that tells when nothing has caught it."""

    def __del__(self) -> None:
        global _uncaught
        is_last = sys._getframe().f_back is None and threading.current_thread() is threading.main_thread()
        if is_last and self.code not in (None, 0):
            _uncaught = f"SystemExit: {self.code}"


_Exit.__name__ = _Exit.__qualname__ = SystemExit.__name__


def listen() -> None:
    """From now on know of it. Whoever has put another ``sys.exit`` in its place is left in peace."""
    if sys.exit is _python:
        sys.exit = _exit


def uncaught() -> str | None:
    """With what the process ends, if it does by an error of ``sys.exit``."""
    return _uncaught


def _exit(status: object = None, /) -> NoReturn:
    raise _Exit(status)


_exit.__name__ = _exit.__qualname__ = "exit"
_exit.__doc__ = _python.__doc__
