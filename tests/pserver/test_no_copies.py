"""What travels between a trainer and its shards goes straight from the array where it was made into the one
where it is used: of each of them the system is given the memory itself. (Of rows that lie apart there is one
copy on either side, which brings them together.)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from paddle._engine.exchange import ModeSpec, ParameterSpec, RowsSpec
from paddle._engine.rows import OPEN, SparseRows
from paddle._pserver.protocol.wire import WireSpec
from paddle._pserver.tables.blocks import Blocks
from paddle._pserver.tables.gradient import Rows
from paddle._pserver.tables.packed_table import PackedTable
from paddle._pserver.tables.tables import Tables
from paddle._pserver.trainer import given
from paddle._pserver.trainer.remote import RemoteExchange

from .conftest import Pservers, Start, update
from .taps import Tap, tapped

Taps = tuple[Tap, Tap]

MODEL = (
    ParameterSpec(name="w", shape=(700_000,)),
    ParameterSpec(name="v", shape=(300, 1000)),
    ParameterSpec(name="t", shape=(3000, 100), sparse=True),
)
DENSE = ("w", "v")
IDS = np.arange(0, 3000, 2)


def values() -> dict[str, np.ndarray]:
    random = np.random.default_rng(5)
    return {p.name: random.standard_normal(p.shape).astype(np.float32) for p in MODEL}


def gradients(seed: int = 6) -> dict[str, Any]:
    random = np.random.default_rng(seed)
    found: dict[str, Any] = {p.name: random.standard_normal(p.shape).astype(np.float32) for p in MODEL[:2]}
    found["t"] = SparseRows(IDS, random.standard_normal((len(IDS), 100)).astype(np.float32), 3000)
    return found


def kept(pservers: Pservers) -> list[Tables]:
    """What the shards have, the sparse one last."""
    tables = [hub.shard.tables for hub in pservers.hubs]
    assert all(tables)
    return tables  # type: ignore[return-value]


@pytest.fixture
def taps(monkeypatch: pytest.MonkeyPatch) -> Taps:
    return tapped(monkeypatch)


class Applied:
    """With what shards have updated what they keep: each dense gradient, and each part of a table's rows."""

    def __init__(self) -> None:
        self.dense: list[np.ndarray] = []
        self.rows: list[Rows] = []


@pytest.fixture
def applied(monkeypatch: pytest.MonkeyPatch) -> Applied:
    """Without those with which a shard warms up, which are small."""
    seen = Applied()
    blocks, table = Blocks.apply, PackedTable.apply

    def of_blocks(self: Blocks, gradient: np.ndarray, *how: Any) -> None:
        if gradient.size > 1000:
            seen.dense.append(gradient)
        blocks(self, gradient, *how)

    def of_table(self: PackedTable, parts: Sequence[Rows], *how: Any) -> None:
        seen.rows += [part for part in parts if len(part.ids) > 1000]
        table(self, parts, *how)

    monkeypatch.setattr(Blocks, "apply", of_blocks)
    monkeypatch.setattr(PackedTable, "apply", of_table)
    return seen


def size_of(*arrays: np.ndarray) -> int:
    return sum(array.nbytes for array in arrays)


@pytest.mark.parametrize("ports", [1, 2])
def test_initial_values_go_from_the_callers_arrays_to_where_they_live_and_land_where_they_are_used(
    start_pservers: Start, taps: Taps, ports: int
) -> None:
    pservers, (trainer, shard), initial = start_pservers(1, ports, 1), taps, values()
    exchange = pservers.exchange(0)
    arrays = exchange.start(MODEL, update(), initial)
    *dense, sparse = kept(pservers)
    lives = [*(tables.values for tables in dense), sparse.table("t").values]
    assert trainer.sent_from(*initial.values()) == size_of(*initial.values())
    assert shard.has_received(*lives)
    assert shard.sent_from(*lives[:-1]) == size_of(*lives[:-1])
    assert trainer.has_received(arrays["w"], arrays["v"], frames=ports)
    exchange.close()


@pytest.mark.parametrize("is_ahead", [False, True])
@pytest.mark.parametrize("ports", [1, 2])
def test_a_gradient_goes_from_where_it_was_computed_to_where_it_is_applied_and_so_do_new_values(
    start_pservers: Start, taps: Taps, applied: Applied, ports: int, is_ahead: bool
) -> None:
    pservers, (trainer, shard), gradient = start_pservers(1, ports, 1), taps, gradients()
    exchange = pservers.exchange(0)
    arrays = exchange.start(MODEL, update(), values())
    for _ in range(2):  # the first time they come, and again
        for tap in taps:
            tap.clear()
        applied.dense.clear()
        exchange.begin_step()
        if is_ahead:
            for name in reversed(DENSE):
                exchange.give(name, gradient[name])
        exchange.commit(gradient, 1)
        exchange.settle()
    ours = [gradient[name] for name in DENSE]
    lives = [tables.values for tables in kept(pservers)[:-1]]
    assert trainer.sent_from(*ours) == size_of(*ours) == size_of(*applied.dense)
    assert shard.has_received(*applied.dense)
    assert shard.sent_from(*lives) == size_of(*lives)
    assert trainer.has_received(arrays["w"], arrays["v"], frames=ports)
    exchange.close()


def test_gradients_of_several_are_summed_in_the_memory_in_which_the_first_ones_came(
    start_pservers: Start, taps: Taps, applied: Applied
) -> None:
    pservers = start_pservers(1, 1, 1, num_gradient_servers=2)

    def run(exchange: RemoteExchange) -> None:
        exchange.start(MODEL, update(reduce="mean"), values())
        exchange.step(gradients(), 1)
        exchange.end_pass(0)

    pservers.train(run, run)
    assert len(applied.dense) == 2
    assert taps[1].has_received(*applied.dense)


def test_rows_that_are_given_away_go_from_where_they_lie_to_where_they_are_applied(
    start_pservers: Start, taps: Taps, applied: Applied
) -> None:
    """By a trainer that updates by itself, and hands over what moved."""
    pservers, (trainer, shard), gradient = start_pservers(1, 1, 1), taps, gradients()
    exchange = pservers.exchange(0)
    exchange.start(MODEL, update(mode=ModeSpec(name="geo")), values())
    trainer.clear()  # the memory of initial values may be another array's by now
    shard.clear()
    exchange.step(gradient, 1)
    ours, (rows,) = (gradient["t"].ids, gradient["t"].values), applied.rows
    assert trainer.sent_from(*ours) == size_of(*ours) == size_of(rows.ids, rows.values)
    assert shard.has_received(rows.ids, rows.values)
    exchange.close()


def test_rows_of_a_batch_are_sent_from_the_one_copy_in_which_each_id_is_once(
    start_pservers: Start, taps: Taps, applied: Applied, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[SparseRows] = []
    merged = given.merged

    def merges(*what: Any, **how: Any) -> SparseRows:
        made.append(merged(*what, **how))
        return made[-1]

    monkeypatch.setattr(given, "merged", merges)
    pservers, (trainer, shard) = start_pservers(1, 1, 1), taps
    exchange = pservers.exchange(0)
    exchange.start(MODEL, update(), values())
    trainer.clear()  # the memory of initial values may be another array's by now
    shard.clear()
    exchange.step(gradients(), 1)
    (ours,), (rows,) = made, applied.rows
    assert trainer.sent_from(ours.ids, ours.values) == size_of(ours.ids, ours.values)
    assert shard.has_received(rows.ids, rows.values)
    exchange.close()


def test_at_the_end_of_a_pass_values_go_from_where_they_live_to_where_they_are_used(
    start_pservers: Start, taps: Taps
) -> None:
    pservers, (trainer, shard) = start_pservers(1, 1, 1), taps
    exchange = pservers.exchange(0)
    arrays = exchange.start(MODEL, update(), values())
    for tap in taps:
        tap.clear()
    exchange.end_pass(0)
    live = kept(pservers)[0].values
    assert shard.sent_from(live) == live.nbytes
    assert trainer.has_received(arrays["w"], arrays["v"])
    exchange.close()


def test_a_table_goes_from_where_it_lives_to_where_it_is_used(start_pservers: Start, taps: Taps) -> None:
    pservers, (trainer, shard) = start_pservers(1, 1, 1), taps
    exchange = pservers.exchange(0)
    arrays = exchange.start(MODEL, update(), values())
    for tap in taps:
        tap.clear()
    exchange.fetch()
    table = kept(pservers)[-1].table("t").values
    assert shard.sent_from(table) == table.nbytes
    assert trainer.has_received(arrays["t"])
    exchange.close()


def test_rows_of_an_open_table_land_where_they_were_asked_for(start_pservers: Start, taps: Taps) -> None:
    pservers, (trainer, _) = start_pservers(1, 1, 1), taps
    model = (*MODEL[:1], ParameterSpec(name="o", shape=(OPEN, 100), sparse=True, rows=RowsSpec()))
    exchange = pservers.exchange(0)
    exchange.start(model, update(), values())
    trainer.clear()
    found = exchange.lookup({"o": IDS}, training=True)["o"]
    assert trainer.has_received(found)
    exchange.close()


def test_in_other_numbers_a_gradient_goes_from_where_it_was_encoded(
    start_pservers: Start, taps: Taps
) -> None:
    pservers, (trainer, _) = start_pservers(1, 1, 1), taps
    exchange = pservers.exchange(0, wire=WireSpec(name="bfloat16", answers="bfloat16"))
    exchange.start(MODEL, update(), values())
    for tap in taps:
        tap.clear()
    exchange.step(gradients(), 1)
    halves = [room for (room,) in exchange._encoder._room.values()]
    rounded = exchange._dense[0]._rounded
    assert rounded is not None
    assert trainer.sent_from(*halves) == size_of(*halves) == 2 * 1_000_000
    assert trainer.has_received(rounded._halves)
    exchange.close()
