"""Carriers: the ways to run a plan on nodes. All speak to the same agent; they differ in how it is reached.

A carrier must never decide: it does what the supervisor says and posts what it hears.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Protocol

from paddle._launch.actions import TellFallen
from paddle._launch.events import Event
from paddle._launch.news import News
from paddle._launch.phases import Phase
from paddle._launch.plan import LaunchPlan
from paddle._launch.turn import Turn

if TYPE_CHECKING:
    from paddle._launch.machines.way import Way
    from paddle._launch.remote import Remote

Post = Callable[[Event | News], None]
Say = Callable[[str], None]


def unheard(text: str) -> None:
    """Say it to nobody."""


class Carrier(Protocol):
    """One launch's hands. No call but ``withdraw`` waits: what comes of it is posted, from any thread."""

    def step(self, node: int, phase: Phase) -> None:
        """Do a node's part of REACH, DELIVER, OPEN or COLLECT; posts ``Answered`` or ``NodeFailed``."""
        ...

    def start(self, role: str) -> None:
        """Start a role on its node; posts ``RoleReady`` and ``RoleExited`` when they come."""
        ...

    def tell(self, fallen: TellFallen) -> None:
        """Tell a pserver, or the trainer at whom others meet, as far as that can be done."""
        ...

    def stop(self, node: int, grace_s: float) -> None:
        """End all that goes on at a node; posts ``NodeEnded``."""
        ...

    def kill(self, node: int) -> None:
        """End all that goes on at a node by force; posts ``NodeEnded`` if that succeeds."""
        ...

    def withdraw(self, nodes: Iterable[int]) -> None:
        """Remove from nodes what this launch has sent there. Waits for it, but not for long."""
        ...

    def hurry(self) -> None:
        """Let ``withdraw`` and ``close`` wait no longer; may be called by a signal meanwhile."""
        ...

    def close(self, say: Say = unheard) -> str:
        """Let go of every node. What still runs there ends by itself, without its leash, or is taken away:
        ``say`` hears how far that is. Gives what is left for the user to take away, in words; mostly none."""
        ...


def carrier(plan: LaunchPlan, post: Post, token: str = "") -> Carrier:
    """Make the carrier for the nodes of a plan. ``token``: the job's, where it is not for this launch to
    make."""
    from paddle._launch.backends.crew import (
        Crew,
    )  # what it takes to run loads slowly: only where it is needed

    if plan.pods is not None:
        from paddle._launch.backends.pods import PodCrew

        return PodCrew(plan, post)
    own = {"token": token} if token else {}
    turn = Turn(plan.home)
    if plan.remote is None:
        from paddle._launch.backends.local import LocalMachine

        return Crew(plan, post, partial(LocalMachine, plan, turn), own)
    from paddle._launch.backends.cargo import Cargo
    from paddle._launch.backends.other import OtherMachine

    cargo = Cargo(plan, plan.remote, post)
    return Crew(plan, post, partial(OtherMachine, plan, turn, _way(plan, plan.remote), cargo), own)


def _way(plan: LaunchPlan, remote: Remote) -> Way:
    """What leads to the nodes of a plan."""
    if remote.mpirun is not None:
        from paddle._launch.machines.mpi import MpiWay

        return MpiWay([node.host for node in plan.nodes], remote.pythons, remote.mpirun)
    from paddle._launch.machines.transport import Transport

    return Transport(remote.host_keys)
