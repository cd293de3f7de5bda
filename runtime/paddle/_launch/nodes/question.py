"""A question to who sits at a terminal.

It must never know what it is about. Guarantee: only ``y`` or ``yes`` is a yes; where nobody sits there nobody
is asked, and that is a no.
"""

from __future__ import annotations

import sys
from typing import TextIO

from paddle._streams import show


def is_asked(stdin: TextIO | None) -> bool:
    """Whether somebody sits there."""
    return stdin is not None and stdin.isatty()


def ask(question: str, stdin: TextIO | None = None, stdout: TextIO | None = None) -> bool:
    """Ask it; gives whether the answer is yes."""
    stdin = sys.stdin if stdin is None else stdin
    if not is_asked(stdin):
        return False
    show(f"{question} [y/N] ", stdout, end="")
    return stdin.readline().strip().lower() in ("y", "yes")
