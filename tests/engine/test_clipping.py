"""Clipping: what a trainer does to its gradients before it hands them over."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.exchange import StepReport
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Normal
from paddle._engine.rows import SparseRows
from paddle._engine.scope import Scope
from tests.engine.clipping import Clip, ClipByGlobalNorm, ClipByNorm, ClipByValue, append_clipping

IDS = np.array([[3], [1], [3], [0]])
X = np.random.default_rng(0).standard_normal((4, 5)).astype(np.float32)


class Taking:
    """An exchange that keeps what it is given."""

    def __init__(self) -> None:
        self.given: dict[str, np.ndarray] = {}

    def prefetch(self, rows: object) -> None:
        pass

    def step(
        self, gradients: dict[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
    ) -> StepReport:
        self.given = {
            n: g.to_dense() if isinstance(g, SparseRows) else g.copy() for n, g in gradients.items()
        }
        return StepReport(1)


def gradients(clip: Clip | None, x: np.ndarray = X) -> dict[str, np.ndarray]:
    """What a program with a dense parameter and a sparse table, two of whose rows repeat, hands over."""
    b = Builder()
    table = b.parameter("table", (6, 5), Normal(0, 1), sparse=True)
    looked = b.op("lookup_table", {"is_sparse": True}, W=table, Ids=b.data("ids", (-1, 1), "int64"))
    weighed = b.op("elementwise_mul", X=looked, Y=b.data("x", (-1, 5)))
    out = b.op("mul", X=weighed, Y=b.parameter("w", (5, 2), Normal(0, 1)))
    pairs = append_backward(b.program, b.op("reduce_sum", X=out))
    if clip is not None:
        pairs = append_clipping(b.program, pairs, clip)
    append_exchange(b.program, pairs)
    scope, exchange = Scope(), Taking()
    initialize(b.program, scope, seed=3)
    Executor(scope, exchange).run(b.program, {"ids": IDS, "x": x}, [])
    return exchange.given


def norms(given: dict[str, np.ndarray]) -> dict[str, float]:
    return {name: float(np.linalg.norm(gradient)) for name, gradient in given.items()}


def test_by_value_bounds_each_element_of_the_sum_of_repeated_rows():
    plain, clipped = gradients(None), gradients(ClipByValue(-0.5, 0.2))
    for name in ("table", "w"):
        np.testing.assert_allclose(clipped[name], np.clip(plain[name], -0.5, 0.2), rtol=1e-6)
        assert not np.array_equal(clipped[name], plain[name])


def test_by_norm_shortens_those_that_are_too_long_each_for_itself():
    plain = norms(gradients(None))
    between = (plain["table"] + plain["w"]) / 2
    clipped = norms(gradients(ClipByNorm(between)))
    for name, length in plain.items():
        assert clipped[name] == pytest.approx(min(length, between), rel=1e-5)
    assert min(plain.values()) < between < max(plain.values())


def test_by_global_norm_shortens_all_by_one_factor():
    plain, clipped = gradients(None), gradients(ClipByGlobalNorm(0.7))
    factor = 0.7 / np.sqrt(sum(length**2 for length in norms(plain).values()))
    assert factor < 1
    for name in plain:
        np.testing.assert_allclose(clipped[name], plain[name] * factor, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("clip", [ClipByValue(-1e3, 1e3), ClipByNorm(1e3), ClipByGlobalNorm(1e3)])
def test_what_is_within_its_bounds_stays_as_it_is(clip):
    plain, clipped = gradients(None), gradients(clip)
    assert all(np.array_equal(clipped[name], plain[name]) for name in plain)


@pytest.mark.parametrize("clip", [ClipByValue(-1, 1), ClipByNorm(1), ClipByGlobalNorm(1)])
def test_a_nan_still_shows(clip):
    x = X.copy()
    x[1, 1] = np.nan
    assert all(np.isnan(gradient).any() for gradient in gradients(clip, x).values())


def test_a_program_that_clips_is_tested_without_it():
    b = Builder()
    w = b.parameter("w", (5, 2), Normal(0, 1))
    loss = b.op("reduce_sum", X=b.op("mul", X=b.data("x", (-1, 5)), Y=w))
    forward = str(b.program)
    append_clipping(b.program, append_backward(b.program, loss), ClipByGlobalNorm(1.0))
    assert str(b.program.clone(for_test=True)) == forward


def test_nothing_to_train_is_nothing_to_clip():
    assert append_clipping(Builder().program, [], ClipByGlobalNorm(1.0)) == []
