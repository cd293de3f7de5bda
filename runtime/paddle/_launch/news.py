"""News of a launch: what roles and nodes tell people, and what the launch itself does. Data only.

What the supervisor decides by are its events (events.py). How news are written for programs: bulletins.py.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Printed:
    """Lines that a role printed."""

    role: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grown:
    """What was added to a file of a node's log folder, which no role prints: ``text``, its bytes in UTF-8,
    others as surrogates."""

    node: int
    file: str
    text: str


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


@dataclass(frozen=True, slots=True)
class Restarted:
    """A process of a role was killed and is started again. ``text``: how it ended."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a role is, under the name that whoever runs that machine knows: a pod's, as kubectl takes it."""

    role: str
    address: str


News = Placed | Printed | Grown | Progress | Waiting | Told | Sent | Collected | Restarted


# What the launch itself tells, to those who watch it.


@dataclass(frozen=True, slots=True)
class PlannedNode:
    """A node of a launch, as it is told: ``roles`` by name."""

    node: int
    address: str
    workspace: str
    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Planned:
    """What is launched. ``id``: what tells it from other jobs of its name; ``home``: where results come."""

    job: str
    id: str
    home: str
    nodes: tuple[PlannedNode, ...]


@dataclass(frozen=True, slots=True)
class Entered:
    """The launch is in another phase, ``seconds`` after it began."""

    phase: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Changed:
    """A role is in another state (board.py). ``status``: its exit status, minus the signal that killed it."""

    role: str
    state: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """A line that is shown."""

    text: str


@dataclass(frozen=True, slots=True)
class Failed:
    """Why the job does not end well, as far as that is known. ``lines``: the last of the role to blame;
    ``is_asked_for``: somebody stopped it. ``address``: of the node, or the pod that the role is in."""

    status: int
    text: str
    node: int | None
    role: str | None
    detail: str
    lines: tuple[str, ...]
    is_asked_for: bool
    address: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """The launch is over. ``log``, ``curve`` and ``model``: where these are, empty where there are none.
    ``left``: what of it is still there, in words, and how it is taken away."""

    status: int
    log: str
    curve: str
    model: str
    left: str = ""


Bulletin = News | Planned | Entered | Changed | Said | Failed | Ended
