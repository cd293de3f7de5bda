"""Unsaid: trainers that have ended well without a goodbye, so that others wait for them.

A program that ends says goodbye to pservers; one that ends by os._exit does not. Pure; the time is an
argument. Guarantee: a trainer that did say goodbye is none of these, whatever was on its way meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable

_ON_ITS_WAY_S = 5.0


class Unsaid:
    """See the module's text."""

    def __init__(self) -> None:
        self._ended: dict[str, float] = {}

    def ended(self, role: str, now: float) -> None:
        """It has, well."""
        self._ended[role] = now

    def first(self, awaited: Iterable[str], now: float) -> str:
        """Of trainers for whom others wait the first of these, once; else empty."""
        late = (role for role in awaited if now - self._ended.get(role, now) >= _ON_ITS_WAY_S)
        found = next(late, "")
        self._ended.pop(found, None)
        return found
