"""Actions: all that the supervisor asks for. Data only; a carrier does them (backends)."""

from __future__ import annotations

from dataclasses import dataclass

from paddle._launch.phases import Phase


@dataclass(frozen=True, slots=True)
class Step:
    """Have a node do its step of a phase; it answers with ``Answered`` or ``NodeFailed``."""

    node: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class StartRole:
    """Start a role on its node."""

    role: str


@dataclass(frozen=True, slots=True)
class Foretell:
    """Say that a role is started again soon. ``text``: how it ended, and when that will be."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Tell:
    """Say something of a role."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class TellFallen:
    """Tell ``hearer`` that ``role`` has ended for good, and how; ``goes_on``: the job does, without it."""

    hearer: str
    role: str
    text: str
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class BeginAgain:
    """Let go of all nodes, of which nothing more is heard, to reach them anew for another ``life``."""

    life: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Have a node end everything, whatever it is doing; it answers with ``NodeEnded``."""

    node: int
    grace_s: float


@dataclass(frozen=True, slots=True)
class Kill:
    """End everything at a node by force."""

    node: int


Action = Step | StartRole | Foretell | Tell | TellFallen | BeginAgain | Stop | Kill
