"""News of a launch: what roles and nodes tell people. What the supervisor decides by are its events."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Printed:
    """Lines that a role printed."""

    role: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a trainer is."""

    role: str
    pass_id: int
    batch_id: int
    cost: float
    samples_per_s: float


@dataclass(frozen=True, slots=True)
class Waiting:
    """Others wait for these trainers, since so long."""

    trainers: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Told:
    """Something that the user should read. ``source``: the role or node it comes from."""

    source: str
    text: str


@dataclass(frozen=True, slots=True)
class Sent:
    """How much of a package a node has been sent, of what it lacks, in bytes."""

    node: int
    sent: int
    total: int


@dataclass(frozen=True, slots=True)
class Collected:
    """A folder of a node's workspace, ``log`` or ``output``, is now where the user looks for it."""

    node: int
    folder: str


News = Printed | Progress | Waiting | Told | Sent | Collected
