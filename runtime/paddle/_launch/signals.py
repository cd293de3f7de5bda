"""INT, TERM and HUP to the launcher, from its first moment to its last.

Until a job runs they raise ``Stopped``; while it runs the launch answers them (launch.py); when all is said
they end the process. A shell's ``&`` had INT ignored: it is heard all the same. Under nohup HUP stays
ignored: to outlive the terminal is what was asked for.

Guarantee: what root paddle.py held back since it began is answered, and no signal ends the launcher with
another status than 128 and its number.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType

from paddle._insistence import insist

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(KeyboardInterrupt):
    """A signal ended the launcher. ``when``: in words, what it did."""

    def __init__(self, signum: int, when: str = "") -> None:
        super().__init__(f"stopped by {signal.Signals(signum).name}{when}")
        self.exit_status = 128 + signum


def heard() -> tuple[signal.Signals, ...]:
    """The signals that are to be answered."""
    return tuple(n for n in SIGNALS if n != signal.SIGHUP or signal.getsignal(n) != signal.SIG_IGN)


def hold_back() -> None:
    """From now on they wait until they are answered: a command that still loads has nothing to end."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def answer() -> None:
    """From now on the first signal raises ``Stopped``, wherever Python is; the next one ends the process."""
    insist(Stopped)
    for signum in heard():
        signal.signal(signum, _stop)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)


@contextlib.contextmanager
def held_back() -> Iterator[None]:
    """What must not be left halfway, and is short: signals are answered behind it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (*SIGNALS, signal.SIGALRM))  # insistence
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def leave_at_once() -> None:
    """From now on a signal ends the process: nothing is left to do."""
    for signum in heard():
        signal.signal(signum, lambda number, _: os._exit(128 + number))


def _stop(signum: int, _: FrameType | None) -> None:
    leave_at_once()
    raise Stopped(signum)
