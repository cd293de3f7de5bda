"""What a shard's watcher is told: that trainers came, for whom the others wait, and who broke the job."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Save
from paddle._pserver.shard.watch import Watch

from ..talk import Talk, gradient, update
from .test_arrival import joined

NOBODY = ("barred", [], [])
G = gradient([1.0, 2.0, 3.0, 4.0])


class Told:
    """Keeps what it is told."""

    def __init__(self, talk: Talk) -> None:
        self.talk = talk
        self.watch = Watch("shard", self)
        self.all: list[tuple[object, ...]] = []
        self.is_heard = True

    def joined(self) -> None:
        self.all.append(("joined",))

    def waiting(self, trainers: Sequence[int], seconds: float) -> None:
        self.all.append(("waiting", *trainers, seconds))

    def barred(
        self, shard: str, ever: Sequence[int], until_pass_ends: Sequence[int], left: Sequence[int]
    ) -> bool:
        assert shard == "shard"
        self.all.append(("barred", list(ever), list(until_pass_ends), *([list(left)] if left else [])))
        return self.is_heard

    def broken(self, shard: str, reason: str, trainers: Sequence[int], *, is_own: bool) -> None:
        assert (shard, bool(reason)) == ("shard", True)
        self.all.append(("broken", *trainers, is_own))

    def look(self) -> list[tuple[object, ...]]:
        """What it is told now."""
        known = len(self.all)
        self.watch.look(self.talk.shard)
        return self.all[known:]

    def second(self) -> list[tuple[object, ...]]:
        """What it is told when a second has passed."""
        known = len(self.all)
        self.talk.wait(1.0)
        self.watch.look(self.talk.shard)
        self.watch.look_at_clock(self.talk.shard, self.talk.now)
        return self.all[known:]


@pytest.fixture
def told() -> Told:
    watched = Told(Talk(trainers=2, barrier_timeout_s=20.0))
    assert watched.look() == [NOBODY]
    watched.talk.start()
    assert watched.look() == [("joined",)]
    return watched


def test_a_trainer_that_failed_is_named_once(told: Told) -> None:
    told.talk.goodbye(1, "SystemExit: 7")
    assert told.look()[-1] == ("broken", 1, False)
    told.talk.goodbye(0, "TrainerLost: trainer 1 failed")
    assert ("broken", 0, False) not in told.look()


def test_a_trainer_that_failed_because_of_another_shard_is_not_named(told: Told) -> None:
    told.talk.goodbye(0, "TrainerLost: trainer 1 failed", follows=True)
    assert told.look()[-1] == ("broken", False)


def test_who_broke_another_shard_is_named_by_a_trainer_that_has_heard_of_it(told: Told) -> None:
    told.talk.goodbye(0, "TrainerLost: trainer 1 failed", follows=True, culprits=(1, 7))
    assert told.look()[-1] == ("broken", 1, False)


def test_for_whom_the_others_wait_is_told_every_second_and_who_never_came_in_the_end(told: Told) -> None:
    told.talk.push(0, G)
    told.talk.wait(3.0)
    assert told.second() == []
    for seconds in (5.0, 6.0):
        assert told.second() == [("waiting", 1, seconds)]
    told.talk.wait(14.0)
    assert told.look() == [("broken", 1, False)]


def test_a_server_that_ends_early_did_it_itself(told: Told) -> None:
    told.talk.shard.stop("the pserver was told to stop", now=told.talk.now)
    assert told.look() == [("broken", True)]


def test_a_server_that_no_trainer_came_to_has_no_job_to_tell_of() -> None:
    told = Told(Talk(trainers=2))
    told.talk.shard.stop("the pserver was told to stop", now=0.0)
    assert told.look() == [NOBODY]


def test_a_trainer_0_that_ended_before_anybody_came_is_why_a_server_ends() -> None:
    watched = Told(Talk(trainers=2, min_trainers=1))
    assert watched.look() == [NOBODY]
    watched.talk.fallen(0)
    assert watched.look() == [("broken", 0, False)]


def test_whose_place_nobody_can_take_is_told_when_it_changes_and_while_there_is_somebody() -> None:
    talk = joined()
    told = Told(talk)
    assert told.look() == [NOBODY, ("joined",)][::-1]
    talk.push(0, G)
    talk.push(1, G)
    talk.lose(1)  # in the midst of the pass
    assert told.look() == [("barred", [1], [])]
    assert told.look() == []
    assert told.second() == [("barred", [1], [])]
    talk.hello(1, "process 1")  # its connection only broke
    assert told.look() == [NOBODY]
    assert told.second() == []


def test_what_was_not_heard_is_told_again() -> None:
    told = Told(joined())
    told.look()
    told.talk.push(0, G)
    told.talk.push(1, G)
    told.talk.lose(1)
    told.look()
    told.is_heard = False  # the pipe is full
    told.talk.hello(1, "process 1")
    assert told.look() == [NOBODY]
    assert told.second() == [NOBODY]
    told.is_heard = True
    assert (told.second(), told.second()) == ([NOBODY], [])


def test_who_has_said_goodbye_is_told() -> None:
    told = Told(joined())
    told.look()
    told.talk.goodbye(1)
    assert told.look() == [("barred", [], [], [1])]


def test_a_shard_that_was_started_again_tells_it_first_of_all() -> None:
    talk = joined(snapshots=SnapshotOptions(folder="a folder", period=1), serving="this job")
    assert Told(talk.restart()).look() == [NOBODY]  # where nobody has done anything anybody may come
    for trainer in (0, 1):
        talk.push(trainer, G)
    assert Told(talk.restart()).look() == [("barred", [0, 1], [])]  # they alone can tell what it lacks
    for trainer in (0, 1):
        talk.end_pass(trainer)
    talk.ask(0, Save())
    assert Told(talk.restart()).look() == [NOBODY]  # they stand between two passes
    talk.goodbye(0)
    assert Told(talk.restart()).look() == [("barred", [], [], [0])]
    talk.shard.options = dataclasses.replace(talk.shard.options, serving="the next job")
    assert Told(talk.restart()).look() == [NOBODY]


def test_one_that_has_ended_its_pass_can_be_replaced_once_all_have(told: Told) -> None:
    talk = told.talk
    talk.push(0, G)
    talk.push(1, G)
    talk.end_pass(1)
    talk.lose(1)
    assert told.look() == [("barred", [], [1])]
    talk.end_pass(0)
    assert told.look() == [("barred", [], [])]


def test_where_trainers_are_not_in_step_nobody_is_barred_but_who_was_left_out() -> None:
    told = Told(Talk(2, update(mode=ModeSpec(name="async")), min_trainers=1).start())
    told.look()
    told.talk.push(0, G)
    told.talk.push(1, G)
    told.talk.lose(1)
    assert told.look() == []
    told.talk.hello(1, "the newer")
    told.talk.declare(1)
    told.talk.end_pass(1)
    told.talk.lose(1)
    assert told.look() == [
        ("barred", [], [1])
    ]  # but who has ended its pass, and would be ahead of the others
    left = Told(Talk(2, min_trainers=1).start())
    left.look()
    left.talk.goodbye(1, "SystemExit: 7")
    assert left.look() == [("barred", [1], [])]
