"""Bounded staleness, against what it guarantees."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Answer, Mark, Push, Welcome

from ..talk import LEARNING_RATE, ONE, Talk, gradient, update


def ssp(staleness: int) -> ModeSpec:
    return ModeSpec(name="ssp", staleness=staleness)


class BoundedStaleness(RuleBasedStateMachine):
    """Trainers push, end passes and leave in any order; a reference says who must wait and what is seen.

    The reference is the guarantee: every push counts at once, and its trainer goes on when nobody in the pass
    has pushed fewer than its own pushes minus ``staleness``.
    """

    @initialize(trainers=st.integers(1, 4), staleness=st.integers(0, 3))
    def begin(self, trainers: int, staleness: int) -> None:
        self.talk = Talk(trainers, update(mode=ssp(staleness))).start()
        self.staleness = staleness
        self.sum = 0.0
        self.clock = dict.fromkeys(range(trainers), 0)  # those in the job; pushes in this pass
        self.in_pass = set(range(trainers))
        self.held: set[int] = set()
        self.checked = 0

    def may_act(self) -> list[int]:
        return sorted(self.in_pass - self.held)

    @precondition(lambda self: self.may_act())
    @rule(data=st.data(), value=st.integers(-8, 8))
    def push(self, data: st.DataObject, value: int) -> None:
        trainer = data.draw(st.sampled_from(self.may_act()))
        self.clock[trainer] += 1
        self.held.add(trainer)
        self.sum += value
        self.expect(lambda: self.talk.push(trainer, gradient([value, 0, 0, 0])))

    @precondition(lambda self: self.may_act())
    @rule(data=st.data(), leaves=st.booleans())
    def end(self, data: st.DataObject, leaves: bool) -> None:
        trainer = data.draw(st.sampled_from(self.may_act()))
        leaves = leaves and len(self.clock) > 1
        self.in_pass.discard(trainer)
        if leaves:
            del self.clock[trainer]
        self.expect(lambda: self.talk.goodbye(trainer) if leaves else self.talk.end_pass(trainer))

    def expect(self, act: object) -> None:
        """``act`` gives an answer to each trainer that is free now, and to no other."""
        before = len(self.talk.replies)
        act()  # type: ignore[operator]
        free = {id for id in self.held if self.slowest() >= self.clock[id] - self.staleness}
        self.held -= free
        told = [id for id, reply in self.talk.replies[before:] if isinstance(reply, Answer)]
        over = set() if self.in_pass else set(self.clock)
        for id in free | over:
            assert id in told, f"trainer {id} is free and was not told"
            assert self.talk.bodies[id][0][0] == np.float32(-LEARNING_RATE * self.sum)
        assert set(told) - free - over <= set(range(4)) - set(self.clock), "somebody was told too early"
        if not self.in_pass:
            self.in_pass = set(self.clock)
            self.clock = dict.fromkeys(self.clock, 0)

    def slowest(self) -> int:
        return min((self.clock[id] for id in self.in_pass), default=1 << 30)

    @invariant()
    def nobody_is_too_far_ahead(self) -> None:
        for id in self.may_act() if hasattr(self, "talk") else ():
            assert self.clock[id] <= self.slowest() + self.staleness


BoundedStaleness.TestCase.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)
TestBoundedStaleness = BoundedStaleness.TestCase


def test_a_trainer_that_is_lost_stops_the_others_at_the_staleness_and_is_blamed() -> None:
    talk = Talk(3, update(mode=ssp(2)), barrier_timeout_s=10).start()
    talk.lose(2)
    for _ in range(2):
        assert talk.push(0, ONE) and talk.push(1, ONE)
    assert talk.push(0, ONE) == []
    talk.wait(9)
    assert talk.shard.broken is None
    talk.wait(2)
    assert talk.shard.broken is not None
    assert talk.shard.broken.culprits == (2,)  # and not 1, which is computing


def test_a_trainer_that_comes_late_counts_as_the_slowest_of_the_others() -> None:
    talk = Talk(3, update(mode=ssp(1)))
    for trainer in (0, 1):
        talk.hello(trainer)
        talk.declare(trainer)
    talk.seed()
    assert talk.push(1, ONE)
    assert talk.push(0, ONE)
    assert talk.push(0, ONE) == []
    talk.hello(2)
    assert talk.told(0) == Answer(3)  # trainer 2 goes on from step 1, like trainer 1
    talk.declare(2)
    assert talk.push(0, ONE) == []
    assert talk.push(2, ONE) == [Answer(5)]
    assert talk.told(0) == Answer(3)
    assert talk.push(1, ONE) == [Answer(6)]
    assert talk.told(0) == Answer(6)


# Restored shards.


def two_apart(staleness: int = 2) -> Talk:
    """Trainer 0 is two steps ahead of trainer 1, and trainer 1 has done one."""
    talk = Talk(2, update(mode=ssp(staleness)), snapshots=SnapshotOptions(folder="here", period=2))
    for trainer in range(2):
        talk.hello(trainer, f"process {trainer}")
        talk.declare(trainer)
    talk.seed()
    talk.push(1, ONE)
    for _ in range(3):
        talk.push(0, ONE)
    return talk


def test_paces_outlive_a_shard_with_what_its_snapshot_had_and_with_what_came_after() -> None:
    for version in (2, 4):  # trainer 0 had done 1 of its 3 steps, or all
        before = two_apart()
        talk = before.restart(next(cut for cut in before.cuts if cut.facts.version == version))
        talk.hello(0, "process 0", Mark(3, 0, 3))
        talk.hello(1, "process 1", Mark(1, 0, 1))
        talk.declare(0)
        talk.declare(1)
        assert talk.ask(0, Push(4, 0, 1), ONE) == []
        assert isinstance(talk.ask(1, Push(2, 0, 1), ONE)[0], Answer)
        assert isinstance(talk.told(0), Answer)


def test_a_push_that_was_held_is_held_again() -> None:
    before = two_apart(1)
    assert before.told(0) != Answer(4)
    talk = before.restart()
    assert talk.shard.clocks.version == 4
    talk.hello(0, "process 0", Mark(2))
    talk.hello(1, "process 1", Mark(1))
    talk.declare(0)
    talk.declare(1)
    assert talk.ask(0, Push(3, 0, 1), ONE) == []
    assert talk.shard.clocks.version == 4  # not applied again
    assert talk.ask(1, Push(2, 0, 1), ONE) == [Answer(5, False, Mark(1))]
    assert talk.told(0) == Answer(5, False, Mark(3))


def test_a_trainer_counts_alike_at_all_shards_whatever_each_has_seen_of_it() -> None:
    """A new process comes to two shards, to one of them some steps later."""
    shards = [Talk(2, update(mode=ssp(1))) for _ in range(2)]
    begun = []
    for talk, steps in zip(shards, (1, 5), strict=True):
        for trainer in range(2):
            talk.hello(trainer, f"process {trainer}")
            talk.declare(trainer)
        talk.seed()
        for step in range(1, steps + 1):
            for trainer in range(2):
                talk.ask(trainer, Push(step, 0, 1, pace=step), ONE)
        talk.lose(1)
        (welcome,) = talk.hello(1, "a new process")
        talk.declare(1)
        assert isinstance(welcome, Welcome)
        begun.append(welcome.pace)
    assert begun == [1, 5]
    for talk in shards:
        talk.ask(1, Push(1, 0, 1, pace=max(begun) + 1), ONE)
        assert talk.shard.clocks.paces[1] == 6


def test_a_shard_that_knows_neither_the_process_nor_the_pass_takes_the_pace_it_is_told() -> None:
    """Else this trainer would hold others there that hold it elsewhere."""
    talk = two_apart().restart()
    talk.hello(0, "process 0", Mark(30, 1, 20))
    talk.declare(0)
    talk.hello(1, "a new process", Mark(9, 0, 19))
    talk.declare(1)
    assert talk.shard.clocks.paces == [20, 19]
    assert isinstance(talk.ask(0, Push(31, 1, 1, pace=21), ONE)[0], Answer)
    assert talk.ask(0, Push(32, 1, 1, pace=22), ONE) == []


def test_a_new_job_begins_with_no_paces() -> None:
    talk = two_apart().restart()
    for trainer in range(2):
        talk.hello(trainer, f"new {trainer}")
        talk.declare(trainer)
    for step in (1, 2):
        assert isinstance(talk.ask(1, Push(step, 0, 1), ONE)[0], Answer)
    assert talk.ask(1, Push(3, 0, 1), ONE) == []
