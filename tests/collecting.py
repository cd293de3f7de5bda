"""What is left behind is seen while Python's collector stands still: else it is gone now and then."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collecting_nothing() -> Iterator[None]:
    """Garbage that goes in circles stays meanwhile."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
