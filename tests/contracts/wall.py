"""Wall: one row of the table of who may know whom (walls.py), and how its texts are read."""

from __future__ import annotations

import re
from dataclasses import dataclass

PURE = """
    __future__ abc ast bisect codecs collections contextlib copy csv dataclasses datetime difflib enum
    functools hashlib heapq io itertools json logging math numbers operator re shlex stat statistics
    string struct textwrap types typing warnings weakref zlib
"""
STANDARD = "STANDARD"


@dataclass(frozen=True, slots=True)
class Row:
    """``who`` may import ``ours`` of the package, and ``theirs`` besides what is PURE."""

    who: str
    ours: str = ""
    theirs: str = ""


def expanded(text: str) -> list[str]:
    """The names in a text."""
    names: list[str] = []
    for stem, choices, name in re.findall(r"([\w.]*)\{([^}]*)\}|([\w.]+)", text):
        names += [stem + choice.strip() for choice in choices.split(",")] if choices else [name]
    return names
