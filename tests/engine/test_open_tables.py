"""Programs with tables that have no height: they compute what they would with a table that has one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.exchange import RowsSpec, RuleSpec, ScheduleSpec, UpdateSpec
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Constant, Normal
from paddle._engine.row_initial import RowInitial, row_key
from paddle._engine.rows import OPEN, SparseRows
from paddle._engine.scope import Scope
from paddle._pserver.trainer.local import LocalExchange

HEIGHT, WIDTH = 30, 4
ROWS = RowsSpec(initial=RowInitial("normal", 0.0, 0.5), seed=11)
UPDATE = UpdateSpec(
    rule=RuleSpec(name="adagrad"), schedule=ScheduleSpec(learning_rate=0.1), gradient_clipping_threshold=0.5
)
IDS = st.lists(st.integers(0, HEIGHT - 1), min_size=1, max_size=12)


def first_values(shape: Any, random: Any) -> np.ndarray:
    """Those that rows of the open table have."""
    out = np.empty((HEIGHT, WIDTH), np.float32)
    ROWS.initial.fill(row_key(ROWS.seed, "table"), np.arange(HEIGHT), out)
    return out


class Job:
    """Two columns of ids looked up in one table, then a line; trained by this process alone."""

    def __init__(self, *, is_open: bool) -> None:
        b = Builder()
        shape, rows = ((OPEN, WIDTH), ROWS) if is_open else ((HEIGHT, WIDTH), None)
        table = b.parameter("table", shape, first_values, sparse=True, rows=rows)
        columns = [b.data(name, (-1, 1), "int64") for name in ("left", "right")]
        found = [b.op("lookup_table", {"is_sparse": True}, W=table, Ids=ids) for ids in columns]
        w = b.parameter("w", (2 * WIDTH, 1), Normal())
        line = b.op("mul", X=b.op("concat", {"axis": 1}, X=found), Y=w)
        self.loss = b.op("reduce_mean", X=b.op("square", X=line))
        self.line, self.test = line, b.program.clone(for_test=True)
        self.program, self.scope = b.program, Scope()
        pairs = append_backward(b.program, self.loss)
        append_exchange(b.program, pairs)
        initialize(b.program, self.scope, 1)
        self.exchange = LocalExchange()
        specs = [parameter.spec for parameter, _ in pairs]
        values = {spec.name: self.scope.get(spec.name) for spec in specs if not spec.is_open}
        self.scope.bind(self.exchange.start(specs, UPDATE, values))
        self.executor = Executor(self.scope, self.exchange)

    def step(self, left: list[int], right: list[int]) -> bytes:
        (cost,) = self.executor.run(self.program, feed(left, right), [self.loss])
        return cost.tobytes()

    def predict(self, left: list[int], right: list[int], executor: Executor | None = None) -> np.ndarray:
        (found,) = (executor or self.executor).run(self.test, feed(left, right), [self.line])
        return found


def feed(left: list[int], right: list[int]) -> dict[str, np.ndarray]:
    return {name: np.array(ids, np.int64).reshape(-1, 1) for name, ids in (("left", left), ("right", right))}


@settings(max_examples=15, deadline=None)
@given(batches=st.lists(st.tuples(IDS, IDS), min_size=1, max_size=5))
def test_training_equals_that_of_a_table_with_a_height_bit_for_bit(batches):
    opened, packed = Job(is_open=True), Job(is_open=False)
    seen: set[int] = set()
    for left, right in batches:
        n = min(len(left), len(right))
        assert opened.step(left[:n], right[:n]) == packed.step(left[:n], right[:n])
        seen |= {*left[:n], *right[:n]}
    rows = opened.exchange.export("table")
    assert rows.ids.tolist() == sorted(seen)
    assert np.array_equal(rows.values, packed.scope.get("table")[rows.ids])
    assert np.array_equal(opened.scope.get("w"), packed.scope.get("w"))
    known = sorted(seen)
    assert np.array_equal(opened.predict(known, known), packed.predict(known, known))


def test_any_number_is_an_id():
    job = Job(is_open=True)
    ids = [-1, 2**63 - 1, -(2**63), 0]
    first = job.step(ids, ids)
    assert job.step(ids, ids) != first
    assert job.exchange.export("table").ids.tolist() == sorted(ids)


def test_a_test_makes_no_rows_and_what_has_none_is_zero():
    job = Job(is_open=True)
    job.step([1], [2])
    assert job.predict([1, 7], [2, 8])[1] == 0
    assert job.exchange.export("table").ids.tolist() == [1, 2]


def test_rows_that_were_exported_are_all_that_a_prediction_elsewhere_needs():
    job = Job(is_open=True)
    job.step([1, 2, 3], [9, 9, 1])
    scope = Scope()
    scope.bind({"w": job.scope.get("w")})
    scope.keep("table", job.exchange.export("table"))
    elsewhere = Executor(scope)
    ids = [1, 9, 0, 10]
    assert np.array_equal(job.predict(ids, ids), job.predict(ids, ids, elsewhere))
    with pytest.raises(FeedError, match="no rows of the open table 'table'"):
        job.predict(ids, ids, Executor(job.scope))


def test_what_needs_all_of_a_table_says_that_there_is_no_such_thing():
    job = Job(is_open=True)
    with pytest.raises(FeedError, match=r"'table' is a table without a height.*export"):
        job.executor.run(job.program, feed([1], [2]), ["table"])
    with pytest.raises(ShapeError, match="rows of a table without a height are not an array"):
        job.executor.run(job.program, feed([1], [2]), ["table@GRAD"])
    b = Builder()
    table = b.parameter("table", (OPEN, 4), Constant(0.0), sparse=True, rows=ROWS)
    out = b.op("square", X=table)
    with pytest.raises(ShapeError, match=r"'table'.*can be looked up in.*square"):
        Executor(Scope()).run(b.program, {}, [out])


def test_ids_of_an_open_table_must_be_fed():
    b = Builder()
    table = b.parameter("table", (OPEN, 4), Constant(0.0), sparse=True, rows=ROWS)
    scores = b.data("scores", (-1, 5))
    best = b.ops("top_k", {"k": 1}, X=scores)["Indices"]
    out = b.op("lookup_table", {"is_sparse": True}, W=table, Ids=best)
    with pytest.raises(ShapeError, match="must be fed, not computed"):
        Executor(Scope()).run(b.program, {"scores": np.ones((2, 5), np.float32)}, [out])


def test_rows_know_that_they_have_no_height():
    with pytest.raises(ShapeError, match="no last one"):
        SparseRows(np.array([1]), np.ones((1, 2), np.float32), OPEN).to_dense()
