"""A column of ids is looked up as rows, unless somebody wants the axis between."""

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

RNG = np.random.default_rng(4)
FEED = {f"ids{i}": RNG.integers(0, 5, (4, 1)) for i in range(3)}


class Columns:
    """Three columns, looked up as 2.x does, flat, side by side; ``added``: each with an axis of its own."""

    def __init__(self, sparse: bool = False, width: int = 3, *, added: bool = True) -> None:
        self.b, self.deep = Builder(), []
        table = self.b.parameter("w", (5, 3), Normal(), sparse=sparse)
        rows = []
        for name in FEED:
            ids = self.b.data(name, (-1, 1), "int64")
            ids = self.b.op("unsqueeze", {"axes": (2,)}, X=ids) if added else ids
            self.deep.append(self.b.op("lookup_table", {"is_sparse": sparse}, W=table, Ids=ids))
            rows.append(self.b.op("reshape", {"shape": (-1, width)}, X=self.deep[-1]))
        self.ids, self.rows = ids, rows

    def finish(self, *more) -> None:
        squares = self.b.op("square", X=self.b.op("concat", X=self.rows))
        self.loss = self.b.op("sum", X=[self.b.op("reduce_sum", X=each) for each in (squares, *more)])
        append_backward(self.b.program, self.loss)

    def types(self, *keep: str) -> list[str]:
        main = self.b.program.main
        names = frozenset(["w@GRAD", self.loss.name, *keep])
        return [each.type for each in improve(main.operators, Setting(names, main.variables)).operators]

    def run(self, *fetch: str) -> list[np.ndarray]:
        scope = Scope()
        initialize(self.b.program, scope, 1)
        return Executor(scope).run(self.b.program, FEED, [self.loss, "w@GRAD", *fetch])


def apart(columns: Columns, monkeypatch: pytest.MonkeyPatch, *fetch: str) -> list[np.ndarray]:
    with monkeypatch.context() as patch:
        patch.setattr(
            "paddle._engine.plan.improve",
            lambda operators, setting: Improved(prune(operators, setting.keep)),
        )
        return columns.run(*fetch)


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_columns_are_looked_up_as_rows_and_side_by_side(sparse: bool, added: bool, monkeypatch) -> None:
    columns = Columns(sparse, added=added)
    columns.finish()
    types = columns.types()
    assert "lookup_beside" in types and "lookup_beside_grad" in types
    assert not {"unsqueeze", "reshape", "reshape_grad", "lookup_table"} & set(types)
    for fused, plain in zip(columns.run(), apart(columns, monkeypatch), strict=True):
        np.testing.assert_allclose(fused, plain, rtol=1e-6)


def test_rows_that_are_fetched_are_made_flat_behind_them(monkeypatch) -> None:
    columns = Columns(added=False)
    columns.finish()
    name = columns.deep[-1].name
    assert columns.types(name).count("reshape") == 1
    for fused, plain in zip(columns.run(name), apart(columns, monkeypatch, name), strict=True):
        np.testing.assert_allclose(fused, plain, rtol=1e-6)


@pytest.mark.parametrize("wanted", ["deep", "ids"])
def test_what_is_fetched_is_made(wanted: str, monkeypatch) -> None:
    columns = Columns()
    columns.finish()
    name = columns.ids.name if wanted == "ids" else columns.deep[-1].name
    assert columns.types(name).count("unsqueeze") == 1
    found, plain = columns.run(name), apart(columns, monkeypatch, name)
    assert found[2].shape == ((4, 1, 1) if wanted == "ids" else (4, 1, 3))
    for fused, other in zip(found, plain, strict=True):
        np.testing.assert_allclose(fused, other, rtol=1e-6)


def test_what_something_else_reads_keeps_its_axis(monkeypatch) -> None:
    columns = Columns()
    columns.finish(columns.deep[0])
    assert {kind: columns.types().count(kind) for kind in ("unsqueeze", "reshape")} == {
        "unsqueeze": 1,
        "reshape": 1,
    }
    for fused, plain in zip(columns.run(), apart(columns, monkeypatch), strict=True):
        np.testing.assert_allclose(fused, plain, rtol=1e-6)


def test_rows_of_another_width_are_cut_as_they_were() -> None:
    columns = Columns(width=12)
    columns.finish()
    assert columns.types().count("lookup_table") == columns.types().count("reshape") == 3
