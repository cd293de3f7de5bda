"""Lookups go with the concat or the pooling behind them, unless somebody wants their rows."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward
from paddle._engine.builder import Builder
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Normal
from paddle._engine.passes import Improved, improve, prune
from paddle._engine.passes.setting import Setting
from paddle._engine.scope import Scope

IDS = np.random.default_rng(3).integers(0, 5, (4, 9))
FEED = {f"ids{i}": IDS[:, i : i + 1] for i in range(9)} | {"x": np.ones((4, 2), np.float32)}


class Side:
    """Rows of tables side by side: a letter is a lookup in the table of that name, x are numbers."""

    def __init__(self, parts: str, again: str = "", sparse: bool = False) -> None:
        self.b, self.rows = Builder(), []
        for i, part in enumerate(parts):
            self.rows.append(self._x() if part == "x" else self._lookup(part, i, sparse))
        out = self.b.op("square", X=self.b.op("concat", X=self.rows))
        summed = [self.b.op("reduce_sum", X=out)]
        summed += [self.b.op("reduce_sum", X=self._lookup(each, 5, sparse)) for each in again]
        self.loss = self.b.op("sum", X=summed)
        append_backward(self.b.program, self.loss)
        self.gradients = [f"{name}@GRAD" for name in sorted(set(parts + again) - {"x"})]

    def _x(self):
        return self.b.data("x", (-1, 2))

    def _lookup(self, table: str, number: int, sparse: bool):
        w = self.b.parameter(table, (5, 3), Normal(), sparse=sparse)
        known = self.b.program.main.variables.get(f"ids{number}")
        ids = known or self.b.data(f"ids{number}", (-1, 1), "int64")
        return self.b.op("lookup_table", {"is_sparse": sparse}, W=w, Ids=ids)

    def types(self, *keep: str) -> list[str]:
        main, names = self.b.program.main, frozenset([*self.gradients, *keep])
        return [each.type for each in improve(main.operators, Setting(names, main.variables)).operators]

    def run(self) -> list[np.ndarray]:
        scope = Scope()
        initialize(self.b.program, scope, 1)
        feed = {name: FEED[name] for name in FEED if name in self.b.program.main.variables}
        return Executor(scope).run(self.b.program, feed, [self.loss, *self.gradients])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("parts", "again", "fused", "left"),
    [
        ("aaa", "", 1, 0),
        ("aab", "", 1, 1),
        ("aabb", "", 2, 0),
        ("aba", "", 0, 3),
        ("aaxa", "", 1, 1),
        ("xaabb", "a", 2, 1),
        ("ab", "a", 0, 3),
        ("aaxaa", "", 2, 0),  # both are in one sum of gradients
        ("aabaaxaa", "a", 3, 2),
    ],
)
def test_those_in_one_table_side_by_side_become_one_and_gradients_stay_the_same(
    parts: str, again: str, fused: int, left: int, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = Side(parts, again, sparse)
    types = side.types()
    assert (types.count("lookup_beside"), types.count("lookup_table")) == (fused, left)
    assert types.count("lookup_beside_grad") == fused
    found = side.run()
    monkeypatch.setattr(
        "paddle._engine.plan.improve",
        lambda operators, setting: Improved(prune(operators, setting.keep)),
    )
    for one, other in zip(found, side.run(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_rows_that_are_fetched_or_whose_gradient_is_stay_apart() -> None:
    side = Side("aa")
    assert "lookup_beside" not in side.types(side.rows[0].name)
    assert "lookup_beside" not in side.types(side.rows[1].name + "@GRAD")


def test_lookups_stay_apart_where_the_share_of_one_in_a_tables_gradient_is_fetched() -> None:
    side = Side("aa")
    made = [each for each in side.b.program.main.operators if each.type == "lookup_table_grad"]
    side.gradients += [each.outputs["W@GRAD"][0] for each in made]
    assert "lookup_beside" not in side.types()
    _, whole, *shares = side.run()
    np.testing.assert_allclose(whole, shares[0] + shares[1], rtol=1e-6)
    for each, share in zip(made, shares, strict=True):
        assert set(np.flatnonzero(share.any(1))) == set(FEED[each.inputs["Ids"][0]][:, 0])


def test_lookups_whose_gradients_are_rows_stay_apart_from_others_in_their_table() -> None:
    b = Builder()
    w, ids = b.parameter("w", (5, 3), Normal()), b.data("ids", (-1, 1), "int64")
    rows = [b.op("lookup_table", {"is_sparse": i < 2}, W=w, Ids=ids) for i in range(4)]
    append_backward(b.program, b.op("reduce_sum", X=b.op("concat", X=rows)))
    main = b.program.main
    made = improve(main.operators, Setting(frozenset(["w@GRAD"]), main.variables)).operators
    for type in ("lookup_beside", "lookup_beside_grad"):
        assert {each.attrs["is_sparse"] for each in made if each.type == type} == {True, False}


def test_a_row_that_stands_there_twice_stays_apart() -> None:
    b = Builder()
    w, ids = b.parameter("w", (5, 3), Normal()), b.data("ids", (-1, 1), "int64")
    row = b.op("lookup_table", W=w, Ids=ids)
    out = b.op("concat", X=[row, row])
    main = b.program.main
    types = [
        each.type
        for each in improve(main.operators, Setting(frozenset([out.name]), main.variables)).operators
    ]
    assert types == ["lookup_table", "concat"]


def test_pooled_rows_that_are_fetched_are_looked_up() -> None:
    b = Builder()
    w, ids = b.parameter("w", (5, 3), Normal()), b.data("ids", (-1,), "int64")
    rows = b.op("lookup_table", W=w, Ids=ids)
    pooled = b.op("sequence_pool", X=rows, Offsets=b.data("offsets", (-1,), "int64"))
    main = b.program.main
    for keep, expected in (((), ["lookup_pool"]), ((rows.name,), ["lookup_table", "sequence_pool"])):
        setting = Setting(frozenset([pooled.name, *keep]), main.variables)
        assert [each.type for each in improve(main.operators, setting).operators] == expected
