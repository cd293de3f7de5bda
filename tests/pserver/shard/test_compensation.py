"""DC-ASGD: a late gradient counts as g + g * g * (w - w as its trainer was given it)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec, ParameterSpec
from paddle._pserver.protocol.messages import Answer, Declare, Pull, Seed
from paddle._pserver.shard.compensation import Compensation
from paddle._pserver.tables.gradient import Gradient

from ..talk import LEARNING_RATE, Fails, Talk, update

SHAPES = {"w": (3,), "v": (2, 2)}
LATE = ModeSpec(name="async", discard_ratio=1e9, compensates=True)


class Dense(Talk):
    """Of dense parameters alone."""

    def declare(self, trainer: int) -> list[Any]:
        model = tuple(ParameterSpec(name=name, shape=shape) for name, shape in SHAPES.items())
        return self.ask(trainer, Declare(model, self.spec, 0, 1))

    def seed(self) -> None:
        assert Answer(0) in self.ask(0, Seed())
        assert self.shard.ready


def values_of(talk: Talk) -> np.ndarray:
    assert talk.shard.tables is not None
    return talk.shard.tables.values


def pushed(talk: Talk, trainer: int, given: np.ndarray) -> None:
    pieces = np.split(given.astype(np.float32), [3])
    assert isinstance(talk.push(trainer, Gradient(pieces))[0], Answer)


@pytest.mark.parametrize("mode", [LATE, ModeSpec(name="half_async", max_merge_var_num=2, compensates=True)])
def test_events_in_any_order_give_what_the_formula_says(mode: ModeSpec) -> None:
    """Three trainers push and pull by chance; the other one is nine lines of numpy."""
    random = np.random.default_rng(5)
    talk = Dense(3, update(mode=mode)).start()
    for trainer in range(3):
        talk.ask(trainer, Pull())
    now, given = np.zeros(7), np.zeros((3, 7))
    for _ in range(200):
        trainer, gradient = random.integers(3), random.normal(0, 0.3, 7)
        if random.random() < 0.2:
            talk.ask(trainer, Pull())
        else:
            pushed(talk, trainer, gradient)
            now -= LEARNING_RATE * (gradient + gradient**2 * (now - given[trainer]))
        given[trainer] = now
        np.testing.assert_allclose(values_of(talk), now, rtol=2e-4, atol=1e-5)
        np.testing.assert_array_equal(talk.bodies[trainer][0], values_of(talk))


def test_a_trainer_alone_trains_as_without() -> None:
    plain, late = Dense(1, update(mode=ModeSpec(name="async"))).start(), Dense(1, update(mode=LATE)).start()
    for talk in (plain, late):
        for step in range(5):
            pushed(talk, 0, np.arange(7) - step)
    np.testing.assert_array_equal(values_of(plain), values_of(late))


def test_a_trainer_that_was_given_nothing_has_the_values_of_now() -> None:
    """So it is after a restart of the shard."""
    made = Compensation(np.full(7, 5, np.float32), (3, 4), trainers=2)
    told = Gradient([np.ones(3, np.float32), np.ones(4, np.float32)])
    assert made.of(1, told) is told


def test_gradients_of_rows_are_refused_by_name() -> None:
    talk = Talk(1, update(mode=LATE))
    talk.hello(0)
    assert talk.declare(0)[-1] == Fails("Refused", "(DC-ASGD), and 't' is a table")
