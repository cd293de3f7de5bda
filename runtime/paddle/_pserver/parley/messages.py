"""What is said where processes meet: values only."""

from __future__ import annotations

import msgspec


class Tell(msgspec.Struct, frozen=True):
    """``rank``, one of ``size`` in ``world``, has come to its ``round``-th meeting, from 0. ``parts``: what
    it has for each, or one for all. ``wait_s``: how long it waits for the others."""

    world: str
    size: int
    rank: int
    round: int
    parts: list[bytes]
    wait_s: float


class Told(msgspec.Struct, frozen=True):
    """What each has for who asked, in the order of ranks."""

    parts: list[bytes]


class Leave(msgspec.Struct, frozen=True):
    """``rank`` of ``world`` will not come any more."""

    world: str
    rank: int


class Left(msgspec.Struct, frozen=True):
    """That was heard."""
