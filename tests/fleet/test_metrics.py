"""fleet.metrics: what all workers have counted, as one number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid
from paddle.distributed.fleet import metrics


class Two:
    """The util of one of two workers, of which the other has counted ``others``."""

    def __init__(self, *others: Any) -> None:
        self._others = list(others)

    def all_reduce(self, input: np.ndarray, mode: str) -> np.ndarray:
        other = np.asarray(self._others.pop(0))
        return {"sum": np.add, "max": np.maximum, "min": np.minimum}[mode](input, other)


def test_numbers_of_all_workers_are_put_together() -> None:
    own = np.array([[1.0, 5.0]])
    assert metrics.sum(own, util=Two([[2.0, 2.0]])).tolist() == [[3.0, 7.0]]
    assert metrics.max(own, util=Two([[2.0, 2.0]])).tolist() == [[2.0, 5.0]]
    assert metrics.min(own, util=Two([[2.0, 2.0]])).tolist() == [[1.0, 2.0]]
    assert metrics.acc(np.array([3.0]), np.array([4.0]), util=Two([1.0], [4.0])) == 0.5
    assert metrics.mae(np.array([3.0]), np.array([4.0]), util=Two([5.0], [4.0])) == 1.0
    assert metrics.mse(np.array([12.0]), np.array([4.0]), util=Two([20.0], [4.0])) == 4.0
    assert metrics.rmse(np.array([12.0]), np.array([4.0]), util=Two([20.0], [4.0])) == 2.0
    with pytest.raises(ZeroDivisionError, match="no worker has counted a sample"):
        metrics.acc(np.zeros(1), np.zeros(1), util=Two([0.0], [0.0]))


def test_auc_is_that_of_all_samples() -> None:
    random = np.random.default_rng(0)
    score, label = random.random(400), random.random(400) < 0.4
    score[label] = np.sqrt(score[label])
    bucket = (score * 50).astype(int)
    counts = [np.bincount(bucket[label == kind], minlength=50).reshape(1, -1) for kind in (True, False)]
    halves = [part // 2 for part in counts]
    found = metrics.auc(halves[0], halves[1], util=Two(*(c - h for c, h in zip(counts, halves, strict=True))))
    above = bucket[label][:, None] - bucket[~label][None]
    assert found == pytest.approx(float(((above > 0) + 0.5 * (above == 0)).mean()))
    assert metrics.auc(np.zeros((1, 4)), np.ones((1, 4)), util=Two(np.zeros((1, 4)), np.ones((1, 4)))) == 0.5


def test_a_variable_or_its_name_stands_for_what_the_scope_has() -> None:
    with fluid.scope_guard(fluid.executor.Scope()):
        fluid.global_scope().var("correct").get_tensor().set(np.array([3.0], np.float32))
        assert metrics.sum("correct", util=Two([1.0])).tolist() == [4.0]
        program = fluid.Program()
        variable = program.global_block().create_var("correct", shape=(1,), dtype="float32")
        assert metrics.sum(variable, util=Two([1.0])).tolist() == [4.0]
        with pytest.raises(ValueError, match="no value of it"):
            metrics.sum("wrong", util=Two([1.0]))
