"""Told to stop: SIGTERM ends a trainer as Ctrl+C does, by an error, so that its servers hear of it.

Python would end where it stands and say goodbye to nobody: servers of other machines would miss the trainer
until their patience is over. Rules:

1. It is listened to from the first exchange with servers on, by the main thread, and only where nobody else
   has said what SIGTERM does.
2. A second SIGTERM ends the process at once.
3. A copy that this process has made by fork ends at once, too: it trains nothing.

It must never know how a goodbye is said. Guarantee: the status is 143, as a shell says of whoever dies of it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

from paddle._insistence import insist


class ToldToStop(SystemExit):
    """An error that nobody has made."""

    def __init__(self) -> None:
        super().__init__(128 + signal.SIGTERM)

    def __str__(self) -> str:
        return "by SIGTERM"


def listen(tell: Callable[[BaseException], None]) -> None:
    """Have ``tell`` hear of it, and the main thread raise it."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        return
    own = os.getpid()

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.SIG_DFL)
        if os.getpid() != own:
            os.kill(os.getpid(), number)
            return
        error = ToldToStop()
        tell(error)
        raise error

    insist(ToldToStop)
    signal.signal(signal.SIGTERM, stop)
