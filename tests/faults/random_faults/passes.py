"""Passes: what parameters are where a pass ends. Each process notes it in a file of its own, so that it is
compared while training goes on.

It must never know a fault, nor a number of a parameter. Guarantee: what is told as different is; of a line
that is still being written nothing is read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np
import xxhash


class End(msgspec.Struct, frozen=True):
    """Of one pass. ``values``: a hash of each parameter."""

    number: int
    values: dict[str, int]


def note(path: Path, number: int, arrays: Mapping[str, np.ndarray]) -> None:
    """The pass has ended, and these are the parameters."""
    end = End(number, {name: xxhash.xxh3_64_intdigest(array.tobytes()) for name, array in arrays.items()})
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(file, msgspec.json.encode(end) + b"\n")
    finally:
        os.close(file)


class Passes:
    """What has been noted so far. ``compared``: by pass, how often one was held against another."""

    def __init__(self) -> None:
        self.compared: dict[int, int] = {}
        self._read: dict[Path, int] = {}  # so much of each file
        self._first: dict[int, tuple[str, End]] = {}  # who noted it first

    def look(self, files: Sequence[tuple[str, Path]]) -> list[str]:
        """What is different among that which is new. ``files``: whose they are, for people."""
        return [said for who, path in files for end in self._new(path) for said in self._compare(who, end)]

    def _new(self, path: Path) -> list[End]:
        if not path.exists():
            return []
        with path.open("rb") as file:
            file.seek(before := self._read.get(path, 0))
            whole, mark, _ = file.read().rpartition(b"\n")
        self._read[path] = before + len(whole) + len(mark)
        return [msgspec.json.decode(line, type=End) for line in whole.splitlines()]

    def _compare(self, who: str, end: End) -> list[str]:
        other, first = self._first.setdefault(end.number, (who, end))
        if first is end:
            return []
        self.compared[end.number] = self.compared.get(end.number, 0) + 1
        return [
            f"{who} has another {name} at the end of pass {end.number} than {other}"
            for name, value in end.values.items()
            if first.values[name] != value
        ]
