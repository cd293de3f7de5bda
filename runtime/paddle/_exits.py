"""Exits: whether the process ends by a SystemExit with an error, told to who says goodbye at its end.

Python keeps what an uncaught error was (``sys.last_value``) for whoever runs at exit, but not a SystemExit,
however it was raised: of that it reads the ``code``, when no function runs any more, and forgets it. So from
:func:`listen` on that attribute notices who reads it. Where Python makes no object of what ``sys.exit`` was
given until somebody catches it (before 3.12), ``sys.exit`` makes one.

It must never know a job. Guarantee: an exit that was caught is none. What ``exit`` was that a program has
imported from ``sys`` before is not seen before 3.12.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from functools import cache
from typing import NoReturn

_python = sys.exit
_code = SystemExit.__dict__["code"]
_uncaught: str | None = None


@cache
def listen() -> None:
    """From now on know of it. Whoever has put another ``sys.exit`` in its place is left in peace."""
    (attributes,) = gc.get_referents(SystemExit.__dict__)  # a built-in class refuses to be assigned to
    attributes["code"] = property(_read, _code.__set__, _code.__delete__, _code.__doc__)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(SystemExit))
    if sys.exit is _python:
        sys.exit = _exit


def uncaught() -> str | None:
    """With what the process ends, if it does by such an error."""
    return _uncaught


def _read(error: SystemExit) -> object:
    """Its code."""
    global _uncaught
    code = _code.__get__(error)
    is_last = sys._getframe().f_back is None and threading.current_thread() is threading.main_thread()
    if is_last and code not in (None, 0):
        _uncaught = f"{type(error).__name__}: {error}"
    return code


def _exit(status: object = None, /) -> NoReturn:
    raise SystemExit(status)


_exit.__name__ = _exit.__qualname__ = "exit"
_exit.__doc__ = _python.__doc__
