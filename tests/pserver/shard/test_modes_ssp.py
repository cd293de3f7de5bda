"""Bounded staleness, where trainers or shards are lost or come late. Its guarantee: tests/pserver/oracle."""

from __future__ import annotations

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Answer, Mark, Push, Welcome

from ..talk import ONE, Talk, update


def ssp(staleness: int) -> ModeSpec:
    return ModeSpec(name="ssp", staleness=staleness)


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


def test_a_process_in_the_place_of_one_that_was_held_waits_for_nobody() -> None:
    """It has asked nothing here yet: who waits for the end of the pass waits for it too, however far it has
    come at other shards."""
    talk = Talk(3, update(mode=ssp(1))).start()
    for trainer in (0, 1, 2, 0, 0):
        talk.push(trainer, ONE)
    assert talk.shard.clocks.paces == [3, 1, 1]
    talk.end_pass(2)
    assert talk.shard.barrier.missing(talk.shard.roster) == [1], "for whom trainer 0 is held"
    talk.lose(0)
    talk.hello(0, "another process", Mark(2, 0, 3))
    assert talk.shard.clocks.paces == [3, 1, 1]
    assert talk.shard.barrier.missing(talk.shard.roster) == [0, 1]


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
