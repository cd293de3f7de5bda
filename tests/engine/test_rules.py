"""Update rules against float64 numpy twins written from the formulas, and the invariance shards rely on."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle._engine
from paddle._engine.errors import UnknownName
from paddle._engine.exchange import RuleSpec
from paddle._engine.penalties import Penalties
from paddle._engine.rules import RULES, Rule, rule

RHO, EPSILON, BETA1, BETA2 = 0.9, 1e-6, 0.8, 0.99
OPTIONS = {
    "sgd": {},
    "momentum": {"momentum": 0.0},
    "adagrad": {"epsilon": EPSILON},
    "decayed_adagrad": {"rho": RHO, "epsilon": EPSILON},
    "rmsprop": {"rho": RHO, "epsilon": EPSILON},
    "adadelta": {"rho": RHO, "epsilon": EPSILON},
    "adam": {"beta1": BETA1, "beta2": BETA2, "epsilon": EPSILON},
    "adamax": {"beta1": BETA1, "beta2": BETA2},
}
WITHOUT_MOMENTUM = ("sgd", "adam", "adamax")
CASES = [(name, m) for name in OPTIONS for m in (0.0, 0.6) if not m or name not in WITHOUT_MOMENTUM]


class Reference:
    """One dense parameter in float64, updated as the documents' formulas say."""

    def __init__(self, name: str, values: np.ndarray, momentum: float, penalties: Penalties) -> None:
        self.scale = getattr(self, "_" + name)
        self.momentum = momentum
        self.penalties = penalties
        self.w = values.astype(np.float64)
        self.velocity = np.zeros_like(self.w)
        self.first = np.zeros_like(self.w)
        self.second = np.zeros_like(self.w)
        self.step = 0

    def update(self, gradient: np.ndarray, lr: float) -> None:
        self.step += 1
        l1, l2 = self.penalties.l1, self.penalties.l2
        g = np.clip(gradient.astype(np.float64), -self.penalties.clip, self.penalties.clip)
        rate = lr * self.scale(g)
        if self.scale in (self._adam, self._adamax):
            self.w -= rate * self.first
            rate, follow = lr, True
        else:
            follow = l1 > 0
            self.velocity = self.momentum * self.velocity - rate * (g + (0 if follow else l2) * self.w)
            self.w += self.velocity
        if follow:
            self.w = np.sign(self.w) * np.maximum(np.abs(self.w) - rate * l1, 0) / (1 + rate * l2)

    def _sgd(self, g: np.ndarray) -> np.ndarray:
        return np.ones_like(g)

    _momentum = _sgd

    def _adagrad(self, g: np.ndarray) -> np.ndarray:
        self.first += g**2
        return 1 / np.sqrt(self.first + EPSILON)

    def _decayed_adagrad(self, g: np.ndarray) -> np.ndarray:
        self.first = RHO * self.first + (1 if self.step == 1 else 1 - RHO) * g**2
        return 1 / np.sqrt(self.first + EPSILON)

    def _rmsprop(self, g: np.ndarray) -> np.ndarray:
        self.first = RHO * self.first + (1 if self.step == 1 else 1 - RHO) * g**2
        self.second = RHO * self.second + (1 - RHO) * g
        return 1 / np.sqrt(self.first - self.second**2 + EPSILON)

    def _adadelta(self, g: np.ndarray) -> np.ndarray:
        self.first = RHO * self.first + (1 - RHO) * g**2
        scale = np.sqrt((self.second + EPSILON) / (self.first + EPSILON))
        self.second = RHO * self.second + (1 - RHO) * (scale * g) ** 2
        return scale

    def _adam(self, g: np.ndarray) -> np.ndarray:
        self.first = BETA1 * self.first + (1 - BETA1) * g
        self.second = BETA2 * self.second + (1 - BETA2) * g**2
        correction = math.sqrt(1 - BETA2**self.step) / (1 - BETA1**self.step)
        return correction / (np.sqrt(self.second) + EPSILON)

    def _adamax(self, g: np.ndarray) -> np.ndarray:
        self.first = BETA1 * self.first + (1 - BETA1) * g
        self.second = np.maximum(BETA2 * self.second, np.abs(g))
        return 1 / (1 - BETA1**self.step) / self.second


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
@given(
    seed=SEEDS,
    size=st.integers(1, 70),
    steps=st.integers(1, 5),
    penalties=PENALTIES,
    scale=st.sampled_from([1e-2, 1, 30]),
)
def test_a_rule_follows_its_formula(name, momentum, seed, size, steps, penalties, scale):
    chosen, values = make(name, momentum), normal(seed, size)
    reference, slots = Reference(name, values, momentum, penalties), state(chosen, values)
    for step in range(1, steps + 1):
        gradient = normal(seed ^ step, size) * np.float32(scale)
        reference.update(gradient, lr=0.1 / step)
        chosen.dense(values, gradient, slots, 0.1 / step, penalties, step)
    np.testing.assert_allclose(values, reference.w, rtol=2e-5, atol=2e-5 * max(1, abs(reference.w).max()))


@pytest.mark.parametrize(("name", "momentum"), CASES)
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
    chosen, table = make(name, momentum), normal(seed, height, width)
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


def test_penalties_of_idle_steps_fall_due_at_the_next_touch():
    table, last_step = np.full((1, 2), 2.0, np.float32), np.array([3])
    gradient = np.zeros((1, 2), np.float32)
    make("sgd").rows(table, np.array([0]), gradient, [], last_step, 0.1, Penalties(l2=0.5), 8)
    np.testing.assert_allclose(table, 2.0 * (1 - 0.1 * 0.5) / (1 + 4 * 0.1 * 0.5), rtol=1e-6)
    table[:], last_step[:] = 2.0, 3
    make("sgd").rows(table, np.array([0]), gradient, [], last_step, 0.1, Penalties(l1=0.4, l2=0.5), 8)
    np.testing.assert_allclose(table, (2.0 - 5 * 0.1 * 0.4) / (1 + 5 * 0.1 * 0.5), rtol=1e-6)


def test_sparse_momentum_rows_equal_a_dense_parameter_with_zero_gradients_between():
    chosen = rule(RuleSpec(name="momentum", options={"momentum": 0.8, "sparse": 1.0}))
    table, last_step = normal(3, 4, 6), np.zeros(4, np.int64)
    dense = table.ravel().copy()
    slots, dense_slots = state(chosen, table), state(chosen, dense)
    for step, touched in enumerate(([0, 1], [0], [3], [1, 3], [], [0], [0, 1, 2, 3]), start=1):
        index = np.array(touched, np.int64)
        gradient = np.zeros((4, 6), np.float32)
        gradient[index] = normal(step, len(touched), 6)
        chosen.rows(table, index, gradient[index], slots, last_step, 0.1, Penalties(), step)
        chosen.dense(dense, gradient.ravel(), dense_slots, 0.1, Penalties(), step)
    np.testing.assert_allclose(table.ravel(), dense, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(slots[0].ravel(), dense_slots[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["decayed_adagrad", "rmsprop"])
def test_a_mean_of_squares_starts_at_a_rows_first_touch_and_fades_while_it_is_idle(name):
    chosen, table, last_step = make(name), normal(1, 2, 3), np.zeros(2, np.int64)
    slots, gradient = state(chosen, table), normal(2, 1, 3)
    chosen.rows(table, np.array([1]), gradient, slots, last_step, 0.1, Penalties(), 7)
    np.testing.assert_allclose(slots[0][1], gradient[0] ** 2, rtol=1e-6)
    chosen.rows(table, np.array([1]), gradient, slots, last_step, 0.1, Penalties(), 12)
    np.testing.assert_allclose(slots[0][1], (RHO**5 + 1 - RHO) * gradient[0] ** 2, rtol=1e-5)


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
        UnknownName, match=r"'lion'.*adadelta, adagrad, adam, adamax, .*momentum, rmsprop, sgd"
    ):
        rule(RuleSpec(name="lion"))
    with pytest.raises(UnknownName, match="'adam' has no option 'momentum'; it has beta1, beta2, epsilon"):
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
    assert set(OPTIONS) == set(RULES)


def test_choosing_a_rule_does_not_load_numba():
    program = (
        "import sys; from paddle._engine.rules import rule; from paddle._engine.exchange import RuleSpec; "
        "rule(RuleSpec(name='adam')); sys.exit('numba' in sys.modules)"
    )
    runtime = Path(paddle._engine.__file__).parents[2]
    environ = {"PYTHONPATH": str(runtime)}
    assert subprocess.run([sys.executable, "-c", program], env=environ, check=False).returncode == 0
