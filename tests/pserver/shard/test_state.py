"""A restored shard's tables go on as those that never stopped, for every rule, and it knows what it knew."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from paddle._engine.exchange import UpdateSpec
from paddle._pserver.options import ShardOptions
from paddle._pserver.protocol.messages import Declare
from paddle._pserver.protocol.placement import dense_layout, row_ranges
from paddle._pserver.shard.clocks import Clocks
from paddle._pserver.shard.model import Model
from paddle._pserver.shard.roster import Roster
from paddle._pserver.shard.state import Facts, TrainerState, cut, restore
from paddle._pserver.tables.gradient import Gradient, Rows
from paddle._pserver.tables.tables import Tables

from ..test_equality import MODEL, RULE_SPECS, gradients_of, update


def tables(spec: UpdateSpec) -> Tables:
    return Tables(spec, dense_layout(MODEL, 0, 1), row_ranges(MODEL, 0, 1))


def train(trained: Tables, steps: range) -> None:
    for step in steps:
        given = gradients_of(MODEL, step)
        dense = [given[segment.parameter.name].reshape(-1) for segment in trained.layout.segments]
        merged = [given[name].merged() for name in trained.rows]
        some = [Rows(rows.ids[step % 3 :: 3], rows.values[step % 3 :: 3]) for rows in merged]
        trained.apply([Gradient(dense, some)], samples=8 * step, passes=0, step=step)


@pytest.mark.parametrize("rule", sorted(RULE_SPECS))
def test_tables_restored_after_any_step_go_on_as_those_that_did_not_stop(rule: str) -> None:
    spec = update(rule, l1_rate=0.001)
    whole = tables(spec)
    train(whole, range(1, 8))
    for stop in (0, 1, 4):
        first = tables(spec)
        train(first, range(1, stop + 1))
        kept = {name: array.copy() for name, array in first.state().items()}
        again = tables(spec)
        again.restore(kept, stop)
        train(again, range(stop + 1, 8))
        for name, array in whole.state().items():
            assert array.tobytes() == again.state()[name].tobytes(), (stop, name)


TRAINERS = (
    TrainerState("new", ("old",), 7, 2, 3, 1, pace=4, last_dropped=True, next_pass=2, passed=5, length=6),
    TrainerState("waits", ("a", "b"), 9, 3, 1, is_present=False, pace=8, next_pass=3, length=9),
    TrainerState("left", (), 5, 4, 2, is_present=False, is_gone=True, next_pass=4, length=5),
    TrainerState(),
)


def test_all_that_a_snapshot_knows_of_a_job_is_known_to_a_shard_that_goes_on_from_it() -> None:
    declaration = Declare(MODEL, update("sgd"), 0, 1)
    facts = Facts(declaration, version=9, samples=40, trainers=TRAINERS, serving="a job", passes_over=2)
    for field in msgspec.structs.fields(TrainerState):
        assert any(getattr(each, field.name) != field.default for each in TRAINERS), field.name
    clocks, roster = Clocks(len(TRAINERS)), Roster(len(TRAINERS))
    restore(facts, clocks, roster, now=0.0)
    model = Model(declaration, ShardOptions(num_gradient_servers=len(TRAINERS)))
    assert cut(model, clocks, roster, is_regular=True, serving="a job").facts == facts


def test_what_does_not_fit_is_named() -> None:
    kept = tables(update("adam")).state()
    with pytest.raises(ValueError, match=r"slot second of 'w' should be float32 \(4200,\), and is missing"):
        tables(update("adam")).restore({n: a for n, a in kept.items() if n != "slot second/w"}, 1)
    with pytest.raises(ValueError, match=r"values of 'b' should be .*and is float32 \(3,\)"):
        tables(update("adam")).restore(kept | {"values/b": np.zeros(3, np.float32)}, 1)
