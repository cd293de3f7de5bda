"""Places that change hands while something else goes wrong: two at once, with the shard, with its disk."""

from __future__ import annotations

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import SnapshotOptions
from paddle._pserver.protocol.messages import Answer, Declared, EndPass, Mark, Push, Save, Waiting, Welcome
from paddle._pserver.shard.arrival import Barred

from ..talk import ONE, Fails, Talk, update
from .test_arrival import joined, welcome

SELDOM = SnapshotOptions(folder="a folder", period=1000)
EACH_STEP = SnapshotOptions(folder="a folder", period=1)
IN = Declared(seed=False, place=(1, 0))
ASYNC = update(mode=ModeSpec(name="async"))


def trained(trainers: int = 2, passes: int = 1, **options: object) -> Talk:
    """So many passes of one step each."""
    talk = joined(trainers, **({"snapshots": SELDOM, "serving": "this job"} | options))
    for pass_id in range(passes):
        for trainer in range(trainers):
            talk.push(trainer, ONE, pass_id=pass_id)
        for trainer in range(trainers):
            talk.end_pass(trainer, pass_id)
    return talk


def begins(talk: Talk, trainer: int, incarnation: str, next_pass: int = 0) -> Welcome:
    """A new process comes, which has pushed nothing."""
    talk._steps[trainer] = 0
    reply = talk.hello(trainer, incarnation, next_pass=next_pass)[0]
    assert isinstance(reply, Welcome), reply
    return reply


# Snapshots that know who has a place.


def test_of_two_that_take_places_at_once_each_is_in_once_a_snapshot_knows_it() -> None:
    talk = trained(3)
    talk.disk_is_slow = True
    talk.lose(1)
    talk.lose(2)
    begins(talk, 1, "new 1")
    assert talk.declare(1) == []
    begins(talk, 2, "new 2")  # after the snapshot for the first one was cut
    talk.write()
    assert talk.told(1) == IN
    assert talk.declare(2) == []
    talk.write()
    assert talk.told(2) == IN
    for trainer in (0, 1, 2):
        talk.push(trainer, ONE, pass_id=1)
    again = talk.restart()
    assert welcome(again, 2, "new 2", Mark(1)).settled == Mark()
    assert again.ask(2, Push(1, 1, 1), ONE) == []


def test_others_that_come_back_meanwhile_wait_for_no_snapshot() -> None:
    talk = trained()
    talk.disk_is_slow = True
    talk.lose(1)
    begins(talk, 1, "new 1")
    assert talk.declare(1) == []
    talk.lose(0)
    welcome(talk, 0, "process 0", Mark(1, 1))
    assert talk.told(0) == IN


def test_a_disk_that_fails_while_a_place_is_taken_harms_nobody() -> None:
    talk = trained()
    talk.disk_is_slow = True
    talk.lose(1)
    begins(talk, 1, "new 1")
    assert talk.declare(1) == []
    talk.write("no space left on device")
    assert talk.shard.broken is None
    assert isinstance(talk.told(1), Waiting)
    talk.wait(1)
    talk.write()
    assert talk.told(1) == IN
    talk.push(0, ONE, pass_id=1)
    assert isinstance(talk.push(1, ONE, pass_id=1)[0], Answer)


def test_nor_does_a_snapshot_that_was_on_its_way_before_and_fails() -> None:
    talk = joined(snapshots=EACH_STEP)
    talk.disk_is_slow = True
    for trainer in (0, 1):
        talk.push(trainer, ONE)
    for trainer in (0, 1):
        talk.end_pass(trainer)
    talk.lose(1)
    begins(talk, 1, "new 1")
    talk.write("input/output error")
    assert talk.shard.broken is None
    assert talk.declare(1) == []
    talk.write()
    assert talk.told(1) == IN


def test_where_none_can_be_written_it_is_refused_after_barrier_timeout_and_told_why() -> None:
    talk = trained(barrier_timeout_s=60)
    talk.disk_is_slow = True
    talk.lose(1)
    begins(talk, 1, "new 1")
    talk.declare(1)
    while isinstance(talk.told(1), Welcome | Waiting):
        if talk.shard.saving.is_busy:
            talk.write("no space left on device")
        talk.wait(1)
    assert talk.told(1) == Fails("NoSnapshot", "no snapshot could be written in 60 s")
    assert 1 in talk.closed
    assert talk.shard.broken is None
    talk.lose(1)
    assert isinstance(talk.hello(1, "yet another")[0], Welcome)


@pytest.mark.parametrize("failure", [None, "ShardUnreachable: another shard is gone"])
def test_one_that_leaves_while_it_waits_to_be_let_in_is_answered(failure: str | None) -> None:
    talk = trained(min_trainers=1)
    talk.disk_is_slow = True
    talk.lose(1)
    begins(talk, 1, "new 1")
    assert talk.declare(1) == []
    talk.goodbye(1, failure)
    talk.wait(1)
    while talk.shard.saving.is_busy:
        talk.write()
    assert isinstance(talk.told(1), Answer)
    assert talk.shard.broken is None


def test_a_new_job_whose_first_snapshot_cannot_be_written_does_not_begin() -> None:
    talk = trained(serving="").restart()
    talk.disk_is_slow = True
    begins(talk, 0, "of another job")
    talk.declare(0)
    talk.write("no space left on device")
    assert talk.told(0) == Fails("TrainerLost", "the first snapshot could not be written: no space left")


# Both killed.


def test_in_step_a_shard_and_a_trainer_that_are_killed_between_two_passes_come_back() -> None:
    before = trained()
    before.ask(0, Save())
    talk = before.restart()
    welcome(talk, 0, "process 0", Mark(1, 1))
    assert talk.shard.arrivals.barred() == Barred()
    assert begins(talk, 1, "another").next_pass == 1
    assert talk.declare(1) == [IN]
    for shard in (before, talk):
        shard.push(0, ONE, pass_id=1)
        shard.push(1, ONE, pass_id=1)
    assert talk.w == before.w


def test_in_step_one_that_alone_could_tell_what_a_shard_lacks_is_barred_and_who_comes_told_what_to_do() -> (
    None
):
    talk = joined(snapshots=EACH_STEP, serving="this job")
    for trainer in (0, 1):
        talk.push(trainer, ONE)
    talk.end_pass(1)
    talk.lose(1)
    assert talk.shard.arrivals.barred() == Barred(until_pass_ends=(1,))
    talk = talk.restart()  # of the snapshot of that step, which does not know that it had ended its pass
    welcome(talk, 0, "process 0", Mark(1, 0))
    assert talk.shard.arrivals.barred() == Barred(ever=(1,))
    (refused,) = talk.hello(1, "another")
    assert refused == Fails("DuplicateTrainer", "started again from a snapshot of the midst of a pass")
    assert refused == Fails("DuplicateTrainer", "python paddle.py --resume=JOB")


def test_in_step_one_that_was_about_to_take_a_place_is_refused_by_a_shard_that_went_back_behind_it() -> None:
    first = joined(snapshots=SELDOM, serving="this job").cuts[-1]
    talk = trained()
    talk.disk_is_slow = True
    talk.lose(1)
    assert begins(talk, 1, "new 1").next_pass == 1
    assert talk.declare(1) == []
    again = talk.restart(first)
    assert again.hello(1, "new 1", next_pass=1) == [Fails("DuplicateTrainer", "is taken")]
    assert begins(again, 1, "one that begins with the first pass").next_pass == 0


# Passes.


def test_a_restored_asynchronous_shard_hears_how_many_passes_were_ended_and_tells_the_next_process() -> None:
    talk = trained(passes=3, spec=ASYNC, snapshots=SnapshotOptions(folder="a folder", period=3))
    first = next(cut for cut in talk.cuts if cut.facts.version == 3)
    talk = talk.restart(first)
    for trainer in (0, 1):
        talk.hello(trainer, f"process {trainer}", Mark(3, 3), next_pass=3)
        talk.declare(trainer)
    talk.lose(1)
    assert begins(talk, 1, "another").next_pass == 3


def test_a_process_that_took_a_place_tells_of_the_passes_of_those_before() -> None:
    talk = trained(passes=2, spec=ASYNC)
    talk.lose(1)
    begins(talk, 1, "new 1")
    talk = talk.restart(talk.cuts[0])
    talk.hello(1, "new 1", Mark(1), next_pass=2)
    talk.declare(1)
    talk.lose(1)
    assert begins(talk, 1, "newer 1").next_pass == 2


def test_out_of_step_a_place_that_was_out_of_the_pass_stays_so_and_nobody_waits_for_it() -> None:
    talk = trained(spec=ASYNC)
    talk.push(0, ONE, pass_id=1)
    talk.push(1, ONE, pass_id=1)
    talk.end_pass(0, 1)
    talk.lose(0)
    assert talk.shard.arrivals.barred() == Barred(until_pass_ends=(0,))  # a launcher waits
    assert begins(talk, 0, "another").next_pass == 2  # one that is started by hand may not
    talk.declare(0)
    talk.push(0, ONE, pass_id=2)
    assert isinstance(talk.end_pass(1, 1)[0], Answer)
    assert talk.shard.clocks.passes_over == 2
    assert talk.end_pass(1, 2) == []  # now it is in the pass


def test_in_step_a_place_that_was_out_of_the_pass_is_free_once_all_are_also_where_it_had_no_batch() -> None:
    talk = joined()
    talk.push(0, ONE)
    talk.ask(1, EndPass(0, 1))
    talk.lose(1)
    assert talk.shard.arrivals.barred() == Barred(until_pass_ends=(1,))
    assert talk.hello(1, "another") == [Fails("DuplicateTrainer", "once all have ended theirs")]
    assert isinstance(talk.end_pass(0)[-1], Answer)
    assert talk.shard.arrivals.barred() == Barred()
    assert begins(talk, 1, "another").next_pass == 1


@pytest.mark.parametrize("first", [0, 1])
def test_a_pass_whose_end_one_has_heard_of_is_over_for_all_at_a_restored_asynchronous_shard(
    first: int,
) -> None:
    talk = trained(passes=0, spec=ASYNC)
    for trainer in (0, 1):
        talk.push(trainer, ONE)
    talk.ask(0, Save())
    talk.end_pass(0)
    talk.end_pass(1)
    talk = talk.restart()
    comes = [
        lambda: talk.hello(0, "process 0", Mark(1, 1), next_pass=1),  # it had the answer
        lambda: talk.hello(1, "process 1", Mark(1, 0)),  # its answer was lost
    ]
    for come in (comes[first], comes[not first]):
        come()
    for trainer in (0, 1):
        talk.declare(trainer)
    assert isinstance(
        talk.ask(1, EndPass(0, 1))[-1], Answer
    )  # and does not wait for another pass of trainer 0
    assert talk.shard.clocks.passes_over == 1
    assert talk.shard.roster.present == {0, 1}


def test_a_pass_is_over_also_where_all_that_have_ended_it_are_gone() -> None:
    talk = trained(3, passes=0, min_trainers=1)
    for trainer in range(3):
        talk.push(trainer, ONE)
    talk.end_pass(1)
    talk.lose(1)
    talk.goodbye(0, "ValueError: it failed")
    talk.goodbye(2)
    assert talk.shard.arrivals.barred() == Barred(ever=(0,), left=(2,))
    assert begins(talk, 1, "another").next_pass == 1


# Goodbye.


@pytest.mark.parametrize("spec", [update(), ASYNC])
def test_of_one_that_has_said_goodbye_no_other_is_needed_which_is_told_also_after_a_restart(spec) -> None:  # type: ignore[no-untyped-def]
    talk = trained(spec=spec)
    talk.goodbye(1)
    for shard in (talk, talk.restart()):
        assert shard.shard.arrivals.barred().left == (1,)
        assert shard.hello(1, "another") == [
            Fails("DuplicateTrainer", "It has said goodbye: nothing is left")
        ]
