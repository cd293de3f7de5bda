"""Spared: trainers that a job goes on without, and who is told of those that have ended for good.

Pservers are, and the trainer at whom trainers meet (_pserver/parley). Pure. It must never know how they are
told. Guarantee: one of them that is started again is told of all that were spared before.
"""

from __future__ import annotations

from collections.abc import Iterable

from paddle._launch.actions import Action, StartRole, Tell, TellFallen
from paddle._launch.again.unsaid import Unsaid
from paddle._launch.cause import LEFT_UNSAID, Blame, Cause, how_ended


class Spared:
    """See the module's text. ``least``: so many others must run; 0: all must. ``host``: at whom trainers
    meet. ``ends``: how each has ended."""

    def __init__(self, least: int, host: str = "") -> None:
        self._least, self.host = least, host
        self.ends: dict[str, int] = {}
        self.unsaid = Unsaid()

    def begin_again(self) -> None:
        """The whole job does."""
        self.ends.clear()
        self.unsaid = Unsaid()

    def may(self, running: int) -> bool:
        """Whether the job goes on with so many."""
        return 0 < self._least <= running

    def why_missed(self, role: str) -> str:
        """Why it does not go on without the host after all: a trainer is to meet others there."""
        return (
            f"the job went on without it, and {role} is to meet the others there (fleet.util, "
            f"fleet.barrier_worker and the like): where trainers meet, --min_trainers cannot spare "
            f"{self.host}. Begin again; with --snapshot_dir and --max_restart the whole job does by itself"
        )

    def why_too_late(self, role: str, *, is_again: bool) -> str:
        """Why a trainer that comes to meet others cannot, as the host has ended well. ``is_again``: it was
        started again, and this is said of it; else it is said of the host."""
        if not is_again:
            return (
                f"{role} came to meet the others there (fleet.util, fleet.barrier_worker and the like) only "
                "afterwards. Each of them has to make the same calls"
            )
        return (
            "it was started again, and is to meet the others (fleet.util, fleet.barrier_worker and the like) "
            f"at {self.host}, which had ended by then"
        )

    def why_not(self, running: int) -> str:
        """Why it does not, where it might have; else empty."""
        if not self._least:
            return ""
        return (
            f"fewer trainers are left ({running}) than --min_trainers={self._least} says. Begin again with "
            "all of them, or with a smaller --min_trainers"
        )

    @property
    def told(self) -> str:
        """For whom others ended well, in words; empty where none was spared."""
        whom = f", but for {', '.join(self.ends)}" if self.ends else ""
        return whom + (f"; {self.host} was to write the model" if self.host in self.ends else "")

    def take(self, role: str, status: int, pservers: Iterable[str]) -> list[Action]:
        """The job goes on without a trainer that has ended so."""
        self.ends[role] = status
        text = f"{_how(status)}; the job goes on without it (--min_trainers={self._least})"
        host = [self.host] if self.host and self.host not in self.ends else []
        return [Tell(role, text), *self._told(role, [*pservers, *host])]

    def again(self, pserver: str) -> list[Action]:
        """A pserver is there anew."""
        return [told for role in self.ends for told in self._told(role, [pserver])]

    def start(self, roles: Iterable[str]) -> list[Action]:
        """These roles are started again."""
        started = list(roles)
        told = [told for role in started if role == self.host for told in self.again(role)]
        return [*(StartRole(role) for role in started), *told]

    def tell_cause(self, cause: Cause | None, pservers: Iterable[str]) -> list[Action]:
        """The job ends: if because of a role, that is told, before others say that they were stopped."""
        if cause is None or cause.role is None:
            return []
        return [TellFallen(pserver, cause.role, cause.text) for pserver in pservers]

    def add_to(self, blame: Blame, roles: Iterable[str], why: str = "") -> None:
        """It is because of these, too, that the job ends. ``why``: though it had gone on without them."""
        for role in roles:
            if role in self.ends:
                blame.ended(role, self.ends[role])
                blame.note(role, why)

    def _told(self, role: str, hearers: Iterable[str]) -> list[Action]:
        how = _how(self.ends[role])
        return [TellFallen(hearer, role, f"{role} {how}", goes_on=True) for hearer in hearers]


def _how(status: int) -> str:
    """It has ended: who ended well said nothing, or it would not be spared."""
    return how_ended(status) if status else LEFT_UNSAID
