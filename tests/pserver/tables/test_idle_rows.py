"""Rows that batches pass by: prefetched, fetched and saved, a table is what a dense parameter would be."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from paddle._engine.exchange import Exchange, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.local import LocalExchange

HEIGHT, WIDTH, STEPS = 40, 3, 30
START = np.random.default_rng(0).standard_normal((HEIGHT, WIDTH), np.float32)
UPDATES = {
    "sgd": UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=0.05), l2_rate=0.3),
    "sparse momentum": UpdateSpec(
        rule=RuleSpec(name="momentum", options={"momentum": 0.7, "sparse": 1.0}),
        schedule=ScheduleSpec(learning_rate=0.02),
        l2_rate=0.3,
    ),
    "adagrad, falling": UpdateSpec(
        rule=RuleSpec(name="adagrad", options={"epsilon": 1e-2}),
        schedule=ScheduleSpec(name="poly", learning_rate=0.05, decay_a=0.1, decay_b=0.5),
        l1_rate=0.01,
        l2_rate=0.1,
    ),
}


def batches() -> Iterator[np.ndarray]:
    """The rows that each batch reads, with repeats."""
    generator = np.random.default_rng(1)
    for _ in range(STEPS):
        yield generator.integers(0, HEIGHT - 2, 4)


def slopes(rows: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """A gradient that depends on the values which a batch reads."""
    return np.sin(rows + ids[:, None]).astype(np.float32)


def train(exchange: Exchange, update: UpdateSpec, *, sparse: bool) -> tuple[np.ndarray, list[np.ndarray]]:
    """The table at the end, and what each batch read."""
    spec = ParameterSpec(name="t", shape=(HEIGHT, WIDTH), sparse=sparse, learning_rate=0.5)
    table = exchange.start([spec], update, {"t": START.copy()})["t"]
    read = []
    exchange.begin_pass(0)
    for ids in batches():
        if sparse:
            exchange.prefetch({"t": ids})
        read.append(table[ids].copy())
        gradient = SparseRows(ids, slopes(read[-1], ids), HEIGHT)
        exchange.step({"t": gradient if sparse else gradient.to_dense()}, samples=4)
    exchange.end_pass(0)
    exchange.fetch()
    return table.copy(), read


@pytest.mark.parametrize("update", UPDATES)
def test_every_batch_reads_and_a_fetch_brings_what_a_dense_parameter_would_hold(update: str) -> None:
    table, read = train(LocalExchange(), UPDATES[update], sparse=True)
    dense, dense_read = train(LocalExchange(), UPDATES[update], sparse=False)
    np.testing.assert_allclose(table, dense, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(read, dense_read, rtol=1e-5, atol=1e-6)
    assert not np.array_equal(table[-1], START[-1])  # a row that no batch read


@pytest.mark.parametrize("update", UPDATES)
def test_pservers_bring_the_same_bits(start_pservers: Callable, update: str) -> None:
    pservers = start_pservers(hosts=1, ports_num=1, ports_num_for_sparse=2, num_gradient_servers=1)
    ((table, read),) = pservers.train(lambda exchange: train(exchange, UPDATES[update], sparse=True))
    local, local_read = train(LocalExchange(), UPDATES[update], sparse=True)
    assert table.tobytes() == local.tobytes()
    assert np.array_equal(read, local_read)


def test_a_table_that_was_read_whole_goes_on_from_there() -> None:
    """A fetch in the middle changes when rows catch up, not what they become."""
    update, nothing = (
        UPDATES["adagrad, falling"],
        SparseRows(np.empty(0, np.int64), np.empty((0, 3), "f4"), 40),
    )
    tables = []
    for fetches in (False, True):
        exchange = LocalExchange()
        spec = ParameterSpec(name="t", shape=(HEIGHT, WIDTH), sparse=True)
        table = exchange.start([spec], update, {"t": START.copy()})["t"]
        for step in range(20):
            exchange.step({"t": nothing}, samples=4)
            if fetches and step == 9:
                exchange.fetch()
        exchange.fetch()
        tables.append(table)
    np.testing.assert_allclose(tables[0], tables[1], rtol=1e-6)


def test_a_schedule_by_steps_counts_those_before_the_step_at_hand() -> None:
    schedule = ScheduleSpec(
        name="piecewise_decay", options={"boundaries": (1.0, 2.0), "values": (1.0, 0.5, 0.0)}
    )
    exchange = LocalExchange()
    spec = ParameterSpec(name="w", shape=(1,))
    update = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=schedule)
    values = exchange.start([spec], update, {"w": np.zeros(1, np.float32)})["w"]
    seen = []
    for _ in range(3):
        exchange.step({"w": np.full(1, -1, np.float32)}, samples=64)
        seen.append(float(values[0]))
    assert seen == [1.0, 1.5, 1.5]
