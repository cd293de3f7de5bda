"""Remedies: what makes up for the end of a role or the loss of a node, so that it is no failure of the job.

Pure; the time is an argument. It must never know the phases' order, nor how anything is stopped or started.
The first of these that can be is taken:

1.  Nothing is missing: a signal ended what had nothing left to do.
2.  A role is started again, by the rules of restarts.py.
3.  The job goes on without a trainer while it trains and enough others run (spared.py).
4.  The whole job begins again, by the rules of lives.py, for a role that a signal killed and that may be
    started once more, or for a node.

Where trainers meet at one that has ended, a role that was started again is as one that could not be.

Guarantee: where nothing can be, it is known why not, for whoever says what became of the job.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import NamedTuple

from paddle._launch.actions import Action, Foretell, Tell
from paddle._launch.again.lives import Lives
from paddle._launch.again.restarts import Restarts
from paddle._launch.again.spared import Spared
from paddle._launch.again.vain import Vain
from paddle._launch.cause import Blame, how_ended
from paddle._launch.events import RoleMeets
from paddle._launch.phases import Phase


class Remedy(NamedTuple):
    """What is done. ``ends_role``: nobody waits for the role any more; ``ends_life``: the whole job begins
    again."""

    actions: list[Action]
    ends_role: bool = False
    ends_life: bool = False


class Missed(NamedTuple):
    """Trainers cannot meet: because of whom, how that one had ended, and why that ends the job."""

    role: str
    status: int
    why: str


class Remedies:
    """See the module's text. ``pservers`` and ``trainers``: the roles; ``blame``: is told why not.
    ``meets_at_first``: see the supervisor."""

    def __init__(
        self,
        pservers: Iterable[str],
        trainers: Iterable[str],
        blame: Blame,
        restarts: Restarts,
        lives: Lives,
        least: int,
        *,
        meets_at_first: bool = True,
    ) -> None:
        self._pservers, self._trainers, self._blame = tuple(pservers), tuple(trainers), blame
        self.restarts, self.lives = restarts, lives
        self.spared = Spared(least, next(iter(self._trainers), ""))
        self._meets_at_first, self._vain = meets_at_first, Vain()

    def of_role(
        self, role: str, status: int, phase: Phase, over: Set[int | str], now: float
    ) -> Remedy | None:
        """For the end of a role: its exit status, or minus the signal that killed it. ``over``: who has
        ended."""
        is_pserver = role in self._pservers
        if text := self.restarts.why_needless(role, status):
            return Remedy([Tell(role, text)], ends_role=True)
        if (why_not := self.restarts.why_not(role, status, is_pserver=is_pserver)) is None:
            return Remedy([Foretell(role, self.restarts.take(role, status, now))])
        running = sum(trainer not in over for trainer in self._trainers)
        if not is_pserver and self.spared.may(running) and phase is Phase.TRAIN:
            return Remedy(self.spared.take(role, status, self.serving(over)), ends_role=True)
        self._blame.note(role, why_not)
        if remedy := self.of_killed(role, status, phase, now):
            return remedy
        if not is_pserver:
            self._blame.note(role, self.spared.why_not(running))
            self.spared.add_to(self._blame, self.spared.ends)
        return None

    def of_killed(self, role: str, status: int, phase: Phase, now: float, why: str = "") -> Remedy | None:
        """For the end of a role that cannot come back alone. ``why``: in words, where that shows later."""
        if status >= 0 or not self._may_begin_again(phase) or not self.restarts.has_left(role):
            return None
        if (why_not := self.lives.why_not()) is not None:
            self._blame.note(role, why_not)
            return None
        self.restarts.spend(role, status)
        how = how_ended(status)
        return self._again(role, why or f"its process {how}", f"{role} {how}", now)

    def of_node(self, node: int, text: str, phase: Phase, now: float) -> Remedy | str:
        """For a node that is lost, as ``text`` says; else that, and why it is not made up for."""
        why_not = self.lives.why_not() if self._may_begin_again(phase) else ""
        if why_not is not None:
            return "; ".join(filter(None, [text, why_not]))
        return self._again(f"node {node}", text, f"node {node} was lost", now)

    def missed(self, met: RoleMeets, phase: Phase, over: Set[int | str], now: float) -> Missed | None:
        """A trainer has met others, or not: gives why it never will; None while it may."""
        if not met.finds_nobody:
            self.restarts.meets(met.role)
        if not met.finds_nobody or phase is not Phase.TRAIN or not self._meets_at_first:
            return None
        host = self.spared.host
        if host in self.spared.ends:
            return Missed(host, self.spared.ends[host], self.spared.why_missed(met.role))
        others = sum(trainer not in over for trainer in self._trainers if trainer != met.role)
        if host not in over or self.restarts.is_to_come(host) or self.spared.may(others):
            return None
        if not self._vain.looks(met.role, now):
            return None
        status = self.restarts.ended_before(met.role)
        why = self.spared.why_too_late(met.role, is_again=bool(status))
        return Missed(met.role if status else host, status, why)

    def serving(self, over: Set[int | str]) -> list[str]:
        """The pservers that have not ended."""
        return [pserver for pserver in self._pservers if pserver not in over]

    def begin_again(self) -> int:
        """The whole job does; gives the number of its life."""
        self.spared.begin_again()
        self._vain.begin_again()
        self.restarts.begin_again()
        return self.lives.begin()

    def _may_begin_again(self, phase: Phase) -> bool:
        is_later = self.lives.number > 1 and Phase.DELIVER <= phase < Phase.TRAIN
        return phase is Phase.TRAIN or is_later

    def _again(self, who: str, text: str, why: str, now: float) -> Remedy:
        return Remedy([Tell(who, f"{text}; {self.lives.take(why, now)}")], ends_life=True)
