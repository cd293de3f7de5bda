"""Events: all that the supervisor decides by. Data only; what people are told besides is news (news.py)."""

from __future__ import annotations

from dataclasses import dataclass

from paddle._launch.phases import Phase


@dataclass(frozen=True, slots=True)
class Answered:
    """A node has done its step of a phase."""

    node: int
    phase: Phase


@dataclass(frozen=True, slots=True)
class Heard:
    """A node gave a sign of life."""

    node: int


@dataclass(frozen=True, slots=True)
class RoleReady:
    """A pserver serves."""

    role: str


@dataclass(frozen=True, slots=True)
class RoleJoined:
    """A trainer has come to a pserver, which says so."""

    role: str


@dataclass(frozen=True, slots=True)
class RoleMeets:
    """A trainer has met others of its job; or comes to meet them, and finds nobody at the place."""

    role: str
    finds_nobody: bool


@dataclass(frozen=True, slots=True)
class Missed:
    """Others wait for these trainers, as a pserver says."""

    roles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JobBroke:
    """A pserver says that the job broke: by which roles, itself perhaps, or what else, as far as it knows."""

    role: str
    culprits: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Barred:
    """A shard of a pserver says whose place no other process can take, of those that are gone: ever, before
    the pass has ended, and of those that have said goodbye. It says all of them, first of all when its
    process begins, and whenever they are others than before."""

    pserver: str
    shard: str
    ever: tuple[str, ...]
    until_pass_ends: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShardRestarted:
    """A process of a pserver was killed, and its parent starts it again; ``how`` it ended."""

    pserver: str
    shard: str
    how: str


@dataclass(frozen=True, slots=True)
class RoleExited:
    """A role's process has ended: its exit status, or minus the signal that killed it. ``why``: what is known
    of that besides, by others than the role itself."""

    role: str
    status: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class NodeFailed:
    """A node could not do what it was asked; it still waits to be stopped."""

    node: int
    text: str


@dataclass(frozen=True, slots=True)
class NodeEnded:
    """Nothing goes on at a node any more."""

    node: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Signalled:
    """The launcher got a signal."""

    signum: int


@dataclass(frozen=True, slots=True)
class StopAsked:
    """Somebody asks, from elsewhere, that the job be stopped. ``grace_s``: for roles to end by themselves,
    None for the usual; ``is_killing``: at once, by force; ``by``: in words, who asks."""

    grace_s: float | None = None
    is_killing: bool = False
    by: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed."""


Event = (
    Answered
    | Heard
    | RoleReady
    | RoleJoined
    | RoleMeets
    | Missed
    | JobBroke
    | Barred
    | ShardRestarted
    | RoleExited
    | NodeFailed
    | NodeEnded
    | Signalled
    | StopAsked
    | Tick
)
