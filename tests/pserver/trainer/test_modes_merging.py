"""Half-asynchronous training: every step's gradient is in one push, with few others."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from paddle._engine.exchange import ModeSpec, StepReport
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.merging import Merging

from ..conftest import Start, values_of
from ..talk import MODEL, update


class Recorder(LocalExchange):
    """Notes what is pushed, and trains."""

    def __init__(self) -> None:
        super().__init__()
        self.pushed: list[tuple[float, list[float], int]] = []

    def step(self, gradients: Any, samples: int, *, rate: float | None = None) -> StepReport:
        rows = gradients["t"].to_dense()[:, 0].tolist() if "t" in gradients else [0.0] * 5
        self.pushed.append((float(gradients["w"][0]), rows, samples))
        return super().step(gradients, samples, rate=rate)


class EveryGradientIsPushedOnce(RuleBasedStateMachine):
    """The reference: what is pending is a list of steps; their sum or mean is pushed when they are enough."""

    @initialize(most=st.integers(1, 4), merge=st.sampled_from(["sum", "mean"]))
    def begin(self, most: int, merge: Any) -> None:
        self.most, self.is_mean = most, merge == "mean"
        self.inner = Recorder()
        self.exchange = Merging(self.inner, ModeSpec(name="half_async", max_merge_var_num=most, merge=merge))
        self.exchange.start(MODEL, update(), values_of(MODEL, 0))
        self.pending: list[tuple[int, list[int], int]] = []
        self.expected: list[tuple[float, list[float], int]] = []
        self.memory = np.empty(4, np.float32)  # in which every gradient comes, as from an executor

    @rule(value=st.integers(-8, 8), ids=st.lists(st.integers(0, 4), max_size=4), samples=st.integers(1, 9))
    def step(self, value: int, ids: list[int], samples: int) -> None:
        self.memory[:] = value
        gradients: dict[str, Any] = {"w": self.memory}
        if ids:
            gradients["t"] = SparseRows(np.array(ids), np.full((len(ids), 2), value, np.float32), 5)
        self.pending.append((value, ids, samples))
        report = self.exchange.step(gradients, samples)
        if len(self.pending) == self.most:
            self.push()
        assert report == StepReport(len(self.expected))
        self.check()

    @rule(ends=st.booleans())
    def fetch(self, ends: bool) -> None:
        if ends:
            self.exchange.end_pass(0)
        else:
            self.exchange.fetch()
        if self.pending:
            self.push()
        self.check()

    def push(self) -> None:
        scale = 1 / len(self.pending) if self.is_mean else 1
        rows = [sum(value * ids.count(row) for value, ids, _ in self.pending) * scale for row in range(5)]
        samples = sum(samples for *_, samples in self.pending)
        self.expected.append((sum(value for value, *_ in self.pending) * scale, rows, samples))
        self.pending.clear()

    def check(self) -> None:
        np.testing.assert_equal(len(self.inner.pushed), len(self.expected))
        for (dense, rows, samples), wanted in zip(self.inner.pushed, self.expected, strict=True):
            np.testing.assert_allclose([dense, *rows, samples], [wanted[0], *wanted[1], wanted[2]], rtol=1e-5)


EveryGradientIsPushedOnce.TestCase.settings = settings(max_examples=50, stateful_step_count=20, deadline=None)
TestEveryGradientIsPushedOnce = EveryGradientIsPushedOnce.TestCase


def test_merged_gradients_train_through_pservers_as_their_sum(start_pservers: Start) -> None:
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=2)
    mode = ModeSpec(name="half_async", max_merge_var_num=2)
    exchange, alone = Merging(pservers.exchange(0), mode), LocalExchange()
    ours = exchange.start(MODEL, update(mode=mode), values_of(MODEL, 0))
    expected = alone.start(MODEL, update(), values_of(MODEL, 0))
    both = SparseRows(np.array([1, 4]), np.full((2, 2), 3, np.float32), 5)
    for half in (1, 2):
        rows = SparseRows(both.ids, np.full((2, 2), half, np.float32), 5)
        exchange.step({"w": np.full(4, half, np.float32), "t": rows}, samples=1)
    alone.step({"w": np.full(4, 3, np.float32), "t": both}, samples=2)
    exchange.end_pass(0)
    exchange.fetch()
    for name, array in expected.items():
        np.testing.assert_array_equal(ours[name], array)
    exchange.close()


def test_who_leaves_in_order_pushes_what_is_pending_and_who_failed_does_not() -> None:
    for failure, pushed in ((None, [(3.0, [0.0] * 5, 2)]), ("it failed", [])):
        inner = Recorder()
        exchange = Merging(inner, ModeSpec(name="half_async", max_merge_var_num=3))
        exchange.start(MODEL, update(), values_of(MODEL, 0))
        for value in (1, 2):
            exchange.step({"w": np.full(4, value, np.float32)}, samples=1)
        exchange.close(failure)
        exchange.close(failure)
        assert inner.pushed == pushed
