"""Loading: modules are imported without being searched for garbage meanwhile.

An import of hundreds of modules makes hundreds of thousands of objects that stay, and the collector looks
through them again and again while they become more: a fifth of the time in which a worker loads what it
needs. It must never know what is loaded.

Guarantee: after a block, however it ends, the collector is on if it was before, and so it is in a process
that is forked meanwhile. Nothing waits for another thread or for a signal's handler: where blocks of several
threads overlap, the first that ends switches it on for all. What was made meanwhile counts as old; garbage
among it is found when next all is looked through.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import get_ident

_MANY = 10_000  # fewer are looked through in a moment
_threads: set[int] = set()  # those that have switched it off, and are to switch it on again


@contextmanager
def undisturbed() -> Iterator[None]:
    """Load in this block, in any thread."""
    if not gc.isenabled():  # by a block around this one, or by the program
        yield
        return
    try:
        _threads.add(get_ident())
        gc.disable()
        yield
    finally:
        _threads.discard(get_ident())
        if gc.get_count()[0] > _MANY and not gc.get_freeze_count():  # what a program has frozen stays frozen
            gc.freeze()
            gc.unfreeze()  # into the oldest generation, all of it
        gc.enable()


def _begin_anew() -> None:
    """In a child: threads that load are its parent's."""
    if _threads:
        gc.enable()
    _threads.clear()


os.register_at_fork(after_in_child=_begin_anew)
