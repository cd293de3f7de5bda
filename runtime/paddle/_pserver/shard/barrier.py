"""Barrier: the questions that wait for other trainers, for how long, and when patience ends.

It must never know what an answer will be; it knows the kinds of questions only to tell for whom they wait:
a Declare for trainer 0, the others for those in the pass whom the mode names. Guarantee: while anything
waits, ``verdict`` ends it no later than ``timeout_s`` after the oldest question was asked; where those who
wait take turns, after the last of them had its own (go_on) and whoever is missing was told to come (called);
where all that waits has ended its pass, after the last that was heard of one that has not. One because of
whom others do their part again has this time once more, and no more until it has come (begin_again). Not
while its shard stands still. It is only about those whose time is over: others may be missing for less.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import NamedTuple, TypeVar

import msgspec

from paddle._pserver.protocol.announcing import Announce
from paddle._pserver.protocol.messages import Declare, EndPass, Push
from paddle._pserver.shard.roster import Roster, Standing, Trainer

FIRST_NOTICE_S = 5.0
LONGEST_NOTICE_S = 60.0

Question = Declare | Push | EndPass | Announce
Asked = TypeVar("Asked", Declare, Push, EndPass, Announce)
Awaited = Callable[[Set[int], Set[int]], Set[int]]
"""For whom of those in the pass those who wait do."""


class Wait(msgspec.Struct, frozen=True):
    """A question that is not answered yet."""

    question: Question
    since: float


class Verdict(NamedTuple):
    """Why the barrier will not be met, and because of whom: those whose time is over."""

    reason: str
    missing: list[int]


class Barrier:
    """The open questions of one shard, by trainer: each has at most one. ``awaited``: the mode's, once there
    is one."""

    def __init__(self, timeout_s: float) -> None:
        self.awaited: Awaited = lambda present, waiting: present - waiting
        self._stands, self._stood_at = False, 0.0
        self._went_on_at = float("-inf")
        self._called: dict[int, float] = {}
        self._held: set[int] = set()  # because of whom others did their part again
        self._spent: set[int] = set()  # of these, who has had others do so when its time was over
        self._timeout_s = timeout_s
        self._waits: dict[int, Wait] = {}
        self._noticed_since = -1.0  # which oldest question the last notice was about
        self._notice_at = 0.0

    def __contains__(self, trainer: int) -> bool:
        return trainer in self._waits

    def __bool__(self) -> bool:
        return bool(self._waits)

    @property
    def waiting(self) -> list[int]:
        """The trainers with an open question."""
        return list(self._waits)

    @property
    def oldest(self) -> float:
        """When the oldest open question was asked."""
        return min(wait.since for wait in self._waits.values())

    def add(self, trainer: int, question: Question, now: float) -> None:
        """A trainer's question cannot be answered yet."""
        self._waits[trainer] = Wait(question, now)

    def stand(self, stands: bool, now: float) -> None:
        """Whether what would answer the questions may have come, and waits itself: that time is nobody's."""
        if self._stands and not stands:
            stood = now - self._stood_at
            self._waits = {id: Wait(w.question, min(now, w.since + stood)) for id, w in self._waits.items()}
            self._went_on_at = min(now, self._went_on_at + stood)
            self._called = {id: min(now, called + stood) for id, called in self._called.items()}
        elif stands and not self._stands:
            self._stood_at = now
        self._stands = stands

    def go_on(self, trainer: int, now: float) -> None:
        """It takes turns, and has done its part: the next ones are waited for from now on, also by those
        that ask since long."""
        self._went_on_at = now
        self._forget({trainer})

    def called(self, trainer: int, now: float) -> None:
        """It was told to do its part only now, and is waited for from now on; not again from when it is told
        once more, because its connection was lost, as often as that may be."""
        self._called.setdefault(trainer, now)

    def waits_its_turn(self, trainer: int) -> None:
        """It was told to do its part before its turn, and lost its connection; now it waits for others."""
        if trainer not in self._held:
            self._called.pop(trainer, None)

    def begin_again(self, trainer: int, now: float) -> None:
        """Others have to do their part again, as another process has its place: it is waited for anew from
        when it is called, and if it happens once more not anew: what those ask begins each time."""
        if trainer not in self._held:
            self._held.add(trainer)
            self._called.pop(trainer, None)
        elif now - self._called.setdefault(trainer, now) >= self._timeout_s:
            self._spent.add(trainer)

    def left(self, present: Set[int], now: float) -> None:
        """Only these are in the pass. Those that others were told to wait for are waited for from now on."""
        gone = (self._called.keys() | self._held) - present
        self._forget(gone)
        if gone:
            self._called.update(dict.fromkeys(self._held & self._called.keys(), now))
            self._spent.clear()

    def _forget(self, trainers: Set[int]) -> None:
        """How long they were waited for."""
        self._called = {id: called for id, called in self._called.items() if id not in trainers}
        self._held -= trainers
        self._spent -= trainers

    def remove(self, trainer: int) -> None:
        """It is answered, or nobody is there any more to hear the answer."""
        self._waits.pop(trainer, None)

    def waiting_for(self, question: type[Question]) -> list[int]:
        """The trainers with a question of this kind."""
        return [id for id, wait in self._waits.items() if isinstance(wait.question, question)]

    def questions(self, kind: type[Asked]) -> list[tuple[int, Asked]]:
        """Those of this kind, by trainer."""
        return [(id, wait.question) for id, wait in self._waits.items() if isinstance(wait.question, kind)]

    def missing(self, roster: Roster) -> list[int]:
        """Who could answer the questions, and has not."""
        if self.waiting_for(Declare):
            return [0]
        return sorted(self.awaited(roster.present, self._waits.keys()) | self._spent & roster.present)

    def verdict(self, roster: Roster, now: float) -> Verdict | None:
        """Once patience has ended."""
        spent = self._spent & roster.present  # though nobody may wait just now: all are told to bring theirs
        if not (self._waits or spent) or self._stands:
            return None
        waited = self._waited(self.missing(roster) if self._waits else spent, roster, now)
        longest = max(waited.values()) if waited else now - self.oldest
        if longest < self._timeout_s:
            return None
        overdue = [id for id, seconds in waited.items() if seconds >= self._timeout_s]
        reason = (
            f"gave up after {longest:.0f} s (barrier_timeout is {self._timeout_s:.0f} s): missing "
            f"{roster.describe_all(overdue, now)}. Look into that trainer's log; all trainers must be "
            "started, and num_gradient_servers must be their number."
        )
        return Verdict(reason, overdue)

    def _waited(self, missing: Iterable[int], roster: Roster, now: float) -> dict[int, float]:
        """How long each of them is waited for. One that has more batches than others takes its time, while
        it is heard."""
        oldest = max(self.oldest if self._waits else now, self._went_on_at)
        only_pass_ends = len(self.waiting_for(EndPass)) == len(self._waits)

        def since(one: Trainer) -> float:
            if (called := self._called.get(one.id)) is not None:
                begun = called if one.id in self._held else max(called, self._went_on_at)
            else:
                begun = oldest
            if one.state is Standing.LOST:
                return min(begun, one.since)
            return max(begun, one.heard) if called is None and only_pass_ends else begun

        return {id: now - since(roster.trainers[id]) for id in missing}

    def notice(self, roster: Roster, now: float, advise: Callable[[Iterable[int]], str]) -> str | None:
        """From time to time, for whom the open questions wait, and what to do about them."""
        if not self._waits or self._stands:
            return None
        oldest = self.oldest
        if oldest != self._noticed_since:
            self._noticed_since, self._notice_at = oldest, oldest + FIRST_NOTICE_S
        if now < self._notice_at:
            return None
        self._notice_at = now + min(now - oldest, LONGEST_NOTICE_S)
        missing = self.missing(roster)
        waited = self._waited(missing, roster, now)
        left = self._timeout_s - max(waited.values(), default=now - oldest)
        whom = roster.describe_all(missing, now)
        return f"waiting {now - oldest:.0f} s for {whom}, gives up in {left:.0f} s{advise(missing)}"
