"""A turn: while a step is computed, the thread that reads ahead reads a batch.

Whoever tells others what was read, such as the client of a master that hands out tasks, asks here first: what
was read before is to be learned by then. It must never know a batch. Guarantee: for a thread that does not
read ahead nothing is under way.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


class _Here(threading.local):
    """What this thread waits for."""

    wait: Callable[[], None] | None = None
    process = 0


_here = _Here()


def reads_ahead(wait: Callable[[], None]) -> None:
    """This thread reads ahead. ``wait`` returns when no step is under way, and raises GeneratorExit when none
    is going to follow."""
    _here.wait, _here.process = wait, os.getpid()


def learned() -> None:
    """Wait until all batches before the one that this thread reads have been learned."""
    if _here.wait is not None and _here.process == os.getpid():  # in a process of its own nobody learns
        _here.wait()
