"""Streams: where a command writes to, whatever the letters are that its locale has.

It must never know what is written. Guarantee: no letter is in the way of a line; what a locale lacks is
written as an escape.
"""

from __future__ import annotations

import io
import os
import select
import sys
import threading
from contextlib import suppress
from typing import TextIO

_ESCAPED = "backslashreplace"


def own(stream: TextIO) -> TextIO:
    """Give another way to where ``stream`` leads: a thread stuck in it must not keep Python from ending."""
    try:
        descriptor = os.dup(stream.fileno())
    except (OSError, ValueError):  # it leads to no file
        return stream
    return os.fdopen(descriptor, "w", encoding=stream.encoding, errors=_ESCAPED)


def open_streams() -> None:
    """Have standard output and error take any text. A shell may have closed them (``>&-``): then there is
    nothing to see, and nothing wrong."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115, PTH123  for good
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123  for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ESCAPED)


def end_with_reader() -> None:
    """From now on have this process end, well, once nobody reads its standard output any more: it may be long
    before there is a line to find that out by."""
    gone = select.poll()
    with suppress(OSError, ValueError):  # it leads to no file
        gone.register(sys.stdout.fileno(), 0)  # an error is always told
        threading.Thread(target=_end_once, args=[gone], daemon=True).start()


def _end_once(gone: select.poll) -> None:
    gone.poll()
    os._exit(0)


def can_show(stream: TextIO, text: str) -> bool:
    """Whether its locale has the letters of a text."""
    try:
        text.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def width_of(stream: TextIO) -> int | None:
    """Give the columns of the terminal that it leads to; None where it is none."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None
    except (OSError, ValueError):
        return None
