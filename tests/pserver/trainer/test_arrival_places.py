"""Another process in a trainer's place: when it may have it, and what it goes on from."""

from __future__ import annotations

from typing import Any

import pytest

from paddle._engine.exchange import ModeSpec
from paddle._pserver.protocol.messages import Answer, Declared, EndPass, Mark, Push, Save, Welcome
from paddle._pserver.shard.arrival import Barred

from ..shard.test_arrival import KEPT, hello_of, joined, trained, welcome
from ..talk import ONE, TWO, Fails, Talk, update


def test_a_replaced_trainer_that_comes_back_is_told_that_it_is_stale() -> None:
    talk = joined()
    talk.lose(1)
    welcome(talk, 1, "the newer")
    talk.lose(1)
    assert talk.hello(1, "process 1") == [Fails("Stale", "a newer process has trainer_id=1: trainer 1")]
    assert isinstance(talk.hello(1, "the newer")[0], Welcome)


def test_in_step_nobody_takes_the_place_of_one_that_has_pushed() -> None:
    talk = joined()
    talk.push(1, ONE)
    talk.lose(1)
    assert talk.hello(1, "the newer") == [Fails("DuplicateTrainer", "trainer_id=1 is taken")]


def passes(talk: Talk, *numbers: int) -> None:
    """Passes of one step."""
    for number in numbers:
        talk.push(0, ONE)
        talk.push(1, TWO)
        for trainer in range(2):
            talk.ask(trainer, EndPass(number, talk.shard.clocks.passes[trainer] + 1))


def test_in_step_a_process_takes_the_place_of_one_that_was_lost_between_two_passes() -> None:
    talk = joined()
    passes(talk, 0, 1)
    talk.lose(1)
    assert talk.push(0, ONE) == []
    assert welcome(talk, 1, "the newer").settled == Mark(0, 0)
    assert talk.told(1) == Declared(seed=False, place=(2, 0))
    assert talk.ask(1, Push(1, 0, 1), TWO) == [Answer(3)]
    assert talk.told(0) == Answer(3)
    other = joined()
    passes(other, 0, 1)
    other.push(0, ONE)
    other.push(1, TWO)
    assert talk.w == other.w
    assert talk.ask(0, EndPass(2, 3)) == []
    assert talk.ask(1, EndPass(0, 1)) == [Answer(3)]
    assert talk.ask(8, hello_of(talk, 1, "process 1")) == [Fails("Stale")]


def test_in_step_nobody_takes_up_half_a_pass_or_one_that_was_trained() -> None:
    talk = joined()
    passes(talk, 0)
    talk.push(0, ONE)
    talk.push(1, ONE)
    talk.lose(1)
    words = "It has trained a part of this pass, which no other process can take up"
    assert talk.hello(1, "the newer") == [Fails("DuplicateTrainer", words)]
    talk = joined()
    talk.push(0, ONE)
    talk.push(1, ONE)
    talk.end_pass(1)
    talk.lose(1)
    words = "It has ended its pass; another may have its place once all have ended theirs"
    assert talk.hello(1, "the newer") == [Fails("DuplicateTrainer", words)]


@pytest.mark.parametrize("name", ["average", "elastic_average"])
def test_where_trainers_in_step_update_by_themselves_nobody_takes_a_place(name: Any) -> None:
    talk = joined(spec=update(mode=ModeSpec(name=name, k_steps=2)))
    passes(talk, 0)
    talk.lose(1)
    words = "what it kept of its own, such as momentum and its place in the schedule, is lost"
    assert talk.hello(1, "the newer") == [Fails("DuplicateTrainer", words)]
    assert talk.shard.arrivals.barred() == Barred(ever=(1,))
    assert isinstance(talk.hello(1, "process 1")[0], Welcome)


def test_a_process_that_took_a_place_is_in_once_a_snapshot_knows_it() -> None:
    talk = joined(snapshots=KEPT)
    passes(talk, 0)
    talk.disk_is_slow = True
    passes(talk, 1)  # a snapshot of step 2 is being written, which holds a step of the one that is lost
    talk.lose(1)
    talk.hello(1, "the newer")
    assert talk.declare(1) == []
    talk.write()
    assert talk.shard.clocks.durable[1] == Mark()
    talk.write()
    assert talk.told(1) == Declared(seed=False, place=(2, 0))
    again = talk.restart()
    assert welcome(again, 1, "the newer").settled == Mark()
    assert again.hello(1, "process 1") == [Fails("BadMessage")]


def test_a_shard_that_does_not_know_who_took_a_place_refuses_it() -> None:
    talk = joined(snapshots=KEPT)
    passes(talk, 0, 1)
    again = talk.restart()
    welcome(again, 0, "process 0", Mark(2, 2))
    assert again.hello(1, "the newer", Mark(1, 0)) == [Fails("DuplicateTrainer", "has not come back")]


def test_a_new_job_may_have_more_trainers_or_fewer() -> None:
    for says_goodbye in (True, False):
        before = trained(2)
        for trainer in range(2 if says_goodbye else 0):
            before.goodbye(trainer)
        for trainers, first in ((3, 2), (1, 0)):
            talk = Talk(trainers, before.spec, snapshots=KEPT)
            talk._take(talk.shard.restore(before.cuts[-1], "a folder", (1, 0), now=0.0))
            for trainer in [first, *(id for id in range(trainers) if id != first)]:
                talk.hello(trainer, f"new {trainer}")
                reply = next(m for to, m in talk.replies if to == trainer and isinstance(m, Welcome))
                assert (reply.version, reply.settled, reply.older) == (2, Mark(), (1, 0))
            for trainer in range(trainers):
                talk.declare(trainer)
                assert talk.told(trainer) == Declared(seed=False)
            for trainer in range(trainers):
                talk.ask(trainer, Push(1, 0, 1), ONE)
            assert talk.shard.clocks.version == 3


def test_in_asynchronous_training_another_process_takes_the_place_and_begins_at_step_1() -> None:
    talk = joined(spec=update(mode=ModeSpec(name="async")))
    for _ in range(3):
        talk.push(1, ONE)
    talk.end_pass(1)
    talk.lose(1)
    assert welcome(talk, 1, "the newer").settled == Mark(0, 0)
    assert talk.ask(1, Push(1, 0, 1), ONE) == [Answer(4)]
    assert talk.hello(1, "process 1") == [Fails("BadMessage")]  # it speaks on the new one's connection
    assert talk.ask(8, hello_of(talk, 1, "process 1")) == [Fails("Stale")]


def test_a_shard_that_was_started_again_from_before_both_came_hears_from_the_newer_whose_place_it_has() -> (
    None
):
    talk = Talk(2, update(mode=ModeSpec(name="async")), snapshots=KEPT)
    talk.hello(0, "process 0")
    talk.declare(0)
    talk.seed()
    again = talk.restart()  # trainer 1 came to the others, and was replaced there
    again.hello(0, "process 0", Mark(1, 0))
    assert isinstance(again.hello(1, "the newer", Mark(3, 0), before=("process 1",))[0], Welcome)
    assert again.ask(8, hello_of(again, 1, "process 1")) == [Fails("Stale", "a newer process has")]
    for trainer in range(2):
        again.declare(trainer)
    again.ask(0, Save())
    later = again.restart()
    assert later.ask(8, hello_of(later, 1, "process 1")) == [Fails("Stale", "a newer process has")]


def test_one_that_is_connected_is_not_replaced() -> None:
    talk = joined(spec=update(mode=ModeSpec(name="async")))
    assert talk.ask(8, hello_of(talk, 1, "the newer")) == [Fails("DuplicateTrainer", "(at host1")]
