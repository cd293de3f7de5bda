"""Complaints: errors that say what a user asked for that cannot be, and how an uncaught one is told.

It must never know what was asked. Guarantee: a program may catch a complaint as any exception. One that does
not ends as after any error, every exit handler run, but with status 2 and one paragraph: the line of the
program that asked, and the message. Other errors, threads and interactive sessions are as ever.

``python -X dev train.py`` shows the whole traceback of a complaint too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from types import FrameType, TracebackType

_OURS = os.path.dirname(__file__) + os.sep  # noqa: PTH120  code objects hold their file's name as text
_PYTHONS = os.path.dirname(os.__file__) + os.sep  # noqa: PTH120
_INSTALLED = os.path.join(_PYTHONS, "site-packages") + os.sep  # noqa: PTH118
# Through which this package calls itself, too; and itself, whose dataclasses have functions of no file.
_LIBRARIES = {"aiohttp", "fabric", "invoke", "numba", "numpy", "paddle"}
_Hook = Callable[[type[BaseException], BaseException, TracebackType | None], object]


class Complaint(Exception):
    """A wrong call, flag or setting; the message is one paragraph that says what to do."""

    exit_status = 2


@cache
def tell_uncaught() -> None:
    """From now on uncaught complaints are told so; whatever told of errors before tells of the others."""
    sys.excepthook = partial(_tell, sys.excepthook)


def _tell(
    before: _Hook, kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if not isinstance(error, Complaint) or _is_interactive():
        before(kind, error, trace)
        return
    if sys.flags.dev_mode:
        before(kind, error, trace)
    elif sys.stderr:
        with suppress(OSError, ValueError):  # nobody reads it, or it is closed
            print(_paragraph(error, trace), file=sys.stderr, flush=True)
    raise SystemExit(error.exit_status)  # Python obeys it here, as anywhere


def _is_interactive() -> bool:
    """Whether somebody goes on typing after an error, who is not to lose the session."""
    return hasattr(sys, "ps1") or bool(sys.flags.inspect)


def _paragraph(error: Complaint, trace: TracebackType | None) -> str:
    return " ".join(f"{_place(trace)}{error}".split())


def _place(trace: TracebackType | None) -> str:
    """The last line of the program, not of this package, its libraries or Python, that led to the error."""
    file, number = "", 0
    while trace:
        if _is_the_programs(trace.tb_frame):
            file, number = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
    if not file:
        return ""
    with suppress(ValueError, OSError):  # it is elsewhere, or there is no current folder any more
        file = str(Path(file).relative_to(Path.cwd()))
    return f"{file}:{number}: "


def _is_the_programs(frame: FrameType) -> bool:
    if str(frame.f_globals.get("__name__")).partition(".")[0] in _LIBRARIES:
        return False
    file = frame.f_code.co_filename
    is_pythons = file.startswith(_PYTHONS) and not file.startswith(_INSTALLED)
    return not (is_pythons or file.startswith((_OURS, "<frozen ")))
