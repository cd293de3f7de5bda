"""Waits for what comes of itself, and fails with what it waited for where that never comes."""

import threading
import time
from collections.abc import Callable
from typing import Any

PATIENCE_S = 240.0  # for a busy machine: nothing is asserted of how long it took


def until(
    condition: Callable[[], Any], what: str, patience_s: float = PATIENCE_S, seen: Callable[[], str] = str
) -> Any:
    """Wait for a condition; gives what it gave. ``seen``: what there is to see instead, where it does not
    come."""
    end = time.monotonic() + patience_s
    while True:
        is_last = time.monotonic() >= end  # before it looks: who stood still behind a look looks once more
        if found := condition():
            return found
        assert not is_last, f"waited {patience_s} s for: {what}. {seen()}"
        threading.Event().wait(0.01)
