"""Loading: modules are imported without being searched for garbage meanwhile.

An import of hundreds of modules makes hundreds of thousands of objects that stay, and the collector looks
through them again and again while they become more: a fifth of the time in which a worker loads what it
needs. It must never know what is loaded.

Guarantee: the collector is as it was once all threads have left their blocks, and in a process that is forked
before that. What was made meanwhile counts as old; garbage among it is found when next all is looked through.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_MANY = 10_000  # fewer are looked through in a moment
_changing = Lock()
_blocks = 0
_was_enabled = False


@contextmanager
def undisturbed() -> Iterator[None]:
    """Load in this block, in any thread."""
    global _blocks, _was_enabled
    with _changing:
        if not _blocks:
            _was_enabled = gc.isenabled()
            gc.disable()
        _blocks += 1
    try:
        yield
    finally:
        with _changing:
            _blocks = max(_blocks - 1, 0)  # a process that was forked here has begun anew
            if not _blocks and _was_enabled:
                _let_go_on()


def _let_go_on() -> None:
    if gc.get_count()[0] > _MANY and not gc.get_freeze_count():  # what a program has frozen stays frozen
        gc.freeze()
        gc.unfreeze()
    gc.enable()


def _begin_anew() -> None:
    """In a child: the threads that load are its parent's, also one that holds the lock."""
    global _changing, _blocks
    _changing = Lock()
    if _blocks and _was_enabled:
        gc.enable()
    _blocks = 0


os.register_at_fork(after_in_child=_begin_anew)
