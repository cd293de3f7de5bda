"""How many functions are called: what does not depend on the machine, nor on what else it does."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


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


def instructions_of(run: Callable[[], object]) -> int:
    """The instructions that Python itself goes through: a loop that calls nothing is seen by them."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return note

    run()
    before = sys.gettrace()
    gc.disable()
    sys.settrace(note)
    try:
        run()
    finally:
        sys.settrace(before)
        gc.enable()
    return count
