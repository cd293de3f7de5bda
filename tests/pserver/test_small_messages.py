"""Small parameters travel together: what a step costs in messages and calls of the system does not depend on
how many there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ParameterSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import SparseRows
from paddle._pserver.trainer.client import Client

from .conftest import Start

SPEC = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec(learning_rate=0.5))
STEPS = 3


def model(dense: int, tables: int) -> list[ParameterSpec]:
    return [
        *(ParameterSpec(name=f"w{i}", shape=(3, 5)) for i in range(dense)),
        *(ParameterSpec(name=f"t{i}", shape=(7, 2), sparse=True) for i in range(tables)),
    ]


def cost_of_a_step(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch, dense: int, tables: int
) -> tuple[Counter[str], int]:
    """Messages by kind, and calls that send, of a step with two dense shards and a sparse one."""
    said: Counter[str] = Counter()
    calls = [0]
    send, send_all = Client.send, Client._send_all

    def counted_send(self: Client, message: Any, body: Sequence[memoryview] = (), **more: Any) -> None:
        said[type(message).__name__] += 1
        send(self, message, body, **more)

    def counted_send_all(self: Client, group: list[memoryview], deadline: float) -> None:
        calls[0] += 1
        send_all(self, group, deadline)

    parameters = model(dense, tables)
    values = {p.name: np.zeros(p.shape, np.float32) for p in parameters}
    ids = np.array([1, 4], np.int64)

    def train(exchange: Any) -> None:
        exchange.start(parameters, SPEC, values)
        exchange.begin_pass(0)
        said.clear()
        calls[0] = 0
        for _ in range(STEPS):
            exchange.prefetch({p.name: ids for p in parameters if p.sparse})
            rows = {p.name: SparseRows(ids, np.ones((2, 2), np.float32), 7) for p in parameters if p.sparse}
            full = {p.name: np.ones(p.shape, np.float32) for p in parameters if not p.sparse}
            exchange.step(full | rows, samples=1)
        taken.append((Counter({name: count // STEPS for name, count in said.items()}), calls[0] // STEPS))
        exchange.end_pass(0)

    taken: list[tuple[Counter[str], int]] = []
    with monkeypatch.context() as patch:
        patch.setattr(Client, "send", counted_send)
        patch.setattr(Client, "_send_all", counted_send_all)
        start_pservers(ports_num=2, ports_num_for_sparse=1).train(train)
    return taken[0]


@pytest.mark.parametrize(("dense", "tables"), [(2, 1), (300, 40)])
def test_a_step_is_a_message_to_each_shard_and_one_more_for_rows(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch, dense: int, tables: int
) -> None:
    said, calls = cost_of_a_step(start_pservers, monkeypatch, dense, tables)
    assert said == {"Push": 3, "PullRows": 1}
    assert calls == 4
