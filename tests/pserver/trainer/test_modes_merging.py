"""Half-asynchronous training through real pservers, and what becomes of what is pending when one leaves. Its
guarantee: tests/pserver/oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

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


@pytest.mark.parametrize("merge", ["sum", "mean"])
@pytest.mark.parametrize(
    "ask",
    [
        lambda exchange: exchange.fetch(),
        lambda exchange: exchange.end_pass(0),
        lambda exchange: exchange.export("t"),
        lambda exchange: exchange.rows_of("t"),
        lambda exchange: exchange.remembered("w", "momentum"),
        lambda exchange: exchange.averages(),
    ],
    ids=["fetch", "end_pass", "export", "rows_of", "remembered", "averages"],
)
def test_each_gradient_is_in_one_push_also_where_somebody_asks_before_all_are_there(
    ask: Callable[[Merging], object], merge: Any
) -> None:
    recorder, inner = Recorder(), MagicMock()
    recorder.start(MODEL, update(), values_of(MODEL, 0))
    inner.step, inner.room.return_value = recorder.step, {}
    exchange = Merging(inner, ModeSpec(name="half_async", max_merge_var_num=4, merge=merge))
    for value, row in ((1, 0), (2, 1), (4, 1), (8, 2), (16, 4), (32, 4)):
        rows = SparseRows(np.array([row, row]), np.full((2, 2), value / 2, np.float32), 5)
        exchange.step({"w": np.full(4, value, np.float32), "t": rows}, samples=value)
    ask(exchange)
    four, two = (4, 2) if merge == "mean" else (1, 1)
    assert recorder.pushed == [
        (15 / four, [1 / four, 6 / four, 8 / four, 0.0, 0.0], 15),
        (48 / two, [0.0, 0.0, 0.0, 0.0, 48 / two], 48),
    ]
    ask(exchange)
    assert len(recorder.pushed) == 2, "nothing is pending"


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
