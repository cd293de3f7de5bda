"""Standard streams of a process that serves or trains: closed, full or read by nobody, they stop nothing.

It must never know what is said.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO


def open_closed() -> None:
    """Have those that a shell has closed (``>&-``) lead nowhere. Else the next socket would have the number
    of one, and be sent what is meant for people."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it has the lowest number that is free, which is this one
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115  for good
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115  for good


class CannotPrint(OSError):
    """What a command is for could not be printed; ``strerror`` says so."""


def show(text: str, stream: TextIO | None = None, end: str = "\n") -> bool:
    """Print what a command is for. ``stream``: None: standard output. Gives whether somebody may read more:
    `head` perhaps has enough. Raises CannotPrint."""
    try:
        _print(text, stream, end)
    except BrokenPipeError:
        return False
    except OSError as error:
        raise CannotPrint(error.errno, f"cannot print: {error.strerror}") from error
    return True


def announce(text: str) -> None:
    """Print lines to standard output, at once and in one piece, for others print there, too."""
    with suppress(OSError):
        _print(text)


def abandon() -> None:
    """Have standard output lead nowhere: what could not be written would be tried again at the end, and be
    Python's last word."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _print(text: str, stream: TextIO | None = None, end: str = "\n") -> None:
    stream = sys.stdout if stream is None else stream
    try:
        stream.write(f"{text}{end}")
        stream.flush()
    except OSError:
        abandon()
        raise


def complain(text: str) -> None:
    """Print lines to standard error likewise."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()
