"""A shard and trainers that do as they should, whatever becomes of connections, disk and shard meanwhile.

Trainers are line.py's rules and a real journal, without threads and bytes: one question at a time; who comes
back tells again what the shard lacks, and then asks again what was open. Who is killed is started again as a
launcher does: once the shard bars nobody from its place. All that a shard says or cuts is encoded, and has to
be what it was when it is decoded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import (
    Answer,
    Declare,
    Declared,
    EndPass,
    Goodbye,
    Hold,
    Keep,
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
from paddle._pserver.shard.reunion import LONGEST_S
from paddle._pserver.shard.state import Facts, State
from paddle._pserver.trainer.journal import Journaled

from ..talk import LEARNING_RATE, MODEL, Fails, Talk, update
from .process import Process

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
            each.is_here = each.is_in = True
        self.talk.ask(0, Seed())
        self.talk.ask(0, Seed("t"))
        self.heard = self.written = 0
        self.lasting: State | None = None
        self.restarts = 0  # of the shard
        self.over = 0  # so many passes, as far as anybody has heard
        self.is_astray = False  # one began without those who know with which pass
        self.is_over = False  # nobody can take up what a process had
        self.disk()
        self.heard = len(self.talk.replies)

    # What may happen.

    def ask(self, each: Process) -> None:
        """Its next question, if it has an answer to the last one; where it is not there it comes first."""
        if each.is_dead:
            self.succeed(each)
        elif not each.is_here and not each.is_done:
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
        self.talk.connect(each.id)
        told = {"next_pass": each.next_pass, "has_begun": each.is_in, "over": each.over}
        replies = self.talk.hello(each.id, each.name, each.answered, **told)
        if replies == [Fails("DuplicateTrainer")] and not each.is_in:
            self.is_over = True  # it was about to take a place that this shard does not know to be free
            return
        reply = next(m for m in replies if isinstance(m, Welcome))
        each.welcomed(reply)
        if self.in_step:
            assert each.journal.reaches(reply.settled, each.answered), (reply, each.answered)
            each.again = deque(each.journal.lacking(reply.settled))
        self.declare(each)

    def begin(self, each: Process, declared: Declared) -> None:
        """It is in. One that is new begins with the pass that it is told."""
        if each.number and not each.is_in and not self.in_step:
            each.begin(declared.place[0])
            self.is_astray |= self.talk.now - each.came_at >= LONGEST_S
            assert each.next_pass >= self.heard_of(each) or self.is_astray
        each.is_in, each.over = True, each.next_pass

    def declare(self, each: Process) -> None:
        """It is in once that is answered."""
        each.is_here, each.seen, each.asks = True, self.restarts, Declare(MODEL, self.talk.spec, 0, 1)
        self.talk.ask(each.id, each.asks)

    def succeed(self, each: Process) -> None:
        """Another process takes its place, unless the shard bars it."""
        barred = self.talk.shard.arrivals.barred()
        if each.id in barred.until_pass_ends:
            return
        if each.id in barred.left:
            each.is_dead, each.is_done = False, True  # it needs no other
            return
        self.talk.connect(each.id)
        replies = self.talk.hello(each.id, each.successor(0).name)
        if each.id in barred.ever:
            assert replies == [Fails("DuplicateTrainer", "--resume=JOB")]
            assert not self.knows_all(each) or self.talk.spec.mode.is_local
            self.is_over = True
            return
        reply = next(m for m in replies if isinstance(m, Welcome))
        told = each.next_pass + any(isinstance(m, EndPass) for m in [each.open and each.open[0]])
        assert reply.next_pass <= max(told, self.over)
        assert reply.next_pass >= each.next_pass or not self.knows_all(each)
        newer = self.processes[each.id] = each.successor(reply.next_pass)
        newer.came_at = self.talk.now
        newer.welcomed(reply)
        self.declare(newer)

    def heard_of(self, each: Process) -> int:
        """The pass after the last whose end others have heard of, who are there."""
        others = [one for one in self.processes if one is not each and not (one.is_dead or one.is_done)]
        return max((one.next_pass for one in others if one.answered.passes), default=0)

    def put(self, each: Process, message: Request) -> None:
        each.asks = message
        if isinstance(message, Push | EndPass):
            each.is_between = isinstance(message, EndPass)
        ids = {"ids": [np.arange(5)]} if isinstance(message, PullRows) else {}
        self.talk.ask(each.id, message, each.gradient_of(message), **ids)

    def lose(self, each: Process) -> None:
        if each.is_here:
            self.talk.lose(each.id)
            each.is_here, each.asks = False, None

    def die(self, each: Process) -> None:
        """It is killed. In step only where it owes nothing: else the job is over."""
        if not each.is_done and (each.is_between or not self.in_step):
            each.has_told_all = each.seen == self.restarts and each.is_in and not each.again
            self.lose(each)
            each.is_dead = True

    def knows_all(self, each: Process) -> bool:
        """Whether the shard has all that a process had told that was killed."""
        return each.has_told_all and each.seen == self.restarts

    def disk(self) -> None:
        """What is being written lasts now."""
        if self.written < len(self.talk.cuts):
            self.written, self.lasting = len(self.talk.cuts), self.talk.cuts[-1]
            self.talk.write()

    def fail(self) -> None:
        """It could not be written, but for the first one."""
        if self.lasting is not None and self.written < len(self.talk.cuts):
            self.written = len(self.talk.cuts)
            self.talk.write("the disk is full")

    def kill(self) -> None:
        """The shard starts anew from what lasts; while that does not know of one that was left out, others
        would wait for it until their patience ends."""
        gone = [one.id for one in self.processes if one.has_given_up or one.is_unknown or self.is_missed(one)]
        known = [] if self.lasting is None else [one.is_gone for one in self.lasting.facts.trainers]
        if not all(known[id] for id in gone) or all(each.is_done for each in self.processes):
            return
        self.talk = self.talk.restart(self.lasting)
        self.talk.disk_is_slow = True
        self.heard = self.written = 0
        self.restarts += 1
        for each in self.processes:
            each.is_here, each.asks = False, None

    def lasts_that_left(self, each: Process) -> bool:
        """A shard that starts anew does not wait for it."""
        return self.lasting is not None and self.lasting.facts.trainers[each.id].is_gone

    def is_missed(self, each: Process) -> bool:
        """It was killed while it waited for the answer to its goodbye."""
        was_leaving = each.open is not None and isinstance(each.open[0], Goodbye)
        return was_leaving and (each.is_dead or each.is_done)

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
        self.nobody_waits_for_one_that_is_ahead()

    def nobody_waits_for_one_that_is_ahead(self) -> None:
        """But where both it and the shard were killed, and nobody knows any more how far it was."""
        if self.restarts:
            return
        here = [each for each in self.processes if each.is_here and each.id in self.talk.shard.roster.present]
        for each in self.processes:
            if isinstance(each.asks, EndPass):
                assert all(other.next_pass <= each.asks.pass_id for other in here)

    def nobody_is_left_behind_in(self, pass_id: int) -> None:
        """Somebody has heard that it is over: so it is for all that are in."""
        there = [one for one in self.processes if one.is_in and not (one.is_dead or one.is_done)]
        assert self.is_astray or all(one.next_pass >= pass_id for one in there)

    def hear(self, each: Process, message: Any) -> None:
        if isinstance(message, Waiting | Welcome) or each.asks is None:
            return
        assert isinstance(message, Answer | Declared), (each.name, each.asks, message)
        assert isinstance(message, Declared) == isinstance(each.asks, Declare)
        asked, each.asks = each.asks, None
        if isinstance(asked, Declare):
            self.begin(each, message)
            return
        if each.open is not None and asked is (each.open[1].message if each.open[1] else each.open[0]):
            each.open, each.answered = None, each.journal.told
            if isinstance(asked, EndPass):
                each.next_pass = each.over = asked.pass_id + 1
                self.over = max(self.over, each.next_pass)
                self.nobody_is_left_behind_in(asked.pass_id)
            each.is_done = isinstance(asked, Goodbye)
            each.is_unknown = each.is_done and not self.lasts_that_left(each)
            assert not (each.is_unknown and self.talk.shard.roster.is_anybody_in)
            each.is_here = each.is_here and not each.is_done
        if isinstance(message, Answer):
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
        if course.talk.shard.outcome is not None or course.is_over:
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
    if course.is_over:
        return
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
@example(mode=ModeSpec(name="async"), ends=True, passes=[[1], [0, 0], [1]], seed=16307, peril=0.5)
@example(mode=ModeSpec(name="async"), ends=True, passes=[[0], [0], [0, 0, 0]], seed=75859, peril=0.3)
@example(mode=ModeSpec(), ends=True, passes=[[0], [0], [0]], seed=75859, peril=0.3)
@example(mode=ModeSpec(name="geo"), ends=True, passes=[[0, 3], [2, 0, 0], [1]], seed=2831018088, peril=0.3)
@example(mode=ModeSpec(), ends=True, passes=[[1, 3]], seed=666420476, peril=0.7)
@settings(deadline=None, max_examples=150)
def test_trainers_that_do_as_they_should_all_end_well(
    mode: ModeSpec, ends: bool, passes: list[list[int]], seed: int, peril: float
) -> None:
    course = Course(mode, alike(passes), ends=ends)
    run(course, Random(seed), peril, course.die)
    if mode.is_in_step and not course.is_over:
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
        if each.is_here and not each.is_dead and any(not isinstance(other.asks, Goodbye) for other in others):
            each.is_done, each.has_given_up = True, True
            course.talk.goodbye(each.id, "ValueError: no such file")
            course.lose(each)

    def haunt(each: Process) -> None:
        """One that was left out comes back."""
        if course.talk.shard.roster.trainers[each.id].is_left_out:
            assert course.talk.hello(each.id, each.name, each.answered) == [Fails("Stale", "goes on without")]

    run(course, Random(seed), peril, give_up, haunt, course.die)
