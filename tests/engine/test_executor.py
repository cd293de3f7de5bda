"""Running programs: training steps, the exchange, randomness."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.builder import Builder
from paddle._engine.errors import ExchangeError
from paddle._engine.exchange import StepReport
from paddle._engine.executor import Executor
from paddle._engine.initial import Constant
from paddle._engine.rows import SparseRows

from .jobs import IDS, Job, embedded, linear, noisy


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
