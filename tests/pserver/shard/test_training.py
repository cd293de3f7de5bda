"""What a shard does with pushes, pulls and the ends of passes, as trainers see it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec, ScheduleSpec
from paddle._pserver.protocol.messages import (
    Answer,
    EndPass,
    Pull,
    PullRows,
    Push,
)
from paddle._pserver.shard.effects import Send

from ..talk import ONE, TWO, Fails, Talk, gradient, update

# Steps.


def test_a_step_is_applied_when_all_have_pushed_it_whatever_the_order() -> None:
    talk = Talk(3).start()
    big = gradient([1e8, 0, 0, 0])  # float32 addition shows the order: (1e8 + 1) - 1e8 = 0
    for trainer, given in [(2, gradient([-1e8, 0, 0, 0])), (0, big)]:
        assert talk.push(trainer, given, samples=3) == []
    assert talk.push(1, ONE, samples=4) == [Answer(1)]
    assert talk.told(0) == talk.told(2) == Answer(1)
    assert talk.w[0] == 0
    assert talk.shard.clocks.samples == 10
    assert all(talk.bodies[trainer][0].tolist() == talk.w for trainer in range(3))


def test_rows_are_summed_over_trainers() -> None:
    talk = Talk(2).start()
    talk.push(0, gradient([1, 0, 0, 0], ids=[1, 3]))
    talk.push(1, gradient([2, 0, 0, 0], ids=[3, 4]))
    (answer,) = talk.ask(0, PullRows((4,)), ids=[np.array([3, 0, 1, 4])])
    assert answer == Answer(1)
    assert talk.bodies[0][0][:, 0].tolist() == [-1.5, 0, -0.5, -1]


def test_a_repeated_push_is_answered_and_not_applied_again() -> None:
    talk = Talk().start()
    assert talk.push(0, ONE) == [Answer(1)]
    assert talk.ask(0, Push(1, 0, 1), ONE) == [Answer(1)]
    assert talk.w[0] == -0.5


def test_a_push_out_of_order_is_an_error() -> None:
    talk = Talk().start()
    assert talk.ask(0, Push(2, 0, 1), ONE) == [Fails("BadMessage", "step 2 after step 0")]


@pytest.mark.parametrize("id", [-1, 5, 1 << 40])
def test_rows_out_of_range_are_refused_before_anything_is_applied(id: int) -> None:
    talk = Talk().start()
    assert talk.push(0, gradient([1, 0, 0, 0], ids=[0, id])) == [Fails("BadMessage", "outside 0..4")]
    assert talk.w[0] == 0
    assert talk.shard.clocks.version == 0


# Passes.


def test_a_trainer_that_ends_its_pass_early_blocks_nobody_and_gets_the_final_values() -> None:
    talk = Talk(2).start()
    talk.push(0, ONE)
    talk.push(1, ONE)
    assert talk.end_pass(0) == []
    assert talk.push(1, TWO) == [Answer(2)]
    assert talk.end_pass(1) == [Answer(2)]
    assert talk.told(0) == Answer(2)
    assert talk.bodies[0][0].tolist() == talk.bodies[1][0].tolist() == talk.w
    assert talk.push(1, ONE, pass_id=1) == []  # both are in the next pass


def test_ending_a_pass_releases_those_who_have_pushed() -> None:
    talk = Talk(2).start()
    assert talk.push(0, ONE) == []
    assert talk.end_pass(1) == []
    assert talk.told(0) == Answer(1)


def test_the_mean_is_over_the_trainers_that_pushed() -> None:
    talk = Talk(2, update(reduce="mean")).start()
    talk.push(0, gradient([1, 0, 0, 0], ids=[2]))
    talk.push(1, gradient([2, 0, 0, 0], ids=[2]))
    assert talk.w[0] == -0.75
    talk.end_pass(0)
    talk.push(1, ONE)
    assert talk.w[0] == -1.25
    assert talk.shard.tables is not None
    assert talk.shard.tables.rows["t"].values[2].tolist() == [-0.75, -0.75]


def test_the_learning_rate_follows_the_samples_of_all_trainers() -> None:
    schedule = ScheduleSpec(name="manual", learning_rate=1.0, args="4:1,1000:0.5")
    talk = Talk(2, replace(update(), schedule=schedule)).start()
    for _ in range(2):
        talk.push(0, ONE, samples=1)
        talk.push(1, ONE, samples=3)
    assert talk.w[0] == -2 - 1


# Asynchronous mode.


def test_a_useless_discard_ratio_is_replaced_with_a_warning() -> None:
    talk = Talk(2, update(mode=ModeSpec(name="async", discard_ratio=1.0))).start()
    assert "async_lagged_grad_discard_ratio=1.0 is not above 1.0: 1.5 is used" in talk.notes


def test_a_stale_gradient_is_dropped_told_and_counted() -> None:
    talk = Talk(
        2, update(mode=ModeSpec(name="async"))
    ).start()  # threshold 3: two commits of others in between
    assert talk.push(0, ONE) == [Answer(1)]
    assert talk.push(0, ONE) == [Answer(2)]
    assert talk.push(1, TWO) == [Answer(2, dropped=True)]
    assert talk.w[0] == -1
    assert talk.shard.clocks.dropped == [0, 1]
    assert talk.shard.clocks.samples == 2
    assert talk.push(1, TWO) == [Answer(3)]
    assert "discarded per trainer [0, 1]" in str(talk.shard.clocks)


@pytest.mark.parametrize("peeks", [False, True])
def test_rows_that_are_looked_up_leave_a_gradient_as_old_as_the_rest_of_it(peeks: bool) -> None:
    talk = Talk(2, update(mode=ModeSpec(name="async"))).start()
    talk.push(0, ONE)
    talk.push(0, ONE)
    talk.ask(1, PullRows((1,), peeks=peeks), ids=[np.array([0])])
    assert talk.push(1, TWO) == [Answer(2, dropped=True)]


def test_a_trainer_that_pulls_all_makes_its_next_gradient_fresh() -> None:
    talk = Talk(2, update(mode=ModeSpec(name="async"))).start()
    talk.push(0, ONE)
    talk.push(0, ONE)
    talk.ask(1, Pull())
    assert talk.push(1, TWO) == [Answer(3)]


def test_all_end_a_pass_with_the_same_values_however_slowly_they_take_them() -> None:
    talk = Talk(2, update(mode=ModeSpec(name="async"))).start()
    talk.push(0, ONE)
    talk.end_pass(0)
    sent = [
        effect.body[0]
        for effect in talk.shard.handle(2, EndPass(0), now=0)
        if isinstance(effect, Send) and isinstance(effect.message, Answer)
    ]
    talk.push(1, TWO, pass_id=1)
    assert talk.w[0] == -1.5
    assert [values[0] for values in sent] == [-0.5, -0.5]
