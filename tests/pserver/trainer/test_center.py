"""What trainers share that update by themselves: to it is added what they moved, and nothing else is done."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import Exchange, ModeSpec, ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.trainer_modes import in_mode

from ..conftest import Start, values_of

OWN: dict[str, Any] = {
    "learning_rate": 3.0,
    "momentum": 0.25,
    "l1_rate": 0.03,
    "l2_rate": 0.05,
    "gradient_clipping_threshold": 0.5,
}
MODEL = tuple(
    ParameterSpec(name=f"{name} {kind}", shape=(5, 2), sparse=kind == "rows", **own)
    for name, own in (("plain", {}), ("own", OWN))
    for kind in ("values", "rows")
)
UPDATE = UpdateSpec(
    rule=RuleSpec(name="momentum", options={"momentum": 0.5}),
    schedule=ScheduleSpec(name="manual", learning_rate=2.0, args="12:1.0,100:0.5"),
    l1_rate=0.01,
    l2_rate=0.02,
    gradient_clipping_threshold=0.75,
)


def trained(exchange: Exchange, update: UpdateSpec) -> dict[str, np.ndarray]:
    """After some steps of large gradients, which touch all rows: idle ones are each trainer's own affair."""
    arrays, random = exchange.start(MODEL, update, values_of(MODEL, 0)), np.random.default_rng(1)
    exchange.begin_pass(0)
    for _ in range(6):
        given: dict[str, np.ndarray | SparseRows] = {}
        for each in MODEL:
            values = 3 * random.standard_normal(each.shape).astype(np.float32)
            given[each.name] = SparseRows(np.arange(5), values, 5) if each.sparse else values
        exchange.prefetch({each.name: np.arange(5) for each in MODEL if each.sparse})
        exchange.step(given, samples=4)
    exchange.end_pass(0)
    exchange.fetch()
    return {name: array.copy() for name, array in arrays.items()}


@pytest.mark.parametrize(
    "mode",
    [ModeSpec(name="geo", k_steps=2), ModeSpec(name="average", k_steps=3)],
    ids=lambda mode: mode.name,
)
def test_rates_penalties_and_clipping_are_the_trainers_and_not_once_more_the_centers(
    start_pservers: Start, mode: ModeSpec
) -> None:
    """One trainer alone, which then has what one process has."""
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=2)
    exchange = in_mode(pservers.exchange(0), mode, 1)
    found = trained(exchange, replace(UPDATE, mode=mode))
    exchange.close()
    expected = trained(LocalExchange(), UPDATE)
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-4, atol=1e-4, err_msg=name)
