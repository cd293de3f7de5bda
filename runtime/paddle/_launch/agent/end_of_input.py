"""The end of standard input: whoever asked has gone, and nobody waits for what is done here."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable

_CHUNK = 1 << 16


def notice(then: Callable[[], object]) -> None:
    """Have ``then`` called when it has come, in a thread of its own. Nothing else may read there."""
    threading.Thread(target=_wait, args=[sys.stdin.fileno(), then], daemon=True).start()


def _wait(descriptor: int, then: Callable[[], object]) -> None:
    while os.read(descriptor, _CHUNK):
        pass
    then()
