"""The frame of a command that runs one machine's part of a job: signals, typed errors, the exit status.

It must never know what the command does. Guarantee: what ends it is said once, and no signal ends it with
another status than 128 and its number; neither does a stream that is closed, or whose locale lacks a letter.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable

from paddle._launch import signals
from paddle._launch.errors import LaunchError
from paddle._launch.screens.stream import open_streams


def attend(run: Callable[[], int], say: Callable[[str], None]) -> int:
    """Run a command; gives its exit status."""
    open_streams()
    try:
        signals.answer()
        status = run()
    except (LaunchError, signals.Stopped) as end:
        say(str(end))
        status = end.exit_status
    signals.leave_at_once()
    return status


def print_line(line: str) -> None:
    """Print a line to standard error, where the shell or the engine shows it."""
    with contextlib.suppress(OSError):  # nobody reads it any more
        print(line, file=sys.stderr, flush=True)
