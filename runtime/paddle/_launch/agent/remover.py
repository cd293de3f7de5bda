"""Removes a workspace that was sent and in which nothing was trained.

It reads a line of JSON, {"root", "place"}, on standard input, and ends with that: the launcher waits for it,
but not for long. Guarantee: nothing is removed that is not a folder directly below ``root``, or that an agent
has. A workspace loses its name before anything else, so half of one is none: the next dispatch removes the
rest, and so does `fab clean`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

from . import end_of_input, remains
from .killer import PATIENCE_S
from .part import is_held


def main() -> int:
    """Remove it, as far as that can be done."""
    signal.alarm(PATIENCE_S)
    order = json.loads(sys.stdin.readline())
    end_of_input.notice(lambda: os._exit(0))
    root, place = Path(order["root"]), Path(order["place"])
    if place.parent != root or place.name in ("", ".", "..") or not remains.is_folder(place):
        sys.exit(f"{os.fspath(place)} is not a folder directly below {os.fspath(root)}")
    if is_held(place / "log" / "agent.log"):
        sys.exit(f"{os.fspath(place)} is in use")
    shutil.rmtree(remains.begin(place), ignore_errors=True)
    return 0
