"""From the first declaration to the last initial value, as trainers see it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._pserver.options import in_mib
from paddle._pserver.protocol.messages import (
    Answer,
    Declare,
    Declared,
    Seed,
)

from ..talk import MODEL, ONE, TWO, Fails, Talk, update


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
    told = Fails("DeclarationMismatch", "they differ in parameter 't': shape (5, 2) and (6, 2)")
    assert talk.ask(1, Declare(other, talk.spec, 0, 1)) == [told]
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
    (told,) = [note for note in talk.notes if note.startswith("refuses trainer 0 at ")]
    assert "use more pservers" in told
    assert "MiB, with optimizer state and the gradients of 1 trainers and 1 MiB for each connection" in told
    assert "and may have 1 MiB, its part of --memory_limit (MiB for all shards of a pserver" in told


def test_a_server_that_refuses_its_only_trainer_says_that_it_waits_for_another() -> None:
    talk = Talk(2)
    talk.hello(1)
    talk.ask(1, Declare((MODEL[0], MODEL[0]), talk.spec, 0, 1))
    (told,) = [note for note in talk.notes if note.startswith("refuses trainer 1 at host1")]
    assert ", and waits for another in its place until it is stopped: parameter 'w' is declared" in told
    talk.hello(0)
    talk.hello(1)
    talk.ask(1, Declare((MODEL[0], MODEL[0]), talk.spec, 0, 1))
    assert talk.notes[-1].startswith("refuses trainer 1 at host1: "), "others wait for it, and not for ever"


@pytest.mark.parametrize(
    ("size", "up", "told"),
    [(0, True, "0 MiB"), (1, True, "0.1 MiB"), ((1 << 20) - 1, False, "0.9 MiB"), (5 << 19, True, "2.5 MiB"),
     (1 << 50, True, f"{1 << 30} MiB")],
)  # fmt: skip
def test_what_is_needed_is_never_told_as_what_there_is(size: int, up: bool, told: str) -> None:
    assert in_mib(size, up=up) == told


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


def test_initial_values_of_what_lives_elsewhere_are_refused() -> None:
    talk = Talk()
    talk.hello(0)
    talk.declare(0)
    assert talk.ask(0, Seed("elsewhere")) == [Fails("BadMessage", "keeps no rows of 'elsewhere'")]
