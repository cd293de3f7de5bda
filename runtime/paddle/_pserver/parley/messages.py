"""What is said where processes meet: values only."""

from __future__ import annotations

import msgspec


class Seat(msgspec.Struct, frozen=True):
    """One of the places of a process: ``rank`` of ``size`` in ``world``."""

    world: str
    size: int
    rank: int


class Tell(msgspec.Struct, frozen=True):
    """Who has ``seat`` has come to its ``round``-th meeting, from 0. ``parts``: what it has for each, or one
    for all. ``wait_s``: after which it wants to hear who is waited for."""

    seat: Seat
    round: int
    parts: list[bytes]
    wait_s: float


class Told(msgspec.Struct, frozen=True, tag=True):
    """What each has for who asked, in the order of ranks; None: of one that is left out."""

    parts: list[bytes | None]


class Waiting(msgspec.Struct, frozen=True, tag=True):
    """Ranks that have not come yet; ``unseen``: those of them that nobody has heard of."""

    missing: list[int]
    unseen: list[int]


class Here(msgspec.Struct, frozen=True):
    """A process is alive."""

    seats: list[Seat]


class Leave(msgspec.Struct, frozen=True):
    """It will not come any more."""

    seats: list[Seat]


class Heard(msgspec.Struct, frozen=True):
    """That was heard."""
