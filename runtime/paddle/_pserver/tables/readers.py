"""Readers: those who still read a table as it was (frozen.py, live.py), for as long as somebody has them.

It must never know what they read. Guarantee: one that nobody has any more is forgotten. Whoever gives it up
may be another thread: all that changes this is one step of the interpreter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar
from weakref import ref

Read = TypeVar("Read")


class Readers(Generic[Read]):
    """See the module's text."""

    def __init__(self) -> None:
        self.known: dict[int, ref[Read]] = {}  # empty: nobody reads

    def add(self, frozen: Read) -> None:
        """One more."""
        key, known = id(frozen), self.known  # nobody else has this number before it is forgotten
        known[key] = ref(frozen, lambda _: known.pop(key, None))

    def now(self) -> Sequence[Read]:
        """All that there are; next to always none."""
        if not self.known:
            return ()
        return [frozen for each in list(self.known.values()) if (frozen := each()) is not None]
