"""A team: what its exchange hears is what one executor's would, whatever becomes of its parts."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.errors import FeedError
from paddle._engine.exchange import RowsSpec, StepReport
from paddle._engine.executor import Executor, initialize
from paddle._engine.initial import Constant, Normal
from paddle._engine.rows import OPEN, SparseRows
from paddle._engine.scope import Scope
from paddle._engine.teams import brief
from paddle._engine.teams.team import Part, Team

from ..jobs import Job, Recorder, embedded, noisy
from ..test_overlap import Late

IDS = {
    "left": np.array([[3], [7], [3], [1], [3], [9], [0]]),
    "right": np.array([[7], [0], [9], [2], [2], [5], [5]]),
}


def cut(feed: Mapping[str, np.ndarray], *sizes: int) -> list[Part]:
    ends = np.cumsum(sizes)
    return [
        Part({name: value[end - size : end] for name, value in feed.items()}, size)
        for size, end in zip(sizes, ends, strict=True)
    ]


def dense(gradient: np.ndarray | SparseRows) -> np.ndarray:
    return gradient.to_dense() if isinstance(gradient, SparseRows) else gradient


@pytest.mark.parametrize("sizes", [(7,), (4, 3), (3, 2, 2), (1, 1, 1, 4)], ids=str)
@pytest.mark.parametrize("sparse", [True, False])
def test_the_exchange_hears_one_step_of_the_whole_batch(sparse: bool, sizes: tuple[int, ...]) -> None:
    alone, job = embedded(sparse), embedded(sparse)
    (whole,) = alone.run(IDS)
    team = Team(job.scope, 4, job.exchange)
    fetched = team.run(job.program, cut(IDS, *sizes), [job.loss], seed=0, step=0)
    assert len(fetched) == len(sizes)
    np.testing.assert_allclose(np.sum([cost for (cost,) in fetched], 0), whole, rtol=1e-6)
    assert job.exchange.samples == [7] and len(job.exchange.given) == 1
    for name, gradient in alone.exchange.given[0].items():
        np.testing.assert_allclose(dense(job.exchange.given[0][name]), dense(gradient), rtol=1e-6)
    for found, expected in zip(job.exchange.prefetched, alone.exchange.prefetched, strict=True):
        assert {k: sorted(v) for k, v in found.items()} == {k: sorted(v) for k, v in expected.items()}
    np.testing.assert_allclose(job.scope.get("table"), alone.scope.get("table"), rtol=1e-6)


def deep() -> Job:
    b = Builder()
    hidden = b.data("x", (-1, 6))
    for name in ("first", "second", "third"):
        hidden = b.op("tanh", X=b.op("mul", X=hidden, Y=b.parameter(name, (6, 6), Normal())))
    return Job(b, b.op("reduce_sum", X=hidden))


X = np.random.default_rng(1).normal(size=(7, 6)).astype(np.float32)


def test_an_exchange_that_overlaps_is_never_ahead_of_a_part() -> None:
    alone, job = deep(), deep()
    team = Team(job.scope, 3, late := Late(job.scope))
    for step in range(5):
        alone.run({"x": X}, step=step)
        team.run(job.program, cut({"x": X}, 3, 3, 1), [job.loss], seed=0, step=step)
    late.settle()
    assert [word for word, _ in late.log].count("begin") == 5
    for name in ("first", "second", "third"):
        np.testing.assert_allclose(job.scope.get(name), alone.scope.get(name), rtol=1e-5, atol=1e-5)


def test_equal_parts_give_equal_bits() -> None:
    def trained() -> np.ndarray:
        job = deep()
        team = Team(job.scope, 3, job.exchange)
        for step in range(10):
            team.run(job.program, cut({"x": X}, 3, 2, 2), [job.loss], seed=0, step=step)
        return job.scope.get("first")

    first = trained()
    assert all(np.array_equal(first, trained()) for _ in range(5))


@pytest.mark.parametrize("bad", [0, 4, 6])
def test_the_error_of_a_part_ends_all_and_the_next_batch_is_computed(bad: int) -> None:
    job, threads = embedded(), threading.active_count()
    team = Team(job.scope, 3, job.exchange)
    wrong = {**IDS, "left": IDS["left"].copy()}
    wrong["left"][bad] = 10
    with pytest.raises(FeedError, match="'left' holds 10, but 'table' takes 0 to 9 only"):
        team.run(job.program, cut(wrong, 3, 2, 2), [job.loss], seed=0, step=0)
    assert job.exchange.given == []
    team.run(job.program, cut(IDS, 3, 2, 2), [job.loss], seed=0, step=0)
    assert job.exchange.samples == [7] and threading.active_count() <= threads + 2


def test_an_interrupt_of_the_exchange_leaves_no_part_behind() -> None:
    job = embedded()

    class Interrupted(Recorder):
        def step(
            self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
        ) -> StepReport:
            if not self.samples:
                self.samples.append(samples)
                raise KeyboardInterrupt
            return super().step(gradients, samples)

    team = Team(job.scope, 2, exchange := Interrupted(job.scope))
    with pytest.raises(KeyboardInterrupt):
        team.run(job.program, cut(IDS, 4, 3), [job.loss], seed=0, step=0)
    team.run(job.program, cut(IDS, 4, 3), [job.loss], seed=0, step=1)
    assert exchange.samples == [7, 7] and len(exchange.given) == 1


def test_samples_are_dropped_as_in_the_whole_batch() -> None:
    job, x = noisy(), np.ones((7, 8), np.float32)
    whole = job.run({"x": x}, job.dropped, seed=3, step=4)
    assert 0 < np.mean(whole[0] == 0) < 1
    team = Team(job.scope, 3)
    fetched = team.run(job.test, cut({"x": x}, 3, 3, 1), [job.loss], seed=3, step=4)
    assert len(fetched) == 3
    trained = noisy()
    team = Team(trained.scope, 3, trained.exchange)
    fetched = team.run(trained.program, cut({"x": x}, 3, 3, 1), trained.dropped, seed=3, step=4)
    for found, expected in zip(zip(*fetched, strict=True), whole, strict=True):
        np.testing.assert_array_equal(np.concatenate(found), expected)


def normalized() -> Job:
    b = Builder()
    each = [b.parameter(name, (1, 6), Constant(value)) for name, value in (("scale", 1.0), ("bias", 0.0))]
    kept = [
        b.parameter(name, (1, 6), Constant(v), is_static=True) for name, v in (("mean", 0.0), ("var", 1.0))
    ]
    out = b.op(
        "batch_norm", X=b.data("x", (-1, 6)), Scale=each[0], Bias=each[1], Mean=kept[0], Variance=kept[1]
    )
    return Job(b, b.op("reduce_sum", X=out))


def test_moving_averages_move_to_the_mean_of_the_parts() -> None:
    job = normalized()
    team = Team(job.scope, 3, job.exchange)
    for step in range(2):
        team.run(job.program, parts := cut({"x": X}, 3, 2, 2), [job.loss], seed=0, step=step)
    moved = 0.19  # of two steps with a momentum of 0.9
    means, variances = ([f(part.feed["x"], 0) for part in parts] for f in (np.mean, np.var))
    expected = np.average(means, 0, [3, 2, 2]) * moved
    np.testing.assert_allclose(job.scope.get("mean")[0], expected, rtol=1e-5)
    np.testing.assert_allclose(expected, X.mean(0) * moved, rtol=1e-5)  # that of the whole batch
    expected = 1 + (np.average(variances, 0, [3, 2, 2]) - 1) * moved
    np.testing.assert_allclose(job.scope.get("var")[0], expected, rtol=1e-5)
    before = job.scope.get("mean").copy()
    team.run(job.test, parts, [job.loss], seed=0, step=0)
    np.testing.assert_array_equal(job.scope.get("mean"), before)


def test_a_row_of_an_open_table_is_asked_for_once_for_all_parts() -> None:
    b = Builder()
    table = b.parameter("open", (OPEN, 2), Constant(), sparse=True, rows=RowsSpec())
    looked = b.op("lookup_table", {"is_sparse": True}, W=table, Ids=b.data("left", (-1, 1), "int64"))
    loss = b.op("reduce_sum", X=looked)
    append_exchange(b.program, append_backward(b.program, loss))
    initialize(b.program, scope := Scope(), 1)

    class Opened(Recorder):
        asked: tuple[list[int], bool]

        def lookup(self, ids: Mapping[str, np.ndarray], *, training: bool) -> Mapping[str, np.ndarray]:
            self.asked = ids["open"].tolist(), training
            return {"open": np.stack([ids["open"], -ids["open"]], 1).astype(np.float32)}

        def step(
            self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int, *, rate: float | None = None
        ) -> StepReport:
            self.given.append(dict(gradients))
            return StepReport(1)

    team = Team(scope, 3, exchange := Opened(scope))
    fetched = team.run(b.program, cut({"left": IDS["left"]}, 3, 3, 1), [looked], seed=0, step=0)
    assert exchange.asked == ([0, 1, 3, 7, 9], True)
    assert np.concatenate([rows for (rows,) in fetched])[:, 0].tolist() == IDS["left"].ravel().tolist()
    (given,) = exchange.given
    assert sorted(given["open"].ids.tolist()) == sorted(IDS["left"].ravel().tolist())


def test_a_team_of_one_is_an_executor() -> None:
    alone, job = deep(), deep()
    (expected,) = Executor(alone.scope, alone.exchange).run(alone.program, {"x": X}, [alone.loss])
    ((found,),) = Team(job.scope, 1, job.exchange).run(
        job.program, [Part({"x": X}, 7)], [job.loss], seed=0, step=0
    )
    np.testing.assert_array_equal(found, expected)


def test_a_batch_is_cut_where_that_is_worth_it_and_always_alike() -> None:
    job = deep()
    team = Team(job.scope, 3, job.exchange)
    most = brief.MOST // (3 * (6 * 6 + 6 * 2 * 6) + 6)  # three times a product and its tanh, and a sum

    def parts(rows: int, samples: int) -> int:
        return team.parts_for(job.program, {"x": np.broadcast_to(X[:1], (rows, 6))}, samples)

    assert (parts(7, 7), parts(most, most), parts(most + 1, most + 1)) == (1, 1, 3)
    assert parts(most + 1, 2) == 3  # of two sequences


def test_what_shapes_do_not_tell_is_always_cut() -> None:
    b = Builder()
    image = b.data("image", (-1, 1, 4, 4))
    found = b.op("conv2d", X=image, Filter=b.parameter("filter", (2, 1, 3, 3), Normal()))
    job = Job(b, b.op("reduce_sum", X=found))
    assert Team(job.scope, 2, job.exchange).parts_for(job.program, {"image": np.ones((1, 1, 4, 4))}, 1) == 2


@pytest.mark.parametrize("exchange_of", [Recorder, Late])
def test_a_parameter_is_fetched_as_the_step_left_it_by_all_parts(exchange_of: type[Recorder]) -> None:
    job = deep()
    team = Team(job.scope, 3, exchange := exchange_of(job.scope))
    for step in range(5):
        fetched = team.run(
            job.program, cut({"x": X}, 3, 3, 1), [job.loss, "first", "third"], seed=0, step=step
        )
        if isinstance(exchange, Late):
            exchange.settle()
        for name, found in zip(("first", "third"), list(zip(*fetched, strict=True))[1:], strict=True):
            for each in found:
                np.testing.assert_array_equal(each, job.scope.get(name))
