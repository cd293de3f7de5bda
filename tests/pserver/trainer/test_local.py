"""Training in one process: the same shard, shared arrays, and clear words for what does not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import ParameterSpec, RowsSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.rows import OPEN, SparseRows
from paddle._pserver.trainer import given
from paddle._pserver.trainer.local import LocalExchange

from ..conftest import BIAS, DENSE, MODEL, TABLE, update, values_of

ROWS = SparseRows(np.array([3, 1, 3]), np.ones((3, 6), np.float32), 50)
GRADIENTS: dict[str, Any] = {
    "w": np.ones(DENSE.shape, np.float32),
    "b": np.ones(BIAS.shape, np.float32),
    "emb": ROWS,
}


def started(**changes: Any) -> tuple[LocalExchange, Any]:
    exchange = LocalExchange()
    return exchange, exchange.start(MODEL, update(**changes), values_of(MODEL, 0))


def test_the_parameters_are_the_shards_own_values() -> None:
    exchange, arrays = started()
    for name, value in values_of(MODEL, 0).items():
        assert (arrays[name] == value).all()
        assert arrays[name].flags.c_contiguous
    before = arrays["w"].copy()
    exchange.step(GRADIENTS, samples=4)
    assert (arrays["w"] != before).all()


@pytest.mark.parametrize(
    "tables", [(), (ParameterSpec(name="t", shape=(OPEN, 2), sparse=True, rows=RowsSpec()),)]
)
def test_a_schedule_by_passes_goes_by_the_pass_that_is_begun(tables: tuple[ParameterSpec, ...]) -> None:
    """Also where a process takes another's place, which had ended those before."""
    schedule = ScheduleSpec(name="pass_manual", learning_rate=1.0, args="0:1.0,1:0.5,2:0.25")
    exchange = LocalExchange()
    spec = UpdateSpec(rule=RuleSpec(name="sgd"), schedule=schedule)
    w = exchange.start([ParameterSpec(name="w", shape=(1,)), *tables], spec, {"w": np.zeros(1, np.float32)})[
        "w"
    ]
    rows = {p.name: SparseRows(np.array([1]), np.ones((1, 2), np.float32), OPEN) for p in tables}
    moved = []
    for pass_id in (1, 2):
        exchange.begin_pass(pass_id)
        before = float(w[0])
        exchange.step({"w": np.ones(1, np.float32), **rows}, samples=1)
        moved.append(before - float(w[0]))
    assert moved == [0.5, 0.25]


def test_a_parameter_that_ends_within_a_cache_line_puts_no_other_into_one() -> None:
    shapes = {"filter": (5, 3), "weight": (64, 32), "bias": (10,), "table": (30, 16)}
    parameters = [
        ParameterSpec(name=name, shape=shape, sparse=name == "table") for name, shape in shapes.items()
    ]
    exchange = LocalExchange()
    arrays = exchange.start(parameters, update(), values_of(parameters, 0))
    of_lines = arrays["weight"], arrays["table"], exchange.room()["weight"]
    assert all(array.ctypes.data % 64 == 0 for array in of_lines)
    for name, value in values_of(parameters, 0).items():
        np.testing.assert_array_equal(arrays[name], value)


def test_gradients_are_neither_copied_nor_changed() -> None:
    flat = given.flat(GRADIENTS, DENSE)
    assert np.shares_memory(flat, GRADIENTS["w"])
    exchange, _ = started(gradient_clipping_threshold=0.1)
    exchange.step(GRADIENTS, samples=4)
    assert (GRADIENTS["w"] == 1).all()
    assert (ROWS.values == 1).all()


def test_repeated_rows_add_up_and_others_stay() -> None:
    exchange, arrays = started()
    before = values_of(MODEL, 0)["emb"]
    exchange.step(GRADIENTS, samples=4)
    changed = np.flatnonzero((arrays["emb"] != before).any(axis=1))
    assert changed.tolist() == [1, 3]
    once, twice = before[1] - arrays["emb"][1], before[3] - arrays["emb"][3]
    np.testing.assert_allclose(twice - once, 0.1 + 0.1 * 0.02 * (before[3] - before[1]), rtol=1e-3)


def test_steps_and_passes_are_counted() -> None:
    exchange, _ = started()
    exchange.begin_pass(0)
    assert [exchange.step(GRADIENTS, 1).version for _ in range(3)] == [1, 2, 3]
    exchange.end_pass(0)
    exchange.begin_pass(1)
    assert exchange.step(GRADIENTS, 1).version == 4
    exchange.close()
    exchange.close()


@pytest.mark.parametrize(
    ("wrong", "saying"),
    [
        ({"w": None}, r"float32 array of shape \(70, 60\) as gradient of 'w', and got nothing"),
        ({"w": ROWS}, "gradient of 'w', and got SparseRows"),
        (
            {"w": np.ones((60, 70), np.float32)},
            r"'w' should be float32 \(70, 60\), and is float32 \(60, 70\)",
        ),
        ({"b": np.ones(60)}, r"'b' should be float32 \(60,\), and is float64"),
        ({"emb": np.ones(TABLE.shape, np.float32)}, "SparseRows as gradient of sparse parameter 'emb'"),
        (
            {"emb": SparseRows(ROWS.ids, ROWS.values, 51)},
            r"rows of \(50, 6\), and is rows of float32 \(51, 6\)",
        ),
        ({"stray": ROWS}, r"gradients for \['stray'\], which start did not declare"),
    ],
)
def test_a_gradient_that_does_not_fit_is_told(wrong: dict[str, Any], saying: str) -> None:
    exchange, _ = started()
    gradients = {name: value for name, value in (GRADIENTS | wrong).items() if value is not None}
    with pytest.raises(ExchangeError, match=saying):
        exchange.step(gradients, samples=1)


def test_initial_values_that_do_not_fit_are_told() -> None:
    with pytest.raises(
        ExchangeError, match=r"initial values of 'w' should be float32 \(70, 60\), and are missing"
    ):
        LocalExchange().start(MODEL, update(), {})


def test_a_rule_that_does_not_exist_is_told() -> None:
    with pytest.raises(ExchangeError, match="no update rule 'sdg'"):
        LocalExchange().start(
            (ParameterSpec(name="w", shape=(2,)),), update("sdg"), {"w": np.ones(2, np.float32)}
        )


def test_an_id_outside_its_table_is_told() -> None:
    exchange, _ = started()
    with pytest.raises(ExchangeError, match=r"an id of 'emb' is outside 0\.\.49"):
        exchange.step(
            GRADIENTS | {"emb": SparseRows(np.array([50]), np.ones((1, 6), np.float32), 50)}, samples=1
        )
