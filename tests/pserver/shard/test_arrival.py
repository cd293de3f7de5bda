"""Trainers that come back, that take another's place, and jobs that go on from a snapshot."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.options import ShardOptions, SnapshotOptions
from paddle._pserver.protocol.messages import (
    PROTOCOL,
    Answer,
    Declare,
    Declared,
    EndPass,
    Hello,
    Mark,
    Pull,
    Push,
    Save,
    Seed,
    Welcome,
)
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.shard.effects import Close, Send

from ..talk import MODEL, ONE, TWO, Fails, Talk, update

KEPT = SnapshotOptions(folder="a folder", period=2)


def joined(trainers: int = 2, incarnation: str = "process", **options: object) -> Talk:
    """A shard that is ready, with trainers that may come back."""
    talk = Talk(trainers, **options)  # type: ignore[arg-type]
    for trainer in range(trainers):
        talk.hello(trainer, f"{incarnation} {trainer}")
        talk.declare(trainer)
    talk.seed()
    return talk


def welcome(talk: Talk, trainer: int, incarnation: str, answered: Mark = Mark()) -> Welcome:  # noqa: B008
    reply = talk.hello(trainer, incarnation, answered)[0]
    assert isinstance(reply, Welcome), reply
    talk.declare(trainer)
    return reply


def test_a_trainer_that_comes_back_is_told_what_the_shard_has() -> None:
    talk = joined()
    talk.push(0, ONE)
    talk.push(1, ONE)
    talk.lose(1)
    assert welcome(talk, 1, "process 1") == Welcome(600, True, Mark(1, 0), False, 1, pace=1)
    assert "trainer 1 came back from host1" in talk.notes
    assert talk.push(0, ONE) == []
    assert talk.push(1, ONE) == [Answer(2)]


def test_a_push_that_was_taken_and_not_answered_waits_again() -> None:
    talk = joined()
    talk.push(1, TWO)
    talk.lose(1)
    assert welcome(talk, 1, "process 1").settled == Mark(0, 0)
    assert talk.ask(1, Push(1, 0, 1), TWO) == []
    assert talk.push(0, ONE) == [Answer(1)]
    assert talk.told(1) == Answer(1)
    assert talk.w[0] == -1.5


def test_a_step_that_is_applied_before_a_trainer_that_came_back_asks_again_is_answered_once() -> None:
    talk = joined()
    talk.push(1, TWO)
    talk.lose(1)
    welcome(talk, 1, "process 1")
    heard = len([to for to, _ in talk.replies if to == 1])
    assert talk.push(0, ONE) == [Answer(1)]
    assert len([to for to, _ in talk.replies if to == 1]) == heard
    assert talk.ask(1, Push(1, 0, 1), TWO) == [Answer(1)]
    assert talk.push(1, TWO) == []


def test_that_a_gradient_was_discarded_is_told_again() -> None:
    talk = joined(spec=update(mode=ModeSpec(name="async", discard_ratio=1.0)))
    for _ in range(3):
        talk.push(0, ONE)
    assert talk.push(1, ONE) == [Answer(3, dropped=True)]
    talk.lose(1)
    welcome(talk, 1, "process 1")
    assert talk.ask(1, Push(1, 0, 1), ONE) == [Answer(3, dropped=True)]
    assert talk.push(1, ONE) == [Answer(4)]


def test_a_shard_that_is_started_again_tells_again_what_it_discarded() -> None:
    talk = joined(spec=update(mode=ModeSpec(name="async", discard_ratio=1.0)), snapshots=KEPT)
    for _ in range(3):
        talk.push(0, ONE)
    assert talk.push(1, ONE) == [Answer(3, dropped=True)]
    talk.ask(0, Save())
    again = talk.restart()
    assert welcome(again, 1, "process 1").settled == Mark(1)
    told = again.ask(1, Push(1, 0, 1), ONE)[-1]
    assert isinstance(told, Answer) and told.dropped and told.version == 3


def test_an_answer_that_was_lost_is_given_again_also_to_the_end_of_a_pass() -> None:
    talk = joined()
    assert talk.ask(1, EndPass(0, 1)) == []
    talk.lose(1)
    talk.ask(0, EndPass(0, 1))
    assert welcome(talk, 1, "process 1").settled == Mark(0, 1)
    assert talk.ask(1, EndPass(0, 1)) == [Answer(0)]
    assert talk.push(0, ONE) == []  # both are in the second pass
    assert talk.push(1, ONE) == [Answer(1)]


def test_a_connection_that_only_the_trainer_knows_to_be_broken_is_given_up() -> None:
    talk = joined()
    talk.push(1, ONE)
    talk.shard.connected(9, "elsewhere")
    hello = talk.shard.handle(9, hello_of(talk, 1, "process 1"), now=0.0)
    assert any(getattr(effect, "message", None) == Welcome(600, True, pace=1) for effect in hello)
    assert any(type(effect).__name__ == "Close" and effect.session == 2 for effect in hello)


def hello_of(talk: Talk, trainer: int, incarnation: str) -> Hello:
    return Hello(PROTOCOL, trainer, talk.shard.options.num_gradient_servers, "dense", incarnation)


def test_the_end_of_a_pass_out_of_order_is_an_error() -> None:
    assert joined(1).ask(0, EndPass(0, 2)) == [Fails("BadMessage", "ended pass 2 after pass 0")]


# Restored shards.


def test_a_shard_that_is_started_again_takes_another_process_in_a_trainers_place_for_no_new_job() -> None:
    spec = update(mode=ModeSpec(name="async"))
    talk = trained(2, spec=spec, serving="this pserver").restart()
    assert welcome(talk, 1, "the newer").settled == Mark()
    assert welcome(talk, 0, "process 0", Mark(2)).settled == Mark(2)
    assert not any("a new job" in note for note in talk.notes)
    other = trained(2, spec=spec, serving="this pserver")
    other.shard.options = ShardOptions(num_gradient_servers=2, snapshots=KEPT, serving="started anew")
    other = other.restart()
    welcome(other, 1, "the newer")
    assert "a new job goes on from version 4" in other.notes


def test_out_of_step_a_process_has_its_place_also_where_the_one_before_woke_up_and_came_first() -> None:
    talk = trained(2, spec=update(mode=ModeSpec(name="async")), serving="this pserver")
    talk.lose(1)
    before = welcome(talk, 1, "the newer").before
    assert before == ("process 1",)
    again = talk.restart()  # of which no snapshot knew
    welcome(again, 1, "process 1", Mark(2))
    again.shard.connected(9, "host1")
    newer = Hello(PROTOCOL, 1, 2, "dense", "the newer", Mark(3))
    refused = again.shard.handle(9, newer, now=0.0)[0]
    assert isinstance(refused, Send) and refused.message == Fails("DuplicateTrainer", "trainer_id=1 is taken")
    again.shard.connected(10, "host1")
    told = again.shard.handle(10, msgspec.structs.replace(newer, before=before), now=0.0)
    assert Close(2) in told
    assert [one.message.before for one in told if isinstance(one, Send)] == [before]
    again.shard.connected(11, "host1")
    stale = again.shard.handle(11, hello_of(again, 1, "process 1"), now=0.0)[0]
    assert isinstance(stale, Send) and stale.message == Fails("Stale", "a newer process has trainer_id=1")


def test_in_step_nobody_loses_a_place_to_one_that_says_it_is_newer() -> None:
    talk = joined()
    talk.shard.connected(9, "host1")
    newer = Hello(PROTOCOL, 1, 2, "dense", "the newer", Mark(), ("process 1",))
    refused = talk.shard.handle(9, newer, now=0.0)[0]
    assert isinstance(refused, Send) and refused.message == Fails("DuplicateTrainer", "trainer_id=1 is taken")


def test_all_steps_are_lost_of_a_process_that_took_a_trainers_place_after_the_snapshot() -> None:
    talk = trained(2, spec=update(mode=ModeSpec(name="async")), serving="this pserver").restart()
    assert welcome(talk, 1, "the newer", Mark(7)).settled == Mark(7)
    assert "steps 1 to 7 of trainer 1 are lost: they came after the snapshot" in talk.notes
    assert talk.ask(1, Push(8, 0, 1), ONE)[-1].version == 5


def test_a_shard_that_is_started_again_when_all_have_said_goodbye_is_over() -> None:
    talk = trained(2, serving="this pserver")
    for trainer in range(2):
        talk.end_pass(trainer)
        talk.goodbye(trainer)
    again = talk.restart()
    again.wait(1)
    assert again.shard.outcome is not None and again.shard.outcome.exit_status == 0


def trained(steps: int, **options: object) -> Talk:
    talk = joined(**({"snapshots": KEPT} | options))
    for _ in range(steps):
        talk.push(0, ONE)
        talk.push(1, TWO)
    return talk


def test_a_restored_shard_has_the_values_of_its_snapshot_and_is_told_what_it_lacks() -> None:
    before = trained(2)
    w = before.w
    for trainer in range(2):
        before.push(trainer, ONE)
    talk = before.restart()
    assert talk.shard.ready and talk.w == w
    answered = Mark(3, 0)
    assert welcome(talk, 0, "process 0", answered) == Welcome(600, True, Mark(2, 0), True, 2, pace=2)
    assert talk.ask(0, Pull()) == [Fails("BadMessage", "pulls before it has sent step 3 again")]
    talk = before.restart()
    for trainer in range(2):
        welcome(talk, trainer, f"process {trainer}", answered)
        talk.push(trainer, ONE)
    assert talk.told(1) == Answer(3, False, Mark(2, 0))
    assert talk.w == before.w
    assert talk.ask(0, Pull()) == [Answer(3, False, Mark(2, 0))]


def test_a_restored_asynchronous_shard_goes_on_and_says_what_is_lost() -> None:
    before = trained(0, spec=update(mode=ModeSpec(name="async")))
    for _ in range(5):
        before.push(0, ONE)
    talk = before.restart()
    assert talk.shard.clocks.version == 4
    assert welcome(talk, 0, "process 0", Mark(7, 1)).settled == Mark(7, 1)
    assert "steps 5 to 7 of trainer 0 are lost: they came after the snapshot" in talk.notes
    assert talk.ask(0, Push(8, 0, 1), ONE) == [Answer(5)]
    assert talk.ask(0, EndPass(1, 2)) == []


def test_a_restored_shard_of_another_model_refuses_and_names_the_folder() -> None:
    talk = trained(2).restart()
    talk.hello(0, "process 0", Mark(2, 0))
    talk.spec = update(reduce="mean")
    assert talk.declare(0) == [
        Fails("DeclarationMismatch", "same model as the snapshot in a folder (to begin anew, move")
    ]


def test_a_job_goes_on_from_a_snapshot_in_other_numbers_but_all_its_trainers_in_the_same() -> None:
    talk = trained(2).restart()
    for trainer in range(2):
        talk.hello(trainer, f"new {trainer}")
    halves = Declare(MODEL, talk.spec, 0, 1, WireSpec(name="bfloat16"))
    assert talk.ask(0, halves) == [Declared(seed=False)]
    assert talk.shard.wire == WireSpec(name="bfloat16")
    assert talk.ask(1, Declare(MODEL, talk.spec, 0, 1)) == [Fails("DeclarationMismatch", "--wire")]
    talk.hello(1, "new 1")
    assert talk.ask(1, halves) == [Declared(seed=False)]
    talk.ask(0, Save())
    assert talk.cuts[-1].facts.declaration == halves


def test_new_processes_go_on_from_a_snapshot_as_a_new_job_and_old_ones_are_stale() -> None:
    talk = trained(2).restart()
    for trainer in range(2):
        assert welcome(talk, trainer, f"new {trainer}").settled == Mark(0, 0)
    assert "a new job goes on from version 2" in talk.notes
    assert talk.ask(0, Push(1, 0, 1), ONE) == []
    assert talk.ask(1, Push(1, 0, 1), ONE) == [Answer(3)]
    assert talk.ask(8, hello_of(talk, 1, "process 1")) == [Fails("Stale")]


def test_a_job_that_ended_well_is_gone_on_with_by_the_next() -> None:
    before = trained(3)
    for trainer in range(2):
        assert before.goodbye(trainer) == [Answer(3)]
    assert before.shard.outcome is not None
    talk = before.restart()
    talk.wait(1e6)
    assert talk.shard.outcome is None
    assert talk.w == before.w
    assert welcome(talk, 1, "new 1").version == 3


def test_a_new_process_does_not_begin_a_new_job_where_one_of_the_old_has_come_back() -> None:
    talk = trained(2).restart()
    welcome(talk, 0, "process 0", Mark(2, 0))
    assert talk.hello(1, "new 1") == [Fails("DuplicateTrainer", "trainer 1 (has not come back)")]


# Saving.


def test_snapshots_are_cut_at_the_same_versions_by_every_shard_and_first_at_0() -> None:
    talk = trained(5)
    assert [(cut.facts.version, cut.is_regular) for cut in talk.cuts] == [(0, True), (2, True), (4, True)]


def test_training_begins_once_the_initial_values_last() -> None:
    talk = Talk(2, snapshots=KEPT)
    talk.disk_is_slow = True
    for trainer in range(2):
        talk.hello(trainer)
        talk.declare(trainer)
    talk.ask(0, Seed())
    assert talk.ask(0, Seed("t")) == []
    assert not talk.shard.ready
    talk.write()
    assert talk.told(0) == Answer(0)
    assert talk.shard.ready


def test_a_first_snapshot_that_cannot_be_written_ends_the_job_and_a_later_one_is_told() -> None:
    talk = Talk(1, snapshots=KEPT)
    talk.disk_is_slow = True
    talk.hello(0)
    talk.declare(0)
    talk.ask(0, Seed())
    talk.ask(0, Seed("t"))
    talk.write("no space left on device")
    assert talk.told(0) == Fails("TrainerLost", "the first snapshot could not be written: no space left")
    talk = joined(1, snapshots=KEPT)
    talk.disk_is_slow = True
    talk.push(0, ONE)
    talk.push(0, ONE)
    talk.write("no space left on device")
    assert any("a snapshot could not be written: no space left" in note for note in talk.notes)
    assert talk.push(0, ONE) == [Answer(3, False, Mark(0, 0), lacking=True)]


def test_one_snapshot_is_written_at_a_time() -> None:
    talk = joined(1, snapshots=KEPT)
    talk.disk_is_slow = True
    for _ in range(7):
        talk.push(0, ONE)
    assert [cut.facts.version for cut in talk.cuts] == [0, 2]
    assert talk.ask(0, Save()) == []
    talk.write()
    assert [(cut.facts.version, cut.is_regular) for cut in talk.cuts[2:]] == [(7, False)]
    talk.write()
    assert talk.told(0) == Answer(7, False, Mark(7, 0))


def test_goodbye_is_answered_once_all_that_was_told_lasts() -> None:
    talk = joined(1, snapshots=KEPT)
    talk.disk_is_slow = True
    talk.push(0, ONE)
    assert talk.goodbye(0) == []
    assert talk.shard.outcome is None
    talk.write()
    assert talk.told(0) == Answer(1)
    assert talk.shard.outcome is not None and talk.shard.outcome.exit_status == 0


@pytest.mark.parametrize(("mode", "cuts"), [("async", [0, 1]), ("sync", [0])])
def test_time_alone_cuts_where_trainers_are_not_in_step(mode: Any, cuts: list[int]) -> None:
    talk = joined(1, spec=update(mode=ModeSpec(name=mode)), snapshots=KEPT)
    talk.push(0, ONE)
    talk.wait(599)
    assert len(talk.cuts) == 1
    talk.wait(1)
    assert [cut.facts.version for cut in talk.cuts] == cuts
    talk.wait(1000)
    assert [cut.facts.version for cut in talk.cuts] == cuts  # nothing new


def test_without_snapshots_nothing_is_cut_and_nobody_waits() -> None:
    talk = joined(1)
    talk.push(0, ONE)
    assert talk.ask(0, Save()) == [Answer(1)]
    assert talk.goodbye(0) == [Answer(1)]
    assert talk.cuts == []


@pytest.mark.parametrize("is_in_step", [True, False])
@pytest.mark.parametrize("is_restored", [True, False])
def test_who_takes_a_place_is_told_the_pass_after_the_last_that_was_ended_there(
    is_in_step: bool, is_restored: bool
) -> None:
    spec = update() if is_in_step else update(mode=ModeSpec(name="async"))
    talk = joined(spec=spec, snapshots=KEPT, serving="this pserver")
    for pass_id in range(3):
        for trainer in (0, 1):
            talk.push(trainer, ONE, pass_id=pass_id)
        for trainer in (0, 1):
            talk.end_pass(trainer, pass_id)
    if is_restored:
        talk.ask(0, Save())
        talk = talk.restart()
        welcome(talk, 1, "process 1", Mark(3, 3))
    talk.lose(1)
    assert welcome(talk, 1, "another process").next_pass == 3


def test_a_new_job_begins_with_its_first_pass() -> None:
    talk = trained(2)
    for trainer in (0, 1):
        talk.end_pass(trainer, 0)
    talk.ask(0, Save())
    assert welcome(talk.restart(), 1, "of another job").next_pass == 0
