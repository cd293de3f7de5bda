"""What goes into a run and comes out of it: feeds, rows fetched ahead, fetches."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from paddle._engine.builder import Builder
from paddle._engine.errors import FeedError, ShapeError
from paddle._engine.executor import Executor
from paddle._engine.initial import Constant, Normal

from .jobs import IDS, Job, embedded, linear, noisy


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
                FeedError, match=f"'lookup_beside'.*'right' holds {wrong}, but 'table' takes 0 to 9"
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
        job.exchange.step = lambda gradients, samples, rate: 1 / 0
        with pytest.raises(ZeroDivisionError) as caught:
            job.run({"x": np.ones((2, 2)), "y": np.ones((2, 1))})
        assert "in operator - = exchange(Param=w+b" in caught.value.__notes__[0]

    def test_an_error_stays_short_however_many_parameters_there_are(self) -> None:
        b = Builder()
        parameters = [b.parameter(f"w{i}", (1,), Constant(1.0)) for i in range(50)]
        job = Job(b, b.op("sum", X=parameters))
        job.exchange.step = lambda gradients, samples, rate: 1 / 0
        with pytest.raises(ZeroDivisionError) as caught:
            job.run({})
        (note,) = caught.value.__notes__
        assert "Param=w0+w1+w2+w3+... (50 in all), Grad=w0@GRAD+" in note and len(note) < 160
