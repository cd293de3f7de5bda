"""Running programs: feeds, fetches, plans, the exchange, randomness."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from paddle._engine.autodiff import append_backward, append_exchange
from paddle._engine.builder import Builder
from paddle._engine.errors import ExchangeError, FeedError, ShapeError
from paddle._engine.exchange import StepReport
from paddle._engine.executor import PLANS_PER_PROGRAM, Executor, initialize
from paddle._engine.initial import Constant, Normal
from paddle._engine.rows import SparseRows
from paddle._engine.scope import Scope


class Recorder:
    """An exchange that remembers what it was given and applies plain SGD."""

    def __init__(self, scope: Scope, learning_rate: float = 0.1):
        self.scope, self.learning_rate = scope, learning_rate
        self.prefetched: list[dict[str, np.ndarray]] = []
        self.given: list[Mapping[str, np.ndarray | SparseRows]] = []
        self.samples: list[int] = []

    def prefetch(self, rows: Mapping[str, np.ndarray]) -> None:
        self.prefetched.append({name: ids.copy() for name, ids in rows.items()})

    def step(self, gradients: Mapping[str, np.ndarray | SparseRows], samples: int) -> StepReport:
        self.given.append(dict(gradients))
        self.samples.append(samples)
        for name, gradient in gradients.items():
            dense = gradient.to_dense() if isinstance(gradient, SparseRows) else gradient
            self.scope.get(name)[...] -= self.learning_rate * dense
        return StepReport(version=len(self.given))


class Job:
    """A program with its scope, exchange and executor."""

    def __init__(self, builder: Builder, loss, train: bool = True, seed: int = 5):
        self.test = builder.program.clone(for_test=True)
        self.program, self.loss, self.scope = builder.program, loss, Scope()
        if train:
            append_exchange(self.program, append_backward(self.program, loss))
        initialize(self.program, self.scope, seed)
        self.exchange = Recorder(self.scope)
        self.executor = Executor(self.scope, self.exchange)

    def run(self, feed, fetch=None, **how):
        return self.executor.run(self.program, feed, [self.loss] if fetch is None else fetch, **how)


def embedded(sparse: bool = True) -> Job:
    b = Builder()
    left, right = b.data("left", (-1, 1), "int64"), b.data("right", (-1, 1), "int64")
    table = b.parameter("table", (10, 2), Normal(), sparse=sparse)
    looked = [b.op("lookup_table", {"is_sparse": sparse}, W=table, Ids=i) for i in (left, right)]
    w = b.parameter("w", (4, 1), Normal())
    return Job(b, b.op("reduce_sum", X=b.op("mul", X=b.op("concat", X=looked), Y=w)))


def linear() -> Job:
    b = Builder()
    w, bias = b.parameter("w", (2, 1), Constant()), b.parameter("b", (1,), Constant())
    prediction = b.op("elementwise_add", X=b.op("mul", X=b.data("x", (-1, 2)), Y=w), Y=bias)
    cost = b.op("square_error_cost", X=prediction, Label=b.data("y", (-1, 1)))
    return Job(b, b.op("mean", X=cost))


def noisy(train: bool = True) -> Job:
    b = Builder()
    w = b.parameter("w", (8, 8), Constant(1.0))
    hidden = b.op("mul", X=b.data("x", (-1, 8)), Y=w)
    dropped = [b.op("dropout", X=hidden) for _ in range(2)]
    job = Job(b, b.op("mean", X=b.op("sum", X=dropped)), train)
    job.dropped = dropped
    return job


IDS = {"left": np.array([[3], [7], [3]]), "right": np.array([[7], [0], [9]])}


class TestTraining:
    def test_a_line_is_fitted(self) -> None:
        job, rng = linear(), np.random.default_rng(0)
        x = rng.normal(size=(50, 2)).astype(np.float32)
        feed = {"x": x, "y": x @ np.array([[2.0], [-3]], np.float32) + 0.5}
        costs = [float(job.run(feed)[0][0]) for _ in range(200)]
        assert costs[-1] < 1e-6 < costs[0]
        np.testing.assert_allclose(job.scope.get("w"), [[2], [-3]], atol=1e-3)
        np.testing.assert_allclose(job.scope.get("b"), [0.5], atol=1e-3)

    def test_the_exchange_gets_rows_for_sparse_and_arrays_for_dense_parameters(self) -> None:
        job = embedded()
        w = job.scope.get("w").copy()
        job.run(IDS)
        (given,) = job.exchange.given
        assert list(given) == ["table", "w"] and isinstance(given["w"], np.ndarray)
        rows = given["table"]
        assert isinstance(rows, SparseRows) and (rows.height, rows.width) == (10, 2)
        assert sorted(rows.ids.tolist()) == [0, 3, 3, 7, 7, 9]
        by_hand = np.zeros((10, 2), np.float32)
        np.add.at(by_hand, IDS["left"][:, 0], w[:2, 0])
        np.add.at(by_hand, IDS["right"][:, 0], w[2:, 0])
        np.testing.assert_allclose(rows.to_dense(), by_hand, rtol=1e-6)

    def test_sparse_and_dense_tables_train_alike(self) -> None:
        jobs = [embedded(sparse) for sparse in (True, False)]
        for _ in range(3):
            for job in jobs:
                job.run(IDS)
        for name in ("table", "w"):
            np.testing.assert_allclose(*(job.scope.get(name) for job in jobs), rtol=1e-6)

    def test_dense_gradients_are_the_same_arrays_for_all_batch_sizes(self) -> None:
        job = embedded()
        job.run(IDS)
        job.run({name: ids[:2] for name, ids in IDS.items()})
        first, second = job.exchange.given
        assert first["w"] is second["w"]

    def test_a_gradient_handed_over_survives_until_the_next_run(self) -> None:
        """No buffer of the plan may lie over it, whatever is fetched after the exchange."""
        job = embedded()
        gradient = job.run(IDS, ["w@GRAD", "table@GRAD", job.loss])
        np.testing.assert_array_equal(gradient[0], job.exchange.given[0]["w"])
        np.testing.assert_array_equal(gradient[1], job.exchange.given[0]["table"].to_dense())

    def test_samples_default_to_the_batch_size(self) -> None:
        job = embedded()
        job.run(IDS)
        job.run(IDS, samples=17)
        assert job.exchange.samples == [3, 17]

    def test_the_report_of_the_last_step_is_kept(self) -> None:
        job = embedded()
        assert job.executor.last_report is None
        job.run(IDS)
        job.run(IDS)
        job.executor.run(job.test, IDS, [job.loss])
        assert job.executor.last_report == StepReport(version=2)

    def test_a_step_without_trained_parameters_is_a_step_that_changes_nothing(self) -> None:
        b = Builder()
        fixed = b.parameter("fixed", (2, 1), Constant(2.0), is_static=True)
        job = Job(b, b.op("reduce_sum", X=b.op("mul", X=b.data("x", (-1, 2)), Y=fixed)))
        assert job.run({"x": np.ones((3, 2))})[0] == 12
        assert job.exchange.given == [{}] and job.exchange.samples == [3]
        assert job.executor.last_report == StepReport(version=1)

    def test_training_without_an_exchange_is_refused(self) -> None:
        job = linear()
        with pytest.raises(ExchangeError, match="made without an exchange"):
            Executor(job.scope).run(job.program, {"x": np.zeros((1, 2)), "y": np.zeros((1, 1))}, [])


class TestPrefetch:
    def test_all_ids_of_a_sparse_table_are_prefetched_before_a_batch_also_for_tests(self) -> None:
        job = embedded()
        job.run(IDS)
        job.executor.run(job.test, IDS, [job.loss])
        for rows in job.exchange.prefetched:
            assert list(rows) == ["table"]
            assert rows["table"].tolist() == [3, 7, 3, 7, 0, 9]
        assert len(job.exchange.prefetched) == 2

    def test_what_was_prefetched_is_computed_with(self) -> None:
        job = embedded()

        def prefetch(rows: Mapping[str, np.ndarray]) -> None:
            job.scope.get("table")[rows["table"]] = 0

        job.exchange.prefetch = prefetch
        assert job.run(IDS)[0] == 0

    def test_dense_tables_are_not_prefetched(self) -> None:
        job = embedded(sparse=False)
        job.run(IDS)
        assert job.exchange.prefetched == []

    def test_wrong_ids_are_refused_before_they_are_prefetched(self) -> None:
        job = embedded()
        for wrong in (10, -1, 2**62):
            with pytest.raises(
                FeedError, match=f"'lookup_table'.*'right' holds {wrong}, but 'table' takes 0 to 9"
            ):
                job.run(IDS | {"right": np.array([[1], [wrong], [2]])})
        assert job.exchange.prefetched == [] and job.exchange.given == []

    def test_wrong_labels_are_refused(self) -> None:
        b = Builder()
        p = b.op("softmax", X=b.data("x", (-1, 3)))
        cost = b.op("cross_entropy", X=p, Label=b.data("y", (-1, 1), "int64"))
        with pytest.raises(FeedError, match="'y' holds 3, but 'x' takes 0 to 2"):
            Job(b, cost, train=False).run({"x": np.zeros((2, 3)), "y": np.array([[0], [3]])})

    def test_ids_that_the_program_computes_are_checked_too(self) -> None:
        b = Builder()
        ids = b.op("cast", {"dtype": "int64"}, X=b.data("x", (-1, 1)))
        out = b.op("lookup_table", W=b.parameter("table", (4, 2), Normal()), Ids=ids)
        job = Job(b, out, train=False)
        assert job.run({"x": np.array([[3.0]])})[0].shape == (1, 2)
        with pytest.raises(FeedError, match="holds 4"):
            job.run({"x": np.array([[4.0]])})

    def test_computed_ids_of_a_sparse_table_are_refused(self) -> None:
        b = Builder()
        ids = b.op("cast", {"dtype": "int64"}, X=b.data("x", (-1, 1)))
        table = b.parameter("table", (4, 2), Normal(), sparse=True)
        job = Job(b, b.op("lookup_table", {"is_sparse": True}, W=table, Ids=ids), train=False)
        with pytest.raises(ShapeError, match="must be fed, not computed"):
            job.run({"x": np.zeros((1, 1))})

    def test_an_empty_batch_runs(self) -> None:
        job = embedded()
        empty = {name: np.zeros((0, 1), np.int64) for name in IDS}
        assert job.run(empty)[0] == 0


class TestFeedAndFetch:
    def test_feeds_convert_within_their_kind(self) -> None:
        job = linear()
        feed = {"x": np.ones((2, 2)), "y": np.ones((2, 1), np.int32)}
        assert job.run(feed)[0] == 1
        ids = {name: ids.astype(np.int32) for name, ids in IDS.items()}
        embedded().run(ids)

    def test_feeds_that_do_not_fit_are_refused_by_name(self) -> None:
        job = linear()
        good = {"x": np.ones((2, 2)), "y": np.ones((2, 1))}
        for bad, match in [
            ({"x": good["x"]}, r"the feed lacks y : float32\[-1, 1\]; it has \['x'\]"),
            (good | {"z": np.ones(1)}, "no variable 'z'"),
            (good | {"x": np.ones((2, 3))}, r"the feed's shape \[2, 3\] does not fit"),
            (good | {"x": np.ones(2)}, "does not fit"),
        ]:
            with pytest.raises(FeedError, match=match):
                job.run(bad)
        with pytest.raises(ShapeError, match="square_error_cost"):
            job.run(good | {"y": np.ones((3, 1))})
        with pytest.raises(FeedError, match="'left' is int64, the feed gives float64: convert it"):
            embedded().run(IDS | {"left": np.ones((3, 1))})

    def test_unknown_fetches_are_refused(self) -> None:
        job = linear()
        with pytest.raises(FeedError, match="no variable 'nothing'"):
            job.run({"x": np.ones((2, 2)), "y": np.ones((2, 1))}, ["nothing"])
        with pytest.raises(FeedError, match="made by no operator"):
            job.program.main.add(type(job.loss)("loose", (1,)))
            job.run({"x": np.ones((2, 2)), "y": np.ones((2, 1))}, ["loose"])

    def test_data_and_parameters_can_be_fetched(self) -> None:
        job, feed = linear(), {"x": np.ones((2, 2)), "y": np.ones((2, 1))}
        x, w = job.run(feed, ["x", "w"])
        np.testing.assert_array_equal(x, feed["x"])
        np.testing.assert_array_equal(w, job.scope.get("w"))  # after the step

    def test_what_is_fetched_is_the_callers_to_keep(self) -> None:
        job, feed = linear(), {"x": np.ones((2, 2)), "y": np.ones((2, 1))}
        kept = job.run(feed, [job.loss, "w", "x"])
        before = [value.copy() for value in kept]
        job.run({name: 3 * value for name, value in feed.items()}, [job.loss, "w", "x"])
        for value, copy in zip(kept, before, strict=True):
            np.testing.assert_array_equal(value, copy)

    def test_what_is_fed_may_change_afterwards(self) -> None:
        job, ids = embedded(), {name: value.copy() for name, value in IDS.items()}
        job.run(ids)
        ids["left"][...] = 1
        assert sorted(job.exchange.given[0]["table"].ids.tolist()) == [0, 3, 3, 7, 7, 9]

    def test_a_prediction_needs_no_label(self) -> None:
        job = linear()
        (value,) = job.executor.run(job.test, {"x": np.ones((4, 2))}, ["elementwise_add_1.out"])
        np.testing.assert_array_equal(value, np.zeros((4, 1)))

    def test_all_variables_of_a_run_have_their_own_values(self) -> None:
        """Fetching everything forbids all sharing of memory; fetching one at a time allows it."""
        job = noisy(train=False)
        names = [name for name, v in job.program.main.variables.items() if name != "w"]
        feed = {"x": np.arange(16.0).reshape(2, 8)}
        together = job.run(feed, names)
        for name, value in zip(names, together, strict=True):
            alone = Executor(job.scope).run(job.program, feed, [name])[0]
            np.testing.assert_array_equal(alone, value, err_msg=name)

    def test_an_error_names_the_operator(self) -> None:
        job = linear()
        job.exchange.step = lambda gradients, samples: 1 / 0
        with pytest.raises(ZeroDivisionError) as caught:
            job.run({"x": np.ones((2, 2)), "y": np.ones((2, 1))})
        assert "in operator - = exchange(Param=w+b" in caught.value.__notes__[0]

    def test_an_error_stays_short_however_many_parameters_there_are(self) -> None:
        b = Builder()
        parameters = [b.parameter(f"w{i}", (1,), Constant(1.0)) for i in range(50)]
        job = Job(b, b.op("sum", X=parameters))
        job.exchange.step = lambda gradients, samples: 1 / 0
        with pytest.raises(ZeroDivisionError) as caught:
            job.run({})
        (note,) = caught.value.__notes__
        assert "Param=w0+w1+w2+w3+... (50 in all), Grad=w0@GRAD+" in note and len(note) < 160


class TestPlans:
    def test_a_plan_is_made_once_for_each_shape_and_fetch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from paddle._engine import executor

        made = []
        monkeypatch.setattr(
            executor, "make_plan", lambda *a, real=executor.make_plan: made.append(1) or real(*a)
        )
        job = embedded()
        for _ in range(3):
            job.run(IDS)
            job.run({name: ids[:2] for name, ids in IDS.items()})
        assert len(made) == 2
        job.run(IDS, [])
        assert len(made) == 3

    def test_a_plan_follows_the_scope_when_an_array_is_replaced(self) -> None:
        job = embedded()
        job.executor.run(job.test, IDS, [job.loss])
        job.scope.bind({"w": np.zeros((4, 1), np.float32)})
        assert job.executor.run(job.test, IDS, [job.loss])[0] == 0

    def test_a_plan_follows_a_program_that_grows(self) -> None:
        b = Builder()
        out = b.op("scale", {"scale": 2.0}, X=b.data("x", (-1, 1)))
        job = Job(b, out, train=False)
        assert job.run({"x": np.ones((1, 1))})[0] == 2
        more = b.op("scale", {"scale": 5.0}, X=out)
        assert job.run({"x": np.ones((1, 1))}, [more])[0] == 10

    def test_old_plans_are_dropped_and_made_again(self) -> None:
        job = linear()
        for size in [*range(1, PLANS_PER_PROGRAM + 5), 1]:
            job.run({"x": np.ones((size, 2)), "y": np.ones((size, 1))})
        (known,) = job.executor._programs.values()
        assert len(known.plans) == PLANS_PER_PROGRAM

    def test_a_plan_in_use_outlives_one_not_used_for_long(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from paddle._engine import executor

        made, real = [], executor.make_plan
        monkeypatch.setattr(executor, "make_plan", lambda *a: made.append(a[1]["x"][0]) or real(*a))
        job = linear()
        for size in range(2, 2 * PLANS_PER_PROGRAM):
            for batch in (1, size):
                job.run({"x": np.ones((batch, 2)), "y": np.ones((batch, 1))})
        assert made == list(range(1, 2 * PLANS_PER_PROGRAM))

    def test_buffers_are_reused(self) -> None:
        b = Builder()
        x = b.data("x", (-1, 1000))
        for _ in range(20):
            x = b.op("softsign", X=x)  # never in place
        job = Job(b, x, train=False)
        job.run({"x": np.ones((10, 1000))})
        (plan,) = next(iter(job.executor._programs.values())).plans.values()
        arrays = {id(a): a for step, _ in plan.steps for a in step.args if isinstance(a, np.ndarray)}
        spans = [a.ctypes.data for a in arrays.values()]
        assert max(spans) - min(spans) < 10 * 40_000

    def test_a_parameter_of_another_shape_in_the_scope_is_refused(self) -> None:
        job = linear()
        job.scope.bind({"w": np.zeros((3, 1), np.float32)})
        with pytest.raises(ShapeError, match=r"float32\[2, 1\] in the program, float32\[3, 1\] in the scope"):
            job.run({"x": np.ones((2, 2)), "y": np.ones((2, 1))})


class TestRandomness:
    FEED = {"x": np.ones((4, 8))}  # noqa: RUF012

    def masks(self, job: Job, **how) -> list[np.ndarray]:
        return [value != 0 for value in job.run(self.FEED, job.dropped, **how)]

    def test_equal_seeds_and_steps_give_equal_bits(self) -> None:
        runs = []
        for _ in range(2):
            job = noisy()
            runs.append([job.run(self.FEED, seed=3)[0] for _ in range(3)])
        np.testing.assert_array_equal(runs[0], runs[1])

    def test_each_operator_step_and_seed_draws_its_own(self) -> None:
        job = noisy()
        masks = [*self.masks(job), *self.masks(job), *self.masks(noisy(), seed=1)]
        for i, mask in enumerate(masks):
            assert all((mask != other).any() for other in masks[:i])

    def test_tests_in_between_do_not_change_training(self) -> None:
        plain, mixed = noisy(), noisy()
        expected = [plain.run(self.FEED)[0] for _ in range(3)]
        found = []
        for _ in range(3):
            mixed.executor.run(mixed.test, self.FEED, [mixed.loss])
            found.append(mixed.run(self.FEED)[0])
        np.testing.assert_array_equal(expected, found)

    def test_a_test_draws_nothing_and_scales_by_the_share_kept(self) -> None:
        job = noisy()
        values = job.executor.run(job.test, self.FEED, job.dropped)
        np.testing.assert_array_equal(values, np.full((2, 4, 8), 4.0))
