"""Rows that are counted, against the original's, written row by row (counted_twins.py)."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from paddle._engine.exchange import ParameterSpec, RowsSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.row_initial import RowInitial
from paddle._engine.rows import OPEN, SparseRows, TableRows
from paddle._engine.rules import Counted
from paddle._pserver.trainer.local import LocalExchange
from tests.counted_twins import Accessor

KINDS = ("naive", "adagrad", "std_adagrad", "adam")
RATES = {"naive": 0.1, "adagrad": 0.3, "std_adagrad": 0.2, "adam": 0.05}
IDS, WIDTH = np.array([-7, 3, 11, 1 << 62]), 4
PARAM = {"embedx_threshold": 0.5, "nonclk_coeff": 0.1, "click_coeff": 0.7}


def options(embed: str, embedx: str, **more: float) -> dict[str, float]:
    told = {"kind": KINDS.index(embed), "rate": RATES[embed], "least": -0.4, "most": 0.3, "beta2": 0.9}
    other = {"kind": KINDS.index(embedx), "rate": RATES[embedx], "least": -0.5, "most": 0.5, "first_sum": 1.0}
    counting = {"threshold": 0.5, "click": 0.7, "x_reach": 0.7, **more}
    return {**told, **{f"x_{name}": value for name, value in other.items()}, **counting}


def table(told: dict[str, float], width: int = WIDTH) -> LocalExchange:
    rows = RowsSpec(initial=RowInitial("uniform", -1, 1), rule=RuleSpec(name="counted", options=told))
    spec = ParameterSpec(name="t", shape=(OPEN, 2 + width), sparse=True, rows=rows)
    made = LocalExchange()
    made.start([spec], UpdateSpec(rule=RuleSpec(name="sgd"), schedule=ScheduleSpec()), {})
    return made


def all_rows(made: LocalExchange) -> TableRows:
    return TableRows.concatenate([TableRows.none(2 + WIDTH), *made.rows_of("t")])


def twin(embed: str, embedx: str, made: LocalExchange, param: dict[str, float] = PARAM) -> Accessor:
    """Whose rows begin with what the table has drawn."""
    told = {"rate": RATES[embed], "least": -0.4, "most": 0.3, "beta2": 0.9}
    other = {"rate": RATES[embedx], "least": -0.5, "most": 0.5, "first_sum": 1.0}

    def drawn(id: int) -> tuple[np.ndarray, np.ndarray]:
        found = all_rows(made)
        (at,) = np.flatnonzero(found.ids == id)
        memory = found.slots["memory"][at]
        return np.zeros(1, np.float32), (found.values[at] if memory[0] else memory)[3:].copy()

    return Accessor((embed, told), (embedx, other), param, drawn)


@pytest.mark.parametrize(("embed", "embedx"), list(product(KINDS, KINDS)))
def test_rows_are_counted_and_moved_as_the_originals_accessor_does(embed: str, embedx: str) -> None:
    made, rng = table(options(embed, embedx)), np.random.default_rng(7)
    expected = twin(embed, embedx, made)
    for _ in range(12):
        picked = rng.random(4) < 0.6
        ids, count = IDS[picked], int(picked.sum())
        shows = rng.integers(1, 4, count)
        counts = np.stack([shows, rng.integers(0, 2, count)], axis=1)
        gradient = np.concatenate([counts, rng.normal(0, 1, (count, WIDTH))], axis=1).astype(np.float32)
        made.step({"t": SparseRows(ids, gradient, OPEN)}, 4)
        for id, row in zip(ids, gradient, strict=True):
            expected.push(int(id), row[0], row[1], row[2:])
        found = made.lookup({"t": IDS}, training=True)["t"]
        wanted = np.stack([expected.pull(int(id), WIDTH) for id in IDS])
        np.testing.assert_allclose(found[:, 2:], wanted, rtol=2e-5, atol=2e-6)
    assert {row.is_whole for row in expected.rows.values()} == {True}
    assert sorted(all_rows(made).ids) == sorted(expected.rows)


@pytest.mark.parametrize("beta", [0.0, 0.3])
def test_powers_of_adam_that_come_to_nothing_do_not_begin_the_row_again(beta: float) -> None:
    told = {"beta1": beta, "beta2": beta, "rate": 0.01}
    made = table({"kind": 3, "x_kind": 3, **told, **{f"x_{name}": value for name, value in told.items()}})
    row = Accessor(("adam", told), ("adam", told), {}, lambda id: (np.zeros(1, np.float32), drawn))
    pushed = np.array([[1, 0, 0.1, 0.2, -0.3, 0.4]], np.float32)
    for step in range(150):
        made.step({"t": SparseRows(IDS[:1], pushed, OPEN)}, 1)
        if step == 0:
            drawn = all_rows(made).values[0, 3:].copy()
        row.push(0, 1, 0, pushed[0, 2:])
    np.testing.assert_allclose(all_rows(made).values[0, 2:], row.pull(0, WIDTH), rtol=1e-4)


def test_a_row_is_made_by_who_pushes_it_and_its_others_are_drawn_within_their_range_and_bounds() -> None:
    made = table(options("naive", "naive", threshold=2.0, x_reach=0.7))
    assert not made.lookup({"t": IDS}, training=True)["t"].any()
    assert not len(all_rows(made).ids)
    shown = np.array(
        [[1, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0], [2, 2, 0, 1, 1, 1], [2, 2, 0, 1, 1, 1]], np.float32
    )
    made.step({"t": SparseRows(IDS, shown, OPEN)}, 4)
    found = all_rows(made)
    assert sorted(found.ids) == [-7, 11, 1 << 62]  # of 3 nothing was pushed
    drawn = found.slots["memory"][:, 3:]
    assert (np.abs(drawn) <= 0.5).all()
    assert len(np.unique(drawn)) > 3
    assert not found.values[:, 3:].any()  # 1.4 is less than 2
    made.step({"t": SparseRows(IDS, shown, OPEN)}, 4)
    now = all_rows(made)
    assert (now.values[now.ids == 11, 3:] == drawn[found.ids == 11]).all()  # and that push has not moved them
    assert not now.values[now.ids == -7, 3:].any()


def test_a_table_of_one_number_draws_it_and_others_begin_at_zero_unless_they_are_told_not_to() -> None:
    for width, more, is_zero in ((1, {}, False), (3, {}, True), (3, {"begins_at_zero": 0.0}, False)):
        made = table(options("naive", "naive", reach=0.2, **more), width)
        pushed = np.zeros((1, 2 + width), np.float32)
        pushed[0, 0] = 1
        made.step({"t": SparseRows(IDS[:1], pushed, OPEN)}, 1)
        (found,) = made.lookup({"t": IDS[:1]}, training=False)["t"]
        assert (found[2] == 0) == is_zero
        assert abs(found[2]) <= 0.2


def test_a_day_ends_by_scores_and_by_days_in_which_a_row_was_not_seen() -> None:
    param = {**PARAM, "show_click_decay_rate": 0.5, "delete_threshold": 0.11, "delete_after_unseen_days": 2}
    made = table(options("adagrad", "adagrad", keep=0.5, least_score=0.11, days=2))
    expected = twin("adagrad", "adagrad", made, param)
    often, days = {3: 64, 11: 3}, 0
    while expected.rows or not days:
        ids = np.array([3, 11] if days == 0 else [11] if days < 4 else [], np.int64)
        pushed = np.array([[often[int(id)], 0, 0.1, 0.2, 0.3, 0.4] for id in ids], np.float32).reshape(-1, 6)
        made.step({"t": SparseRows(ids, pushed, OPEN)}, 1)
        for id, row in zip(ids, pushed, strict=True):
            expected.push(int(id), row[0], row[1], row[2:])
        made.shrink(1)
        made.step({}, 1)
        expected.end_day()
        days += 1
        assert sorted(all_rows(made).ids) == sorted(expected.rows), days
    assert days > 4


def test_rows_of_a_table_that_nobody_counted_go_on_with_all_of_their_numbers() -> None:
    values = np.arange(8, dtype=np.float32).reshape(2, 4) / 10
    for kind in KINDS:
        rule = Counted(**options(kind, kind, threshold=1e9))
        made = table(options(kind, kind, threshold=1e9))
        made.take("t", rule.whole(TableRows(IDS[:2], values), WIDTH))
        pushed = np.ones((2, 6), np.float32)
        made.step({"t": SparseRows(IDS[:2], pushed, OPEN)}, 1)
        found = made.lookup({"t": IDS[:2]}, training=True)["t"]
        assert (found[:, :2] == 1).all()
        assert (found[:, 2:] < values).all()


def test_of_what_another_rule_remembers_it_is_known_which_numbers_are_there_and_what_others_will_be() -> None:
    memory = np.array([[0.9, 0.8, 3, 4, 5], [0, 0.8, 3, 0.1, -0.2]], np.float32)
    found = Counted(kind=3.0).begun_anew(memory)
    np.testing.assert_array_equal(
        found["memory"], np.array([[1, 0, 0, 0, 0], [0, 0, 0, 0.1, -0.2]], np.float32)
    )
    assert not found["other"].any()
    assert list(Counted().begun_anew(memory)) == ["memory"]
