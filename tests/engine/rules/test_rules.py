"""Update rules against their float64 twins, and the invariance shards rely on."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import paddle._engine
from paddle._engine.errors import UnknownName
from paddle._engine.exchange import RuleSpec
from paddle._engine.penalties import Penalties
from paddle._engine.rules import RULES, Rule, rule
from tests.engine.rules.rule_twins import EPSILON, OPTIONS, Twin
from tests.engine.rules.test_rules_fluid import OF_FLUID

WITHOUT_MOMENTUM = ("sgd", "adam", "adamax", "ftrl", "lamb")
CASES = [(name, m) for name in OPTIONS for m in (0.0, 0.6) if not m or name not in WITHOUT_MOMENTUM]


def make(name: str, momentum: float | None = None) -> Rule:
    return rule(RuleSpec(name=name, options=OPTIONS[name]), momentum)


def state(chosen: Rule, like: np.ndarray) -> list[np.ndarray]:
    return [np.zeros_like(like) for _ in chosen.slots]


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


PENALTIES = st.builds(
    Penalties,
    l1=st.sampled_from([0.0, 0.01, 0.5]),
    l2=st.sampled_from([0.0, 0.02, 0.5]),
    clip=st.sampled_from([math.inf, 1.0, 0.05]),
)
SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(("name", "momentum"), CASES)
@settings(max_examples=25, deadline=None)
@example(seed=170, size=2, steps=5, penalties=Penalties(l2=0.5), scale=1e-2)
@given(
    seed=SEEDS,
    size=st.integers(1, 70),
    steps=st.integers(1, 5),
    penalties=PENALTIES,
    scale=st.sampled_from([1e-2, 1, 30]),
)
def test_a_rule_follows_its_formula(name, momentum, seed, size, steps, penalties, scale):
    chosen, values = make(name, momentum), normal(seed, size)
    twin, slots = Twin(name, values, momentum, penalties), state(chosen, values)
    largest = 1.0  # that a value ever was: its roundings stay when it becomes small again
    for step in range(1, steps + 1):
        gradient = normal(seed ^ step, size) * np.float32(scale)
        twin.update(gradient, lr=0.1 / step)
        largest = max(largest, abs(twin.w).max())
        chosen.dense(values, gradient, slots, 0.1 / step, penalties, step)
    np.testing.assert_allclose(values, twin.w, rtol=2e-5, atol=2e-5 * largest)


@pytest.mark.parametrize(("name", "momentum"), [case for case in CASES if not RULES[case[0]].needs_whole])
@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, cuts=st.lists(st.integers(0, 150), max_size=4), penalties=PENALTIES)
def test_cutting_a_parameter_into_blocks_changes_no_bit(name, momentum, seed, cuts, penalties):
    chosen, whole = make(name, momentum), normal(seed, 150)
    blocks, slots, block_slots = whole.copy(), state(chosen, whole), state(chosen, whole)
    edges = [0, *sorted(cuts), 150]
    for step in (1, 2, 3):
        gradient = normal(seed ^ step, 150)
        chosen.dense(whole, gradient, slots, 0.05, penalties, step)
        for low, high in pairwise(edges):
            own = [slot[low:high] for slot in block_slots]
            chosen.dense(blocks[low:high], gradient[low:high], own, 0.05, penalties, step)
    assert blocks.tobytes() == whole.tobytes()
    assert [s.tobytes() for s in block_slots] == [s.tobytes() for s in slots]


@pytest.mark.parametrize(("name", "momentum"), CASES)
@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, height=st.integers(1, 9), width=st.integers(1, 40), penalties=PENALTIES)
def test_a_table_touched_throughout_equals_a_dense_parameter_bit_for_bit(
    name, momentum, seed, height, width, penalties
):
    chosen, table = make(name, momentum), normal(seed, 1 if RULES[name].needs_whole else height, width)
    height = len(table)
    dense, slots, last_step = table.ravel().copy(), state(chosen, table), np.zeros(height, np.int64)
    dense_slots = state(chosen, dense)
    for step in (1, 2, 3):
        gradient = normal(seed ^ step, height, width)
        index = np.random.default_rng(step).permutation(height)
        chosen.rows(table, index, gradient[index], slots, last_step, 0.05, penalties, step)
        chosen.dense(dense, gradient.ravel(), dense_slots, 0.05, penalties, step)
    assert table.tobytes() == dense.tobytes()
    assert [s.tobytes() for s in slots] == [s.tobytes() for s in dense_slots]


@pytest.mark.parametrize(("name", "momentum"), CASES)
def test_only_the_listed_rows_change_and_the_gradient_stays(name, momentum):
    chosen, table, gradient = make(name, momentum), normal(1, 6, 5), normal(2, 2, 5)
    slots, last_step = state(chosen, table), np.zeros(6, np.int64)
    before, given_gradient = table.copy(), gradient.copy()
    penalties = Penalties(l1=0.01, l2=0.01, clip=0.5)
    chosen.rows(table, np.array([4, 1]), gradient, slots, last_step, 0.1, penalties, 3)
    others = [0, 2, 3, 5]
    assert np.array_equal(table[others], before[others])
    assert (table[[1, 4]] != before[[1, 4]]).all()
    assert all(not slot[others].any() for slot in slots)
    assert last_step.tolist() == [0, 3, 0, 0, 3, 0]
    assert np.array_equal(gradient, given_gradient)


@pytest.mark.parametrize(("name", "momentum"), CASES)
def test_no_rows_and_no_values_change_nothing(name, momentum):
    chosen, table, last_step = make(name, momentum), normal(1, 3, 4), np.ones(3, np.int64)
    before, nothing, no_rows = table.copy(), np.zeros(0, np.float32), np.zeros((0, 4), np.float32)
    slots = state(chosen, table)
    chosen.rows(table, np.zeros(0, np.int64), no_rows, slots, last_step, 0.1, Penalties(), 2)
    chosen.dense(nothing, nothing, state(chosen, nothing), 0.1, Penalties(), 1)
    assert np.array_equal(table, before)
    assert last_step.tolist() == [1, 1, 1]


@pytest.mark.parametrize(("name", "momentum"), CASES)
def test_a_nan_gradient_shows(name, momentum):
    chosen, values = make(name, momentum), np.ones(3, np.float32)
    gradient = np.array([1, math.nan, 1], np.float32)
    chosen.dense(values, gradient, state(chosen, values), 0.1, Penalties(l1=0.1, l2=0.1, clip=0.5), 1)
    assert np.isnan(values).tolist() == [False, True, False]


def test_each_row_of_lamb_moves_by_a_share_of_its_own_length():
    chosen, table = make("lamb"), normal(1, 3, 5) * np.array([[1], [10], [100]], np.float32)
    before, gradient, last_step = table.copy(), normal(2, 3, 5), np.zeros(3, np.int64)
    chosen.rows(table, np.arange(3), gradient, state(chosen, table), last_step, 0.1, Penalties(), 1)
    lengths = np.linalg.norm(table - before, axis=1) / np.linalg.norm(before, axis=1)
    np.testing.assert_allclose(lengths, 0.1, rtol=1e-5)


def test_lamb_moves_values_of_length_zero():
    chosen, values = make("lamb"), np.zeros(4, np.float32)
    chosen.dense(values, np.ones(4, np.float32), state(chosen, values), 0.1, Penalties(), 1)
    np.testing.assert_allclose(values, -0.1 / (1 + EPSILON), rtol=1e-4)


def test_ftrl_leaves_values_at_zero_until_gradients_outweigh_its_l1():
    chosen = rule(RuleSpec(name="ftrl", options={"l1": 1.0}))
    values = np.zeros(2, np.float32)
    slots = state(chosen, values)
    for step in (1, 2):
        chosen.dense(values, np.array([0.4, 0.9], np.float32), slots, 0.1, Penalties(), step)
    assert values[0] == 0.0
    assert values[1] < 0.0


def test_ftrl_takes_other_powers_than_the_root():
    values, others = normal(1, 50), normal(1, 50)
    for options, w in (({"lr_power": -0.5}, values), ({"lr_power": -0.500001}, others)):
        chosen = rule(RuleSpec(name="ftrl", options=options))
        slots = state(chosen, w)
        for step in (1, 2, 3):
            chosen.dense(w, normal(step, 50), slots, 0.1, Penalties(), step)
    np.testing.assert_allclose(values, others, rtol=1e-3, atol=1e-4)


def test_adamax_leaves_an_element_without_gradient_where_it_is():
    chosen, values = make("adamax"), np.ones(2, np.float32)
    chosen.dense(values, np.array([0, 1], np.float32), state(chosen, values), 0.1, Penalties(), 1)
    np.testing.assert_allclose(values, [1, 0.9], rtol=1e-6)


def test_rmsprop_stays_finite_where_rounding_makes_the_variance_negative():
    chosen, values = make("rmsprop"), np.zeros(64, np.float32)
    slots, gradient = state(chosen, values), np.linspace(1, 1e4, 64, dtype=np.float32)
    for step in range(1, 300):
        chosen.dense(values, gradient * (2 if step < 10 else 1), slots, 1e-3, Penalties(), step)
    assert (slots[0] < slots[1] ** 2).any()
    assert np.isfinite(values).all()


def test_an_unknown_rule_or_option_is_named_beside_those_that_exist():
    with pytest.raises(
        UnknownName,
        match=r"'lion'.*adadelta, adagrad, adam, adamax, .*ftrl, lamb, .*momentum, .*rmsprop, sgd",
    ):
        rule(RuleSpec(name="lion"))
    with pytest.raises(
        UnknownName, match="'adam' has no option 'momentum'; it has beta1, beta2, epsilon, lazy"
    ):
        rule(RuleSpec(name="adam", options={"momentum": 0.9}))
    with pytest.raises(UnknownName, match="'sgd' has no option 'momentum'; it has none"):
        rule(RuleSpec(name="sgd", options={"momentum": 0.9}))


def test_a_parameters_own_momentum_replaces_the_jobs():
    spec = RuleSpec(name="momentum", options={"momentum": 0.9})
    assert rule(spec).slots == ("velocity",)
    assert rule(spec, 0.0).slots == ()
    assert rule(RuleSpec(name="adagrad"), 0.5).slots == ("square_sum", "velocity")
    assert rule(RuleSpec(name="adam"), 0.5) == rule(RuleSpec(name="adam"))


def test_every_rule_is_tested_here():
    assert set(OPTIONS) | set(OF_FLUID) == set(RULES)


def test_choosing_a_rule_does_not_load_numba():
    program = (
        "import sys; from paddle._engine.rules import rule; from paddle._engine.exchange import RuleSpec; "
        "rule(RuleSpec(name='adam')); sys.exit('numba' in sys.modules)"
    )
    runtime = Path(paddle._engine.__file__).parents[2]
    environ = {"PYTHONPATH": str(runtime)}
    assert subprocess.run([sys.executable, "-c", program], env=environ, check=False).returncode == 0
