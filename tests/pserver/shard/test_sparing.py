"""A job goes on without trainers that are lost, where min_trainers lets it."""

from __future__ import annotations

from typing import Any

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import ServerOptions, SnapshotOptions
from paddle._pserver.protocol.messages import Answer, Mark, Welcome
from paddle._pserver.shard.state import Facts, cut
from paddle._pserver.snapshots.snapshot_file import decoded, encoded

from ..talk import ONE, Fails, Talk, update

SELDOM = SnapshotOptions(folder="a folder", period=1000)


def job(min_trainers: int = 2, **changes: Any) -> Talk:
    return Talk(3, update(**changes), min_trainers=min_trainers, barrier_timeout_s=10).start()


def test_a_step_that_waits_for_a_lost_trainer_goes_on_without_it_once_patience_ends() -> None:
    talk = job(reduce="mean")
    talk.lose(2)
    assert talk.push(0, ONE) == talk.push(1, ONE) == []
    talk.wait(9)
    assert talk.told(0) != Answer(1)
    talk.wait(2)
    assert talk.told(0) == talk.told(1) == Answer(1)
    assert talk.w[0] == -0.5  # the mean of two
    assert any("goes on without trainer 2" in note and "min_trainers=2" in note for note in talk.notes)
    assert talk.push(0, ONE) == []
    assert talk.push(1, ONE) == [Answer(2)]


def test_the_end_of_a_pass_and_of_the_job_need_it_no_more() -> None:
    talk = job(mode=ModeSpec(name="async"))
    talk.push(2, ONE)
    talk.lose(2)
    talk.end_pass(0)
    talk.end_pass(1)
    talk.wait(11)
    assert talk.told(0) == talk.told(1) == Answer(1)
    talk.goodbye(0)
    talk.goodbye(1)
    assert talk.shard.outcome is not None
    assert talk.shard.outcome.exit_status == 0


def test_one_that_is_silent_is_told_and_parted_from() -> None:
    talk = job()
    talk.push(0, ONE)
    talk.push(1, ONE)
    talk.wait(11)
    assert talk.told(2) == Fails("TrainerLost", "goes on without trainer 2")
    assert talk.dropped == [2]  # what it has not read yet of an answer is of the step before
    assert talk.closed == [2]
    assert talk.told(0) == Answer(1)
    assert talk.hello(2) == [Fails("DuplicateTrainer", "trainer_id=2 is taken")]


def test_one_that_says_it_failed_is_left_out_at_once() -> None:
    talk = job()
    talk.push(0, ONE)
    talk.push(1, ONE)
    talk.goodbye(2, "ValueError: no such file")
    assert talk.told(0) == talk.told(1) == Answer(1)
    assert talk.shard.broken is None


def test_a_snapshot_of_that_moment_can_be_read_again() -> None:
    talk = job(min_trainers=1)
    talk.push(2, ONE)
    talk.goodbye(2, "ValueError: no such file")  # its push waits for the others' still
    kept = restored_of(talk)
    assert kept.trainers[2].is_gone and not kept.trainers[2].unsettled
    talk.push(0, ONE)
    assert talk.push(1, ONE) == [Answer(1)]
    assert not restored_of(talk).trainers[2].unsettled


def restored_of(talk: Talk) -> Facts:
    """What a snapshot that is written now says when it is read."""
    model = talk.shard._beginning.model
    assert model is not None
    written = cut(model, talk.shard.clocks, talk.shard.roster, is_regular=True)
    data = b"".join(encoded(written.facts, written.arrays))
    return decoded(lambda first, size: data[first : first + size], len(data), is_regular=True).facts


def left_out(**options: Any) -> Talk:
    """Trainer 2's connection broke after a step, and the others went on."""
    talk = Talk(3, update(reduce="mean"), min_trainers=1, barrier_timeout_s=10, **options)
    for trainer in range(3):
        talk.hello(trainer, f"process {trainer}")
        talk.declare(trainer)
    talk.seed()
    for trainer in range(3):
        talk.push(trainer, ONE)
    talk.lose(2)
    talk.push(0, ONE)
    talk.push(1, ONE)
    talk.wait(11)
    assert talk.told(0) == Answer(2)
    return talk


@pytest.mark.parametrize("is_restarted", [False, True])
def test_one_whose_connection_is_whole_again_is_refused(is_restarted: bool) -> None:
    talk = left_out(snapshots=SELDOM)
    assert [cut.facts.version for cut in talk.cuts] == [0, 2]  # before the first step, and without trainer 2
    if is_restarted:
        talk = talk.restart()
        for trainer in range(2):
            talk.hello(trainer, f"process {trainer}", Mark(2, 0))
            talk.declare(trainer)
    assert talk.hello(2, "process 2", Mark(1, 0)) == [Fails("Stale", "goes on without trainer 2 (was left")]
    assert talk.closed == [2]
    assert talk.hello(2, "another") == [Fails("DuplicateTrainer", "trainer 2 (was left out")]
    assert talk.push(0, ONE) == []
    assert isinstance(talk.push(1, ONE)[0], Answer)
    assert talk.w[0] == -1.5


@pytest.mark.parametrize("first", range(3))
def test_the_next_job_has_all_places_whoever_comes_first(first: int) -> None:
    before = left_out(snapshots=SELDOM)
    talk = Talk(3, before.spec, snapshots=SELDOM)
    talk._take(talk.shard.restore(before.cuts[-1], "a folder", now=0.0))
    for trainer in (first, *(id for id in range(3) if id != first)):
        assert isinstance(talk.hello(trainer, f"new {trainer}")[0], Welcome)
        talk.declare(trainer)
    assert talk.push(0, ONE) == talk.push(1, ONE) == []
    assert isinstance(talk.push(2, ONE)[0], Answer)


def test_of_one_that_has_ended_for_good_nobody_waits_for_the_end_of_patience() -> None:
    talk = job(reduce="mean")
    talk.push(0, ONE)
    talk.push(1, ONE)
    talk.fallen(2)
    assert talk.told(0) == talk.told(1) == Answer(1)
    assert talk.w[0] == -0.5
    assert any("goes on without trainer 2" in note and "it was killed" in note for note in talk.notes)
    talk.fallen(2)  # a pserver is told again
    assert talk.push(0, ONE) == []
    assert talk.push(1, ONE) == [Answer(2)]


def test_it_is_left_out_once_enough_others_are_there() -> None:
    talk = job(reduce="mean")
    talk.push(0, ONE)
    talk.lose(1)
    talk.fallen(2)
    assert talk.shard.broken is None
    talk.hello(1)
    talk.declare(1)
    assert talk.push(1, ONE) == [Answer(1)]
    assert talk.told(0) == Answer(1)
    assert talk.w[0] == -0.5


def test_one_that_falls_before_the_job_has_begun_is_left_out_as_it_begins() -> None:
    talk = Talk(3, update(reduce="mean"), min_trainers=2, barrier_timeout_s=10)
    talk.fallen(2)
    for trainer in range(2):
        talk.hello(trainer)
        talk.declare(trainer)
    talk.seed()
    talk.push(0, ONE)
    assert talk.push(1, ONE) == [Answer(1)]


def test_nobody_else_gives_the_initial_values_of_a_trainer_0_that_has_ended() -> None:
    talk = Talk(3, min_trainers=2)
    talk.hello(1)
    talk.declare(1)
    talk.fallen(0)
    assert talk.told(1) == Fails("TrainerLost", "it was killed, before it had given the initial values")
    assert talk.shard.broken is not None
    assert talk.shard.broken.culprits == (0,)


def test_where_the_job_does_not_go_on_the_one_that_ended_is_named_and_none_that_says_so_later() -> None:
    talk = job()
    talk.fallen(2, goes_on=False)
    assert talk.told(0) == Fails("TrainerLost", "it was killed")
    talk.goodbye(1, "ToldToStop: told to stop by SIGTERM")
    assert talk.shard.broken is not None
    assert talk.shard.broken.culprits == (2,)


def test_one_that_ended_after_its_goodbye_is_not_missed() -> None:
    talk = job()
    talk.end_pass(2)
    talk.goodbye(2)
    notes = len(talk.notes)
    talk.fallen(2)
    assert (len(talk.notes), talk.shard.broken) == (notes, None)


@pytest.mark.parametrize("min_trainers", [0, 3])
def test_where_all_are_needed_the_job_breaks(min_trainers: int) -> None:
    talk = job(min_trainers)
    talk.lose(2)
    talk.push(0, ONE)
    talk.wait(11)
    assert talk.shard.broken is not None


def test_too_few_that_are_left_break_it() -> None:
    talk = job()
    talk.lose(2)
    talk.push(0, ONE)
    talk.push(1, ONE)
    talk.wait(11)
    assert talk.shard.broken is None
    talk.lose(1)
    talk.push(0, ONE)
    talk.wait(11)
    assert talk.shard.broken is not None
    assert talk.shard.broken.culprits == (1,)


def test_more_than_there_are_is_refused() -> None:
    with pytest.raises(ValueError, match="--min_trainers is at most --num_gradient_servers"):
        ServerOptions(addresses=("127.0.0.1",), num_gradient_servers=2, min_trainers=3)
