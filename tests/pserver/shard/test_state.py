"""A restored shard's tables go on as those that never stopped, for every rule."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.exchange import UpdateSpec
from paddle._pserver.protocol.placement import dense_layout, row_ranges
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
        cut = {name: array.copy() for name, array in first.state().items()}
        again = tables(spec)
        again.restore(cut, stop)
        train(again, range(stop + 1, 8))
        for name, array in whole.state().items():
            assert array.tobytes() == again.state()[name].tobytes(), (stop, name)


def test_what_does_not_fit_is_named() -> None:
    cut = tables(update("adam")).state()
    with pytest.raises(ValueError, match=r"slot second of 'w' should be float32 \(4200,\), and is missing"):
        tables(update("adam")).restore({n: a for n, a in cut.items() if n != "slot second/w"}, 1)
    with pytest.raises(ValueError, match=r"values of 'b' should be .*and is float32 \(3,\)"):
        tables(update("adam")).restore(cut | {"values/b": np.zeros(3, np.float32)}, 1)
