"""Rows that steps pass by: caught up, they are what a dense parameter with zero gradients would be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.exchange import RuleSpec
from paddle._engine.penalties import Penalties
from paddle._engine.rates import Rates
from paddle._engine.rules import RULES, Rule, rule
from tests.engine.rules.rule_twins import OPTIONS, Twin

Schedule = Callable[[int], float]

HEIGHT, WIDTH = 7, 5
EXACT = {"sgd": {}, "momentum": {"momentum": 0.8, "sparse": 1.0}, "adagrad": {}, "adam": {"lazy": 0.0}}
SCHEDULES: dict[str, Schedule] = {
    "constant": lambda step: 0.01,
    "in two steps": lambda step: 0.01 if step < 30 else 0.001,
    "falling": lambda step: 0.01 / (1 + 0.03 * step),
}
PENALTIES = {
    "none": Penalties(),
    "L2": Penalties(l2=0.2),
    "L1": Penalties(l1=0.03),
    "L1 and L2": Penalties(l1=0.03, l2=0.2),
}


def exact(name: str) -> Rule:
    return rule(RuleSpec(name=name, options={**OPTIONS[name], **EXACT[name]}))


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


class Sparse:
    """A table as its keeper treats it."""

    def __init__(self, chosen: Rule, values: np.ndarray, penalties: Penalties) -> None:
        self.rule, self.penalties, self.table = chosen, penalties, values.copy()
        self.slots = [np.zeros_like(values) for _ in chosen.slots]
        self.last_step, self.rates, self.step = np.zeros(len(values), np.int64), Rates(), 0

    def catch_up(self, index: np.ndarray | None = None) -> None:
        self.rule.catch_up(
            self.table, index, self.slots, self.last_step, self.rates, self.penalties, self.step
        )

    def update(self, index: np.ndarray, gradient: np.ndarray, rate: float) -> None:
        self.catch_up(index)
        self.step += 1
        state = self.slots, self.last_step
        self.rule.rows(self.table, index, gradient, *state, rate, self.penalties, self.step)
        self.rates.add(rate)


class Dense:
    """The same values as one dense parameter, whose gradient is zero outside of the rows that are touched.

    It is the rule's float64 twin: over many steps a float32 one would be the less exact of the two.
    """

    def __init__(self, name: str, values: np.ndarray, penalties: Penalties) -> None:
        self.twin = Twin(name, values, EXACT[name].get("momentum", 0.0), penalties)

    def update(self, index: np.ndarray, gradient: np.ndarray, rate: float) -> None:
        full = np.zeros((HEIGHT, WIDTH), np.float32)
        full[index] = gradient
        self.twin.update(full, rate)


def train(*trained: Sparse | Dense, schedule: Schedule, steps: int, seed: int, share: float = 0.1) -> None:
    """Touch random rows with random gradients; the last row never."""
    generator = np.random.default_rng(seed)
    for step in range(1, steps + 1):
        index = np.flatnonzero(generator.random(HEIGHT - 1) < share)
        gradient = generator.standard_normal((len(index), WIDTH)).astype(np.float32)
        for each in trained:
            each.update(index, gradient, schedule(step))


def close(sparse: Sparse, dense: Dense, tolerance: float) -> None:
    np.testing.assert_allclose(sparse.table, dense.twin.w, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("penalties", PENALTIES)
@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_a_table_read_whole_is_what_a_dense_parameter_would_be(name, penalties, schedule, seed):
    values = normal(seed, HEIGHT, WIDTH)
    sparse = Sparse(exact(name), values, PENALTIES[penalties])
    dense = Dense(name, values, PENALTIES[penalties])
    train(sparse, dense, schedule=SCHEDULES[schedule], steps=80, seed=seed)
    sparse.catch_up()
    close(sparse, dense, 1e-6)


@pytest.mark.parametrize("penalties", PENALTIES)
@pytest.mark.parametrize("name", EXACT)
def test_rows_that_are_idle_for_very_long_lose_no_digits(name, penalties):
    values = normal(1, HEIGHT, WIDTH)
    sparse = Sparse(exact(name), values, PENALTIES[penalties])
    dense = Dense(name, values, PENALTIES[penalties])
    train(sparse, dense, schedule=lambda step: 1e-3, steps=3000, seed=1, share=2e-3)
    sparse.catch_up()
    close(sparse, dense, 1e-6)


@pytest.mark.parametrize("name", EXACT)
def test_catching_up_twice_and_in_parts_changes_nothing_that_matters(name):
    penalties, values = PENALTIES["L1 and L2"], normal(1, HEIGHT, WIDTH)
    once, often = (Sparse(exact(name), values, penalties) for _ in range(2))
    for seed in range(4):
        train(once, often, schedule=SCHEDULES["falling"], steps=10, seed=seed)
        often.catch_up(np.array([6, 2, 2, 6]))
    for each in (once, often):
        each.catch_up()
    before = often.table.copy()
    often.catch_up(np.arange(HEIGHT))
    assert np.array_equal(often.table, before)
    np.testing.assert_allclose(once.table, often.table, rtol=1e-5, atol=1e-6)


def test_idle_rows_of_an_adam_whose_epsilon_is_corrected_equal_rows_without_a_gradient():
    chosen = rule(RuleSpec(name="adam", options={"lazy": 0.0, "corrected": 1.0, "epsilon": 0.1}))
    idle, touched = (Sparse(chosen, normal(1, HEIGHT, WIDTH), Penalties()) for _ in range(2))
    gradient = normal(2, HEIGHT, WIDTH)
    for step in range(20):
        row = np.array([step % 3])
        full = np.zeros((HEIGHT, WIDTH), np.float32)
        full[row] = gradient[row]
        idle.update(row, gradient[row], 0.1)
        touched.update(np.arange(HEIGHT), full, 0.1)
    idle.catch_up()
    np.testing.assert_allclose(idle.table, touched.table, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", RULES)
def test_without_penalties_a_lazy_rule_leaves_the_values_of_idle_rows_alone(name):
    sparse = Sparse(rule(RuleSpec(name=name)), normal(1, HEIGHT, WIDTH), Penalties())
    train(sparse, schedule=SCHEDULES["constant"], steps=3, seed=1, share=0.7)
    before = sparse.table.copy()
    for _ in range(9):
        sparse.update(np.zeros(0, np.int64), np.zeros((0, WIDTH), np.float32), 0.1)
    sparse.catch_up()
    assert np.array_equal(sparse.table, before)


@pytest.mark.parametrize("name", ["decayed_adagrad", "rmsprop", "adadelta", "adam", "adamax", "ftrl", "lamb"])
def test_penalties_go_on_for_idle_rows_of_every_other_rule_too(name):
    """Kept slots mean a kept rate, at which the values shrink from step to step."""
    chosen, penalties = rule(RuleSpec(name=name)), Penalties(l2=0.1)
    sparse = Sparse(chosen, normal(1, HEIGHT, WIDTH), penalties)
    train(sparse, schedule=SCHEDULES["constant"], steps=2, seed=1, share=0.9)
    sparse.catch_up()
    touched = sparse.last_step > 0
    before = sparse.table[touched].copy()
    for _ in range(5):
        sparse.update(np.zeros(0, np.int64), np.zeros((0, WIDTH), np.float32), 0.1)
    sparse.catch_up()
    change = sparse.table[touched] / before
    assert (change < 1).all() and (change > 0).all()
    if name in ("adam", "adamax", "ftrl", "lamb"):
        np.testing.assert_allclose(change, (1 + 0.1 * 0.1) ** -5, rtol=1e-5)


@pytest.mark.parametrize("name", ["decayed_adagrad", "rmsprop"])
def test_a_mean_of_squares_starts_at_a_rows_first_touch_and_fades_while_it_is_idle(name):
    sparse = Sparse(rule(RuleSpec(name=name, options={"rho": 0.9})), normal(1, 2, 3), Penalties())
    nothing, gradient = (np.zeros(0, np.int64), np.zeros((0, 3), np.float32)), normal(2, 1, 3)
    for _ in range(6):
        sparse.update(*nothing, 0.1)
    sparse.catch_up()  # a row that caught up was not touched by that
    sparse.update(np.array([1]), gradient, 0.1)
    np.testing.assert_allclose(sparse.slots[0][1], gradient[0] ** 2, rtol=1e-6)
    for _ in range(4):
        sparse.update(*nothing, 0.1)
    sparse.update(np.array([1]), gradient, 0.1)
    np.testing.assert_allclose(sparse.slots[0][1], (0.9**5 + 1 - 0.9) * gradient[0] ** 2, rtol=1e-5)
    assert not sparse.slots[0][0].any()


def test_plain_momentum_keeps_the_velocity_of_idle_rows():
    sparse = Sparse(rule(RuleSpec(name="momentum"), 0.5), normal(1, 2, 3), Penalties(l2=0.1))
    sparse.update(np.array([1]), normal(2, 1, 3), 0.1)
    value, velocity = sparse.table[1].copy(), sparse.slots[0][1].copy()
    for _ in range(3):
        sparse.update(np.array([0]), normal(2, 1, 3), 0.1)
    sparse.catch_up()
    assert np.array_equal(sparse.slots[0][1], velocity)
    np.testing.assert_allclose(sparse.table[1], value * (1 - 0.1 * 0.1) ** 3, rtol=1e-6)


def test_an_idle_row_shows_the_nan_that_it_has():
    sparse = Sparse(rule(RuleSpec(name="sgd")), np.full((1, 2), np.nan, np.float32), Penalties(l1=0.1))
    sparse.update(np.zeros(0, np.int64), np.zeros((0, 2), np.float32), 0.1)
    sparse.catch_up()
    assert np.isnan(sparse.table).all()


def test_rates_within_a_thousandth_are_one_run_and_others_their_own():
    rates = Rates(step=10)
    for rate in (0.1, 0.1, 0.10005, 0.2, 0.1):
        rates.add(rate)
    ends, means = rates.runs
    assert ends.tolist() == [13, 14, 15]
    np.testing.assert_allclose(means, [0.30005 / 3, 0.2, 0.1])


def test_rates_that_never_repeat_are_all_kept_and_forgotten_together():
    rates = Rates()
    given = [1 / step for step in range(1, 101)]
    for rate in given:
        rates.add(rate)
    ends, means = rates.runs
    assert ends.tolist() == list(range(1, 101))
    np.testing.assert_allclose(means, given)
    rates.forget()
    rates.add(0.5)
    assert [part.tolist() for part in rates.runs] == [[101], [0.5]]


class Unread(np.ndarray):
    """Steps that may be written, and not looked up: those of a large table are in no cache."""

    def __getitem__(self, key: object) -> None:
        raise AssertionError("nobody looks at it")


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("penalties", [Penalties(), Penalties(l2=0.1)])
def test_the_steps_of_rows_are_looked_up_only_where_idle_ones_change(name: str, penalties: Penalties):
    made = rule(RuleSpec(name=name, options=OPTIONS.get(name, {})))
    generator, index = np.random.default_rng(0), np.array([3, 0, 4])
    gradient = generator.standard_normal((3, 4), np.float32)
    seen, last_step = np.array([1, 0, -1, 0, 0, 0]), np.array([1, 0, -1, 0, 0, 0])
    looks = made.changes_idle_rows(penalties)
    found = []
    for steps in (seen, last_step if looks else last_step.view(Unread)):
        table = np.random.default_rng(1).standard_normal((6, 4), np.float32)
        slots = [np.full_like(table, 0.25) for _ in made.slots]
        if steps is seen:
            made.touch(table, index, gradient, slots, seen[index], 0.1, penalties, 2)
        else:
            made.rows(table, index, gradient, slots, steps, 0.1, penalties, 2)
        found.append([each.tobytes() for each in (table, *slots)])
    assert found[0] == found[1]
    assert last_step.tolist() == [2, 0, -1, 2, 2, 0]
