"""Removes a workspace that was sent and in which nothing was trained.

It reads a line of JSON, {"root", "place"}, on standard input. Guarantee: nothing is removed that is not a
folder directly below ``root``, or that an agent has.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path

from .killer import PATIENCE_S
from .part import is_held


def main() -> int:
    """Remove it, as far as that can be done."""
    signal.alarm(PATIENCE_S)
    order = json.loads(sys.stdin.readline())
    root, place = Path(order["root"]), Path(order["place"])
    if place.parent != root or place.name in ("", ".", "..") or place.is_symlink():
        sys.exit(f"{os.fspath(place)} is no folder directly below {os.fspath(root)}")
    if is_held(place / "log" / "agent.log"):
        sys.exit(f"{os.fspath(place)} is in use")
    shutil.rmtree(place, ignore_errors=True)
    return 0
