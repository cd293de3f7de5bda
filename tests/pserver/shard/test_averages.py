"""Averages as a trainer reads them: of dense parameters and of tables, here and from pservers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import AverageSpec, Exchange, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.local import LocalExchange

SHAPE, STEPS = (3000, 2), 23
UPDATE = UpdateSpec(
    rule=RuleSpec(name="momentum", options={"momentum": 0.5, "sparse": 1.0}),
    schedule=ScheduleSpec(learning_rate=0.1),
    average=AverageSpec(window=0.3, min_window=4, max_window=10),
)
Read = list[tuple[np.ndarray, np.ndarray]]


def train(exchange: Exchange, update: UpdateSpec = UPDATE, *, sparse: bool) -> Read:
    """The values after each step, and what their average was."""
    spec = ParameterSpec(name="t", shape=SHAPE, sparse=sparse)
    start = np.random.default_rng(0).standard_normal(SHAPE, np.float32)
    table = exchange.start([spec], update, {"t": start})["t"]
    generator, read = np.random.default_rng(1), []
    exchange.begin_pass(0)
    for step in range(STEPS):
        ids = generator.integers(0, 6, 3)
        gradient = SparseRows(ids, generator.standard_normal((3, 2)).astype(np.float32), SHAPE[0])
        exchange.step({"t": gradient if sparse else gradient.to_dense()}, samples=3)
        if step > STEPS - 3 or not sparse:
            exchange.fetch()
            read.append((table.copy(), exchange.averages()["t"].copy()))
    exchange.end_pass(0)
    return read


def test_an_average_is_that_of_the_values_after_the_last_steps() -> None:
    """Windows end after steps 4, 8, 12, 16 and 22, as long as 0.3 of all steps, rounded down."""
    read = train(LocalExchange(), sparse=False)
    for step, last in ((3, 3), (4, 4), (7, 7), (12, 4), (13, 5), (18, 6), (22, 6), (23, 7)):
        expected = np.mean([table for table, _ in read[step - last : step]], axis=0)
        np.testing.assert_allclose(read[step - 1][1], expected, rtol=1e-5, atol=1e-6, err_msg=str(step))
    assert not np.allclose(read[-1][0], read[-1][1])


PLAIN = replace(UPDATE, rule=RuleSpec(name="sgd"))


@pytest.mark.parametrize(
    ("update", "tolerance"),
    [(PLAIN, 1e-6), (replace(PLAIN, l2_rate=0.1), 1e-3), (replace(UPDATE, l2_rate=0.1), 3e-2)],
    ids=["idle rows stay", "shrink", "roll"],
)
def test_a_table_averages_as_a_dense_parameter(update: UpdateSpec, tolerance: float) -> None:
    """Where steps that pass a row by move it, they do by other curves than the straight line that counts."""
    (*_, (table, average)) = train(LocalExchange(), update, sparse=True)
    (*_, (dense, dense_average)) = train(LocalExchange(), update, sparse=False)
    np.testing.assert_allclose(table, dense, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(average, dense_average, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("sparse", [False, True])
def test_pservers_average_the_same_bits(start_pservers: Callable, sparse: bool) -> None:
    pservers = start_pservers(hosts=1, ports_num=2, ports_num_for_sparse=2, num_gradient_servers=1)
    (read,) = pservers.train(lambda exchange: train(exchange, sparse=sparse))
    for there, here in zip(read, train(LocalExchange(), sparse=sparse), strict=True):
        assert [array.tobytes() for array in there] == [array.tobytes() for array in here]


def test_a_job_that_averages_nothing_says_so() -> None:
    exchange = LocalExchange()
    update = replace(UPDATE, average=None)
    exchange.start([ParameterSpec(name="t", shape=(2, 2))], update, {"t": np.zeros((2, 2), np.float32)})
    with pytest.raises(ExchangeError, match="keeps no averages"):
        exchange.averages()
