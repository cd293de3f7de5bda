"""Vain: trainers that look for the others where those met, though who held the place has ended for good.

Pure; the time is an argument. It must never know why that one has ended. Guarantee: a trainer is none of
these for what it said while the place was still to be opened, and was only heard late.
"""

from __future__ import annotations

_ON_ITS_WAY_S = 5.0


class Vain:
    """See the module's text."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}

    def begin_again(self) -> None:
        """The whole job does."""
        self._since.clear()

    def looks(self, role: str, now: float) -> bool:
        """It finds nobody, and nobody will be there; gives whether it has looked for so long that it may be
        believed."""
        return now - self._since.setdefault(role, now) >= _ON_ITS_WAY_S
