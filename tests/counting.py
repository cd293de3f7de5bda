"""How many functions are called: what does not depend on the machine, nor on what else it does."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable


def calls_of(run: Callable[[], object]) -> int:
    """The functions, Python's and others, that Python calls in it; what it does for the first time is over.
    What a function of numpy or of itertools calls for itself is not seen."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    run()
    before = sys.getprofile()
    gc.disable()  # what it calls of objects that others have left is no part of it
    sys.setprofile(count)
    try:
        run()
    finally:
        sys.setprofile(before)
        gc.enable()
    return calls
