"""BLAS, for those that run programs: threads, and what is said of its kernel.

It must never know a program. Guarantee: one thread of BLAS where nobody chose, since its others spin beside
whatever else is at work; a kernel that was pinned before this process began is told on standard error, once
in a process. Processes that are launched, or that this one starts later, have no pin and say nothing.
"""

from __future__ import annotations

import os
from functools import cache

from paddle import _blas
from paddle._streams import complain


@cache
def settle() -> None:
    """Before the first program is run; does nothing another time."""
    if notice := _blas.settle(os.environ):
        complain(f"paddle: {notice} before Python starts (env -u {' -u '.join(_blas.PINS)} python ...)")


def report() -> str:
    """The library, its kernel and its threads in a line."""
    return f"Matrices are multiplied by {_blas.loaded() or 'another library than OpenBLAS'}."
