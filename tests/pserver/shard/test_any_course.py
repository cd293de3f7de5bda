"""A shard and trainers that do as they should, whatever becomes of connections, disk and shard meanwhile.

Trainers are line.py's rules and a real journal, without threads and bytes: one question at a time; who comes
back tells again what the shard lacks, and then asks again what was open. All that a shard says or cuts is
encoded, and has to be what it was when it is decoded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import msgspec
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import (
    Answer,
    EndPass,
    Goodbye,
    Hold,
    Keep,
    Mark,
    Pull,
    PullRows,
    Push,
    Request,
    Seed,
    Waiting,
    Welcome,
    decode,
    encode,
)
from paddle._pserver.service.status import status
from paddle._pserver.shard.state import Facts, State
from paddle._pserver.tables.gradient import NOTHING, Gradient
from paddle._pserver.trainer.journal import Entry, Journal, Journaled

from ..talk import LEARNING_RATE, Fails, Talk, gradient, update

SOMEBODY = 9
KEPT = SnapshotOptions(folder="a folder", period=2)
MODES = [
    ModeSpec(),
    ModeSpec(name="async"),
    ModeSpec(name="ssp", staleness=1),
    ModeSpec(name="geo"),
    ModeSpec(name="average", k_steps=2),
]
PASSES = st.lists(st.integers(0, 3), min_size=1, max_size=3)
"""How many steps each pass of a trainer has."""


class Process:
    """One trainer: what it still has to ask, what it asks, and what it would tell again."""

    def __init__(self, id: int, passes: list[int], *, ends: bool) -> None:
        self.id, self.name = id, f"process {id}"
        self.is_here = self.is_done = self.has_given_up = False
        self.journal, self.answered = Journal(), Mark()
        self.todo: Iterator[Request] = questions(passes, ends=ends)
        self.open: tuple[Request, Entry | None] | None = None
        self.again: deque[Entry] = deque()
        self.asks: Request | None = None  # what the shard has of it unanswered

    def gradient_of(self, message: Request) -> Gradient:
        return gradient([1, 0, 0, 0], [self.id]) if isinstance(message, Push) else NOTHING


def questions(passes: list[int], *, ends: bool) -> Iterator[Request]:
    """``ends``: also its last pass; else it leaves before."""
    steps = 0
    for number, batches in enumerate(passes):
        for batch in range(batches):
            yield PullRows((5,))
            steps += 1
            yield Push(steps, number, 1, pace=batch + 1)
        if number + 1 < len(passes) or ends:
            yield EndPass(number, number + 1)
            yield Pull()
    yield Goodbye()


class Course:
    """A job of which everything may happen to everybody."""

    def __init__(self, mode: ModeSpec, passes: list[list[int]], *, ends: bool, min_trainers: int = 0) -> None:
        self.in_step = mode.is_in_step
        self.talk = Talk(
            len(passes), update(mode=mode), snapshots=KEPT, serving="this job", min_trainers=min_trainers
        )
        self.talk.disk_is_slow = True
        self.processes = [Process(id, mine, ends=ends) for id, mine in enumerate(passes)]
        for each in self.processes:
            self.talk.hello(each.id, each.name)
            self.talk.declare(each.id)
            each.is_here = True
        self.talk.ask(0, Seed())
        self.talk.ask(0, Seed("t"))
        self.heard = self.written = 0
        self.lasting: State | None = None
        self.has_failed = False
        self.disk()
        self.heard = len(self.talk.replies)

    # What may happen.

    def ask(self, each: Process) -> None:
        """Its next question, if it has an answer to the last one; where it is not there it comes first."""
        if not each.is_here and not each.is_done:
            self.come(each)
        elif each.asks is None and not each.is_done:
            self.put(each, self.next_of(each))

    def next_of(self, each: Process) -> Request:
        if each.again:
            entry = each.again.popleft()
            if each.open is None or entry is not each.open[1]:
                return entry.message
        if each.open is None:
            message = next(each.todo)
            keeps = self.in_step and isinstance(message, Journaled)
            each.open = message, each.journal.add(message) if keeps else None
            if isinstance(message, Journaled) and not keeps:
                each.journal.pass_by(message)
        message, kept = each.open
        return message if kept is None else kept.message

    def come(self, each: Process) -> None:
        reply = next(m for m in self.talk.hello(each.id, each.name, each.answered) if isinstance(m, Welcome))
        if self.in_step:
            assert each.journal.reaches(reply.settled, each.answered), (reply, each.answered)
            each.again = deque(each.journal.lacking(reply.settled))
        self.talk.declare(each.id)
        each.is_here, each.asks = True, None

    def put(self, each: Process, message: Request) -> None:
        each.asks = message
        ids = {"ids": [np.arange(5)]} if isinstance(message, PullRows) else {}
        self.talk.ask(each.id, message, each.gradient_of(message), **ids)

    def lose(self, each: Process) -> None:
        if each.is_here:
            self.talk.lose(each.id)
            each.is_here, each.asks = False, None

    def disk(self) -> None:
        """What is being written lasts now."""
        if self.written < len(self.talk.cuts):
            self.written, self.lasting, self.has_failed = len(self.talk.cuts), self.talk.cuts[-1], False
            self.talk.write()

    def fail(self) -> None:
        """It could not be written, but for the first one."""
        if self.lasting is not None and self.written < len(self.talk.cuts):
            self.written, self.has_failed = len(self.talk.cuts), True
            self.talk.write("the disk is full")

    def kill(self) -> None:
        """The shard starts anew from what lasts; not while that does not know of one that has left."""
        gone = [each.id for each in self.processes if each.has_given_up]
        known = [] if self.lasting is None else [one.is_gone for one in self.lasting.facts.trainers]
        if self.has_failed or not all(known[id] for id in gone):
            return
        self.talk = self.talk.restart(self.lasting)
        self.talk.disk_is_slow = True
        self.heard = self.written = 0
        for each in self.processes:
            each.is_here, each.asks = False, None

    # What must be, whatever happens.

    def look(self) -> None:
        for to, message in self.talk.replies[self.heard :]:
            kind, meta = encode(message)
            assert decode(kind, memoryview(meta)) == message
            if to < len(self.processes):
                self.hear(self.processes[to], message)
        self.heard = len(self.talk.replies)
        for cut in self.talk.cuts[-1:]:
            assert msgspec.msgpack.decode(msgspec.msgpack.encode(cut.facts), type=Facts) == cut.facts
        assert all(one.pushes >= 0 for one in status(self.talk.shard, self.talk.now).trainers)
        assert self.talk.shard.broken is None

    def hear(self, each: Process, message: Any) -> None:
        if isinstance(message, Waiting) or each.asks is None:
            return
        assert isinstance(message, Answer), (each.name, each.asks, message)
        asked, each.asks = each.asks, None
        if each.open is not None and asked is (each.open[1].message if each.open[1] else each.open[0]):
            each.open, each.answered = None, each.journal.told
            each.is_done = isinstance(asked, Goodbye)
            each.is_here = each.is_here and not each.is_done
        each.journal.prune(message.durable)


def run(course: Course, random: Random, peril: float, *more: Callable[[Process], object]) -> None:
    """Until all is over; for a while with perils."""
    perils: list[Callable[[Process], object]] = [
        *more,
        course.lose,
        lambda each: course.fail(),
        lambda each: course.kill(),
        lambda each: course.talk.ask(SOMEBODY, Hold(course.talk.shard.clocks.version)),
        lambda each: course.talk.ask(SOMEBODY, Keep()),
        lambda each: course.talk.wait(3),
    ]
    for turn in range(3000):
        if course.talk.shard.outcome is not None:
            break
        each = random.choice(course.processes)
        if turn < 500 and random.random() < peril:
            random.choice(perils)(each)
        elif random.random() < 0.3:
            course.disk()
        else:
            course.ask(each)
        course.look()
        if turn >= 500:
            course.talk.wait(1)
    assert all(each.is_done or isinstance(each.open and each.open[0], Goodbye) for each in course.processes)
    assert course.talk.shard.outcome is not None and course.talk.shard.outcome.exit_status == 0


JOBS: dict[str, Any] = {
    "mode": st.sampled_from(MODES),
    "ends": st.booleans(),
    "passes": st.lists(PASSES, min_size=1, max_size=3),
    "seed": st.integers(0, 1 << 32),
    "peril": st.sampled_from([0.1, 0.3, 0.5]),
}


def alike(passes: list[list[int]]) -> list[list[int]]:
    """As many passes for all."""
    most = max(len(mine) for mine in passes)
    return [[*mine, *[0] * (most - len(mine))] for mine in passes]


@given(**JOBS)
@settings(deadline=None, max_examples=150)
def test_trainers_that_do_as_they_should_all_end_well(
    mode: ModeSpec, ends: bool, passes: list[list[int]], seed: int, peril: float
) -> None:
    course = Course(mode, alike(passes), ends=ends)
    run(course, Random(seed), peril)
    if mode.is_in_step:
        assert course.talk.w[0] == -LEARNING_RATE * sum(map(sum, passes))


@given(**JOBS)
@settings(deadline=None, max_examples=150)
def test_those_that_are_left_end_well_where_min_trainers_allows(
    mode: ModeSpec, ends: bool, passes: list[list[int]], seed: int, peril: float
) -> None:
    course = Course(mode, alike([[2], *passes]), ends=ends, min_trainers=1)

    def give_up(each: Process) -> None:
        """It fails and says so; what it had asked is not answered. Another is there, and does not leave."""
        others = [other for other in course.processes if other is not each and other.is_here]
        if each.is_here and any(not isinstance(other.asks, Goodbye) for other in others):
            each.is_done, each.has_given_up = True, True
            course.talk.goodbye(each.id, "ValueError: no such file")
            course.lose(each)

    def haunt(each: Process) -> None:
        """One that was left out comes back."""
        if course.talk.shard.roster.trainers[each.id].is_left_out:
            assert course.talk.hello(each.id, each.name, each.answered) == [Fails("Stale", "goes on without")]

    run(course, Random(seed), peril, give_up, haunt)
