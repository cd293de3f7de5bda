"""The shard's rules, one by one, without a socket and without waiting."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.effects import Send
from paddle._pserver.ending import Outcome
from paddle._pserver.messages import (
    PROTOCOL,
    Answer,
    Declare,
    Declared,
    EndPass,
    Failure,
    Hello,
    Pull,
    PullRows,
    Push,
    Request,
    Seed,
    Waiting,
)

from .talk import MODEL, Talk, gradient, update

ONE = gradient([1, 0, 0, 0])
TWO = gradient([2, 0, 0, 0])


class Fails:
    """Equal to a Failure with this code and a text that has ``saying`` in it."""

    def __init__(self, code: str, saying: str = "") -> None:
        self.code, self.saying = code, saying

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Failure) and other.code == self.code and self.saying in other.text

    def __repr__(self) -> str:
        return f"{self.code}: ...{self.saying}..."


# Rules 1 and 2: joining.


@pytest.mark.parametrize(
    ("hello", "refusal"),
    [
        (Hello(PROTOCOL + 1, 0, 2, "dense"), Fails("ProtocolMismatch", "the same release")),
        (
            Hello(PROTOCOL, 0, 3, "dense"),
            Fails("TrainerCountMismatch", "num_gradient_servers=2 and the trainer w"),
        ),
        (Hello(PROTOCOL, 2, 2, "dense"), Fails("TrainerIdOutOfRange", "trainer_id=2 is not in 0..1")),
        (Hello(PROTOCOL, -1, 2, "dense"), Fails("TrainerIdOutOfRange", "trainer_id=-1")),
        (Hello(PROTOCOL, 0, 2, "sparse"), Fails("WrongPort", "ports_num_for_sparse")),
    ],
)
def test_a_trainer_that_does_not_fit_is_refused(hello: Hello, refusal: Fails) -> None:
    talk = Talk(2, roles=frozenset({"dense"}))
    assert talk.ask(0, hello) == [refusal]
    assert talk.closed == [0]


def test_a_second_trainer_with_the_same_id_is_refused_and_the_first_goes_on() -> None:
    talk = Talk(2).start()
    assert talk.ask(7, Hello(PROTOCOL, 1, 2, "dense")) == [Fails("DuplicateTrainer", "(at host1")]
    assert talk.push(0, ONE) == []
    assert talk.push(1, ONE) == [Answer(1)]


def test_others_wait_until_trainer_0_has_seeded() -> None:
    talk = Talk(2)
    talk.hello(1)
    assert talk.declare(1) == []
    talk.hello(0)
    assert talk.declare(0) == [Declared(seed=True)]
    talk.seed()
    assert talk.told(1) == Declared(seed=False)


def test_trainers_with_different_models_are_told_where_they_differ() -> None:
    talk = Talk(2)
    for trainer in range(2):
        talk.hello(trainer)
    talk.declare(0)
    other = (MODEL[0], ParameterSpec(name="t", shape=(6, 2), sparse=True))
    assert talk.ask(1, Declare(other, talk.spec, 0, 1)) == [Fails("DeclarationMismatch", "shape=(6, 2)")]
    assert talk.closed == [1]


@pytest.mark.parametrize(
    ("model", "spec", "saying"),
    [
        ((MODEL[0], MODEL[0]), update(), "'w' is declared 2 times"),
        ((ParameterSpec(name="w", shape=(0,)),), update(), "has shape (0,)"),
        ((ParameterSpec(name="w", shape=(-3, -3)),), update(), "has shape"),
        ((ParameterSpec(name="t", shape=(9,), sparse=True),), update(), "(height, width)"),
        (MODEL, replace(update(), rule=RuleSpec(name="sdg")), "no update rule 'sdg'"),
        (MODEL, replace(update(), schedule=ScheduleSpec(name="often")), "no learning_rate_schedule 'often'"),
    ],
)
def test_a_model_that_cannot_be_trained_is_refused(
    model: tuple[ParameterSpec, ...], spec: UpdateSpec, saying: str
) -> None:
    talk = Talk()
    talk.hello(0)
    assert talk.ask(0, Declare(model, spec, 0, 1)) == [Fails("Refused", saying)]


def test_a_model_that_does_not_fit_into_memory_is_refused_before_it_is_allocated() -> None:
    talk = Talk(memory_limit_bytes=1 << 20)
    talk.hello(0)
    big = (ParameterSpec(name="w", shape=(1 << 40,)),)
    assert talk.ask(0, Declare(big, talk.spec, 0, 1)) == [Fails("TooManyParameters", "use more pservers")]


def test_a_trainer_that_leaves_before_it_did_anything_can_come_again() -> None:
    talk = Talk(2)
    talk.hello(0)
    talk.declare(0)
    talk.ask(0, Seed())
    talk.lose(0)  # its user corrects the model and starts it again
    talk.spec = update(reduce="mean")
    talk.start()
    assert talk.push(0, ONE) == []
    assert talk.push(1, TWO) == [Answer(1)]
    assert talk.w[0] == -0.75


def test_initial_values_are_taken_from_trainer_0_only() -> None:
    talk = Talk(2)
    for trainer in range(2):
        talk.hello(trainer)
        talk.declare(trainer)
    assert talk.ask(1, Seed()) == [Fails("BadMessage")]
    assert talk.closed == [1]


# Rules 3 and 4: steps.


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


@pytest.mark.parametrize(
    "message", [Seed(), Pull(), PullRows((0,)), Push(1, 0, 1), EndPass(0), Declare(MODEL, update(), 0, 1)]
)
def test_nothing_is_understood_before_hello(message: Request) -> None:
    talk = Talk()
    assert talk.ask(0, message) == [Fails("BadMessage", "before Hello")]


def test_a_second_question_before_the_answer_is_an_error() -> None:
    talk = Talk(2).start()
    talk.push(0, ONE)
    assert talk.push(0, ONE) == [Fails("BadMessage", "before the last question was answered")]


# Rule 5: passes.


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


# Rule 6: goodbye.


def test_a_trainer_that_said_goodbye_is_waited_for_no_more() -> None:
    talk = Talk(2).start()
    talk.push(0, ONE)
    assert talk.goodbye(1) == [Answer(0)]
    assert talk.told(0) == Answer(1)
    assert talk.push(0, ONE) == [Answer(2)]
    assert talk.end_pass(0) == [Answer(2)]


def test_a_trainer_that_failed_breaks_the_job_at_once() -> None:
    talk = Talk(3).start()
    talk.push(0, ONE)
    talk.goodbye(1, failure="MemoryError: no")
    lost = Fails("TrainerLost", "trainer 1 at host1 failed: MemoryError: no")
    assert talk.told(0) == lost
    assert talk.push(2, ONE) == [lost]  # rule 8
    assert talk.shard.outcome is None
    talk.goodbye(0)
    talk.goodbye(2)
    assert talk.shard.outcome is not None
    assert talk.shard.outcome.exit_status == 1


def test_a_trainer_that_cannot_start_is_as_if_it_had_never_come() -> None:
    talk = Talk(2)
    talk.hello(1)
    talk.goodbye(1, failure="refused by another shard")
    talk.start()
    assert talk.push(0, ONE) == []
    assert talk.push(1, ONE) == [Answer(1)]


def test_trainer_0_leaving_before_it_seeded_breaks_the_job() -> None:
    talk = Talk(2)
    for trainer in range(2):
        talk.hello(trainer)
        talk.declare(trainer)
    talk.goodbye(0)
    assert talk.told(1) == Fails("TrainerLost", "before it had given the initial values")


# Rule 7: patience.


def test_a_barrier_tells_whom_it_waits_for_now_and_then() -> None:
    talk = Talk(3, barrier_timeout_s=100).start()
    talk.push(0, ONE)
    for _ in range(30):
        talk.wait(1)
    notices = [message for to, message in talk.replies if to == 0 and isinstance(message, Waiting)]
    assert [notice.text.split(" for ")[0] for notice in notices] == [
        "waiting since 5 s",
        "waiting since 10 s",
        "waiting since 20 s",
    ]
    assert "trainer 1 (at host1, last heard 5 s ago), trainer 2" in notices[0].text
    assert any("waiting since 5 s for trainer 1" in note for note in talk.notes)


@pytest.mark.parametrize("how", ["silent", "lost", "never joined"])
def test_patience_with_a_missing_trainer_ends_with_its_name(how: str) -> None:
    talk = Talk(2, barrier_timeout_s=100)
    if how == "never joined":
        talk.hello(0)
        talk.declare(0)
        talk.seed()
    else:
        talk.start()
        talk.push(0, ONE)
        talk.push(1, ONE)
    if how == "lost":
        talk.lose(1)
    talk.push(0, ONE)
    talk.wait(99)
    assert isinstance(talk.told(0), Waiting)
    talk.wait(1)
    assert talk.told(0) == Fails("TrainerLost", "missing trainer 1 (")


def test_patience_with_a_lost_trainer_counts_from_its_loss() -> None:
    talk = Talk(2, barrier_timeout_s=100).start()
    talk.push(0, ONE)
    talk.push(1, ONE)
    talk.lose(1)
    talk.wait(90)  # trainer 0 computes
    talk.push(0, ONE)
    talk.wait(10)
    assert talk.told(0) == Fails("TrainerLost", "its connection from host1 broke 100 s ago")


def test_waiting_for_trainer_0_ends_too() -> None:
    talk = Talk(2, barrier_timeout_s=100)
    talk.hello(1)
    talk.declare(1)
    talk.wait(100)
    assert talk.told(1) == Fails("TrainerLost", "missing trainer 0 (has not joined)")


def test_the_last_push_of_a_lost_trainer_counts() -> None:
    talk = Talk(2).start()
    talk.push(1, TWO)
    talk.lose(1)
    assert talk.push(0, ONE) == [Answer(1)]
    assert talk.w[0] == -1.5


def test_nobody_takes_the_place_of_a_trainer_that_was_lost_while_training() -> None:
    talk = Talk(2).start()
    talk.push(1, ONE)
    talk.lose(1)
    assert talk.ask(7, Hello(PROTOCOL, 1, 2, "dense")) == [
        Fails("DuplicateTrainer", "start the pservers again")
    ]


# Rule 9: the end.


def outcome_of(talk: Talk) -> Outcome:
    assert talk.shard.outcome is not None
    return talk.shard.outcome


def test_a_shard_is_over_when_all_have_said_goodbye() -> None:
    talk = Talk(2).start()
    talk.goodbye(0)
    assert talk.shard.outcome is None
    talk.goodbye(1)
    assert outcome_of(talk).exit_status == 0


def test_a_trainer_that_crashes_after_its_last_pass_does_not_spoil_the_job() -> None:
    talk = Talk(2, barrier_timeout_s=100).start()
    talk.push(1, ONE)
    talk.push(0, ONE)
    talk.end_pass(0)
    talk.end_pass(1)
    talk.lose(1)
    talk.goodbye(0)
    talk.wait(99)
    assert talk.shard.outcome is None
    talk.wait(1)
    assert outcome_of(talk).exit_status == 0


def test_a_trainer_that_crashes_within_its_pass_does() -> None:
    talk = Talk(2, barrier_timeout_s=100).start()
    talk.push(1, ONE)
    talk.lose(1)
    talk.goodbye(0)
    talk.wait(100)
    assert outcome_of(talk).exit_status == 1
    assert "trainer 1" in outcome_of(talk).text


def test_a_shard_waits_for_its_first_trainer_for_ever() -> None:
    talk = Talk(2, barrier_timeout_s=100)
    talk.wait(1e9)
    assert talk.shard.outcome is None


def test_a_broken_shard_ends_even_if_a_trainer_stays_connected() -> None:
    talk = Talk(2, barrier_timeout_s=100).start()
    talk.goodbye(1, failure="it")
    talk.wait(100)
    assert outcome_of(talk).exit_status == 1


# Asynchronous mode.


def test_a_useless_discard_ratio_is_replaced_with_a_warning() -> None:
    talk = Talk(2, update(is_async=True, async_lagged_grad_discard_ratio=1.0)).start()
    assert "async_lagged_grad_discard_ratio=1.0 is not above 1.0: 1.5 is used" in talk.notes


def test_a_stale_gradient_is_dropped_told_and_counted() -> None:
    talk = Talk(2, update(is_async=True)).start()  # threshold 3: two commits of others in between
    assert talk.push(0, ONE) == [Answer(1)]
    assert talk.push(0, ONE) == [Answer(2)]
    assert talk.push(1, TWO) == [Answer(2, dropped=True)]
    assert talk.w[0] == -1
    assert talk.shard.clocks.dropped == [0, 1]
    assert talk.shard.clocks.samples == 2
    assert talk.push(1, TWO) == [Answer(3)]
    assert "discarded per trainer [0, 1]" in str(talk.shard.clocks)


def test_fresh_rows_make_the_next_gradient_fresh() -> None:
    talk = Talk(2, update(is_async=True)).start()
    talk.push(0, ONE)
    talk.push(0, ONE)
    talk.ask(1, PullRows((0,)), ids=[np.empty(0, np.int64)])
    assert talk.push(1, TWO) == [Answer(3)]


def test_all_end_a_pass_with_the_same_values_however_slowly_they_take_them() -> None:
    talk = Talk(2, update(is_async=True)).start()
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
