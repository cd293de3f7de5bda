"""What a caller hands to an exchange and no message can say is told before anything is sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import Exchange, ModeSpec, ParameterSpec, RowsSpec, RuleSpec, ScheduleSpec
from paddle._engine.rows import OPEN, SparseRows
from paddle._pserver.errors import BadMessage, Refused, TrainerLost
from paddle._pserver.trainer import given
from paddle._pserver.trainer.local import LocalExchange
from paddle._pserver.trainer.remote import RemoteExchange

from ..conftest import Start, update

MODEL = (
    ParameterSpec(name="w", shape=(3,)),
    ParameterSpec(name="t", shape=(5, 2), sparse=True),
    ParameterSpec(name="o", shape=(OPEN, 2), sparse=True, rows=RowsSpec()),
)
VALUES = {"w": np.zeros(3, np.float32), "t": np.zeros((5, 2), np.float32)}
DENSE = np.ones(3, np.float32)


def rows(*ids: Any, dtype: Any = np.int64) -> SparseRows:
    return SparseRows(np.array(ids, dtype), np.ones((len(ids), 2), np.float32), 5)


def step(samples: Any = 1, **gradients: Any) -> Callable[[Exchange], Any]:
    return lambda exchange: exchange.step({"w": DENSE, **gradients}, samples)


WRONG: dict[str, tuple[Callable[[Exchange], Any], str]] = {
    "samples below 0": (step(-5), "no -5 samples"),
    "samples that are no int": (step(1.5), "a number of samples is an int, and not 1.5"),
    "samples beyond what is counted": (step(1 << 80), "samples"),
    "a row below 0": (step(t=rows(2, -1)), "'t'"),
    "a row beyond the last": (step(t=rows(1, 5)), "'t'"),
    "rows by other numbers": (step(t=rows(1, 2, dtype=np.float64)), "'t' are int64, and not float64"),
    "rows by shorter numbers": (step(t=rows(1, dtype=np.int32)), "'t' are int64, and not int32"),
    "prefetch by other numbers": (lambda e: e.prefetch({"t": np.array([0.5])}), "int64, and not float64"),
    "lookup by other numbers": (
        lambda e: e.lookup({"o": np.array([1], np.int32)}, training=True),
        "int64, and not int32",
    ),
    "a pass below 0": (lambda e: e.begin_pass(-1), "no -1 passes"),
    "the end of one": (lambda e: e.end_pass(-1), "no -1 passes"),
    "a gradient of nothing": (step(nope=DENSE), "nope"),
    "days beyond what is counted": (lambda e: e.shrink(1 << 80), "days"),
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("is_local", [True, False])
def test_what_cannot_be_said_is_told_to_the_caller_and_training_goes_on(
    start_pservers: Start, wrong: str, is_local: bool
) -> None:
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=2)
    exchange: Exchange = LocalExchange() if is_local else pservers.exchange(0)
    arrays = exchange.start(MODEL, update(), VALUES)
    call, saying = WRONG[wrong]
    with pytest.raises(ExchangeError, match=saying) as told:
        call(exchange)
    assert is_local or type(told.value) is ExchangeError, "a shard told it"
    assert exchange.step({"w": DENSE, "t": rows(1, 1)}, samples=np.int64(2)).version == 1  # type: ignore[arg-type]
    assert np.allclose(arrays["w"], -0.1)
    exchange.end_pass(0)
    exchange.close()
    assert is_local or pservers.statuses() == [0] * 4


def test_an_error_that_the_caller_keeps_to_itself_is_told_when_it_closes(
    start_pservers: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At all shards: the one that told it has closed the connection."""
    pservers = start_pservers(ports_num=2, ports_num_for_sparse=1, num_gradient_servers=2)
    small = (ParameterSpec(name="w", shape=(2000,)), MODEL[1])
    gradients = {"w": np.ones(2000, np.float32)}

    def starts(exchange: RemoteExchange) -> RemoteExchange:
        exchange.start(small, update(), VALUES | gradients)
        return exchange

    def good(exchange: RemoteExchange) -> None:
        starts(exchange).step(gradients, 1)

    def bad(exchange: RemoteExchange) -> None:
        starts(exchange)
        monkeypatch.setattr(given, "count", lambda number, of: number)
        exchange._pass_id = -1
        with pytest.raises(BadMessage, match="does not decode"):
            exchange.step(gradients, 1)

    with pytest.raises(TrainerLost, match=r"trainer 1 at .* failed: BadMessage: .* does not decode"):
        pservers.train(good, bad)
    assert pservers.statuses() == [1, 1, 1]


NAN, INFINITY = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("model", "changes", "saying"),
    [
        ({}, {"schedule": ScheduleSpec(learning_rate=NAN)}, "learning_rate=nan"),
        ({}, {"schedule": ScheduleSpec(learning_rate=1.0, options={"power": INFINITY})}, "power=inf"),
        ({}, {"rule": RuleSpec(name="momentum", options={"momentum": NAN})}, "momentum=nan"),
        ({}, {"l2_rate": INFINITY}, "l2_rate=inf"),
        ({}, {"mode": ModeSpec(name="async", discard_ratio=INFINITY)}, "discard_ratio=inf"),
        ({"learning_rate": INFINITY}, {}, "learning_rate=inf"),
        ({"gradient_clipping_threshold": NAN}, {}, "gradient_clipping_threshold=nan"),
    ],
)
@pytest.mark.parametrize("is_local", [True, False])
def test_a_job_whose_numbers_are_not_finite_is_refused_before_it_trains(
    start_pservers: Start, model: dict[str, Any], changes: dict[str, Any], saying: str, is_local: bool
) -> None:
    if is_local and "mode" in changes:
        return  # where there is one trainer, there is no mode
    exchange: Exchange = LocalExchange() if is_local else start_pservers().exchange(0)
    spec = replace(update(), **changes)
    with pytest.raises(Refused, match=saying):
        exchange.start((ParameterSpec(name="w", shape=(3,), **model),), spec, VALUES)
    exchange.close()


def test_rows_that_stand_in_order_are_sent_from_where_they_are() -> None:
    in_order, repeated = rows(1, 2, 4), rows(2, 1, 2)
    assert given.merged({"t": in_order}, MODEL[1], given=True).values is in_order.values
    kept = given.merged({"t": in_order}, MODEL[1])  # for it may have to be told again
    assert not np.shares_memory(kept.values, in_order.values)
    found = given.merged({"t": repeated}, MODEL[1], given=True)
    assert found.ids.tolist() == [1, 2]
    assert found.values.tolist() == [[1, 1], [2, 2]]
    strided = SparseRows(np.arange(5)[::2], np.ones((3, 4), np.float32)[:, ::2], 5)
    found = given.merged({"t": strided}, MODEL[1], given=True)
    assert found.ids.flags.c_contiguous
    assert found.values.flags.c_contiguous
    assert found.ids.tolist() == [0, 2, 4]
