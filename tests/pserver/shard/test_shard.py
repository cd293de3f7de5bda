"""The shard's rules, one by one, without a socket and without waiting: who is there, and how a job ends."""

from __future__ import annotations

import pytest

from paddle._pserver.protocol.messages import (
    PROTOCOL,
    Answer,
    Declare,
    EndPass,
    Hello,
    Pull,
    PullRows,
    Push,
    Request,
    Seed,
    Waiting,
)
from paddle._pserver.shard.ending import Outcome

from ..talk import MODEL, ONE, TWO, Fails, Talk, update

# Rules 1 and 3: who may ask, and when.


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


def test_what_a_trainer_tells_of_its_failure_is_one_line() -> None:
    talk = Talk(2).start()
    talk.push(0, ONE)
    talk.goodbye(1, failure="KeyError: \x1b[2Ja word\n\tthat is not\x07 there")
    assert talk.told(0) == Fails(
        "TrainerLost", "trainer 1 at host1 failed: KeyError: a word that is not\\x07 there"
    )


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
    assert [
        (text[0].split(" for ")[0], text[2]) for text in (each.text.rpartition(", ") for each in notices)
    ] == [
        ("waiting 5 s", "gives up in 95 s"),
        ("waiting 10 s", "gives up in 90 s"),
        ("waiting 20 s", "gives up in 80 s"),
    ]
    assert "trainer 1 (at host1, last heard 5 s ago), trainer 2" in notices[0].text
    assert any("waiting 5 s for trainer 1" in note for note in talk.notes)


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


def test_when_the_last_trainer_is_lost_it_is_said_how_long_one_may_come_back() -> None:
    talk = Talk(2, barrier_timeout_s=90).start()
    talk.push(0, ONE)
    talk.push(1, ONE)
    talk.lose(0)
    talk.lose(1)
    said = [note for note in talk.notes if note.startswith("lost trainer")]
    alone = "; no trainer is connected: ends in 90 s (barrier_timeout) unless one comes back"
    assert [note.endswith(alone) for note in said] == [False, True]


def test_one_that_had_told_nothing_is_awaited_without_end() -> None:
    talk = Talk(2, barrier_timeout_s=90)
    talk.hello(0)
    talk.lose(0)
    (said,) = (note for note in talk.notes if note.startswith("lost trainer"))
    assert "no trainer is connected" not in said


def test_how_long_one_may_come_back_counts_from_when_the_last_one_went_that_had_told_something() -> None:
    talk = Talk(3, barrier_timeout_s=90).start()
    talk.push(0, ONE)
    talk.goodbye(0)
    talk.lose(1)
    talk.now += 60
    talk.lose(2)
    assert talk.notes[-1].endswith("ends in 30 s (barrier_timeout) unless one comes back")
    talk.wait(29)
    assert talk.shard.outcome is None
    talk.wait(1)
    assert outcome_of(talk).exit_status == 1


def test_that_one_is_lost_when_all_have_said_goodbye_promises_no_time() -> None:
    talk = Talk(1, barrier_timeout_s=90)
    talk.hello(0, "it")
    talk.declare(0)
    talk.seed()
    talk.goodbye(0)
    talk.hello(0, "it")
    talk.lose(0)
    assert outcome_of(talk).exit_status == 0
    assert not any("barrier_timeout" in note for note in talk.notes)
