"""Dispatchers: which parameter server a program shows a block of a parameter on.

Shards place values themselves (the parameter server's placement); this is what programs say. Guarantee: the
same blocks and endpoints give the same places on every machine.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any


class PSDispatcher:
    """Chooses among ``pserver_endpoints``."""

    def __init__(self, pserver_endpoints: Sequence[str]) -> None:
        self._eps = list(pserver_endpoints)
        self._step = 0

    @property
    def eps(self) -> list[str]:
        """The endpoints."""
        return self._eps

    def reset(self) -> None:
        """Begin anew."""
        self._step = 0

    def dispatch(self, varlist: Sequence[Any]) -> list[str]:
        """An endpoint for each of ``varlist``."""
        raise NotImplementedError("a split method says where blocks go: RoundRobin, HashName, or one's own")


class HashName(PSDispatcher):
    """By the names of blocks."""

    def dispatch(self, varlist: Sequence[Any]) -> list[str]:
        """See PSDispatcher."""
        return [self._eps[zlib.crc32(_name(each).encode()) % len(self._eps)] for each in varlist]


class RoundRobin(PSDispatcher):
    """In turns."""

    def dispatch(self, varlist: Sequence[Any]) -> list[str]:
        """See PSDispatcher."""
        chosen = []
        for _ in varlist:
            chosen.append(self._eps[self._step])
            self._step = (self._step + 1) % len(self._eps)
        return chosen


def _name(variable: Any) -> str:
    return variable if isinstance(variable, str) else str(getattr(variable, "name", variable))
