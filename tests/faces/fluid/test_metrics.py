"""Fluid's measures against what they mean."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._program.errors import BadArgument
from paddle.fluid import average, metrics


def test_precision_and_recall_are_counted_over_batches() -> None:
    both = metrics.CompositeMetric()
    both.add_metric(metrics.Precision())
    both.add_metric(metrics.Recall("recall"))
    both.update(np.array([[0.9], [0.8], [0.2]]), np.array([[1], [0], [1]]))
    both.update(np.array([[0.7], [0.1]]), np.array([[1], [1]]))
    assert both.eval() == [2 / 3, 2 / 4]
    both.reset()
    assert both.eval() == [0.0, 0.0]


def test_a_composite_takes_measures_only() -> None:
    with pytest.raises(ValueError, match="not a int"):
        metrics.CompositeMetric().add_metric(3)  # type: ignore[arg-type]


def test_accuracy_is_weighted_by_the_size_of_batches() -> None:
    accuracy = metrics.Accuracy()
    with pytest.raises(ValueError, match=r"call update\(\)"):
        accuracy.eval()
    accuracy.update(value=np.array([0.5], np.float32), weight=20)
    accuracy.update(value=1.0, weight=np.array([5]))
    assert accuracy.eval() == pytest.approx(15 / 25)
    assert accuracy.get_config() == {"name": "Accuracy", "states": {"value": 15.0, "weight": 25.0}}
    with pytest.raises(ValueError, match="value is a number"):
        accuracy.update("0.5", 1)


def test_a_measure_of_arrays_is_an_array() -> None:
    """A run fetches arrays of one element, and programs take the first of what is measured."""
    one, two = np.array([1]), np.array([2], np.int64)
    accuracy, chunks, distance = metrics.Accuracy(), metrics.ChunkEvaluator(), metrics.EditDistance("d")
    for _ in range(2):
        accuracy.update(np.array([0.5], np.float32), two)
        chunks.update(two, two, one)
        distance.update(np.array([[3.0], [0.0]], np.float32), two)
    assert accuracy.eval().tolist() == [0.5]
    assert [each.tolist() for each in chunks.eval()] == [[0.5], [0.5], [0.5]]
    assert [each.tolist() for each in distance.eval()] == [[1.5], [0.5]]
    assert (one.tolist(), two.tolist()) == ([1], [2])  # nothing given is changed
    chunks.reset()
    chunks.update(0, two, 0)
    assert chunks.eval() == (0.0, 0.0, 0.0)


def test_chunks_and_distances() -> None:
    chunks = metrics.ChunkEvaluator()
    assert chunks.eval() == (0.0, 0.0, 0.0)
    chunks.update(np.array([10]), np.array([8]), np.array([4]))
    assert chunks.eval() == pytest.approx((0.4, 0.5, 4 / 9))
    distance = metrics.EditDistance("d")
    distance.update(np.array([[0.0], [3.0]]), np.array([2]))
    distance.update(np.array([[0.0], [0.0]]), 2)
    assert distance.eval() == (0.75, 0.25)
    with pytest.raises(ValueError, match="taken no sequence"):
        metrics.EditDistance().eval()


def test_the_area_is_how_often_a_positive_one_is_above_a_negative_one() -> None:
    rng = np.random.default_rng(3)
    right = rng.integers(0, 2, 300)
    said = np.clip(rng.normal(0.4 + 0.2 * right, 0.2), 0, 1)
    auc = metrics.Auc("auc")
    assert auc.eval() == 0.0
    probabilities = np.stack([1 - said, said], 1).astype(np.float32)
    auc.update(preds=probabilities[:100], labels=right[:100].reshape(-1, 1))
    auc.update(right[100:], probabilities[100:])  # as 0.14 has it
    one, other = said[right == 1], said[right == 0]
    above = np.mean(np.sign(one[:, None] - other[None, :]) / 2 + 0.5)
    assert auc.eval() == pytest.approx(above, abs=2e-3)
    auc.reset()
    assert auc.eval() == 0.0


def test_what_a_measure_cannot_be_is_said() -> None:
    with pytest.warns(UserWarning, match="curve 'ROC', and not 'PR'"):
        metrics.Auc("auc", curve="PR")
    with pytest.raises(BadArgument, match="DetectionMAP takes Variables"):
        metrics.DetectionMAP(object(), object(), object())
    with pytest.raises(ValueError, match="3 preds and 2 labels"):
        metrics.Precision().update(np.ones(3), np.ones(2))
    with pytest.raises(NotImplementedError, match=r"define update\(\)"):
        metrics.MetricBase().update(1, 1)


def test_a_measure_of_ones_own_is_reset() -> None:
    class Mine(metrics.MetricBase):
        def __init__(self) -> None:
            super().__init__("mine")
            self.total, self.mean, self.bins, self.last = 3, 1.5, np.ones(2), "x"

    mine = Mine()
    mine.reset()
    assert (mine.total, mine.mean, mine.bins.tolist(), mine.last) == (0, 0.0, [0.0, 0.0], None)
    assert str(mine) == "mine"


def test_a_mean_with_weights() -> None:
    mean = average.WeightedAverage()
    with pytest.raises(ValueError, match="of nothing"):
        mean.eval()
    mean.add(value=2.0, weight=1)
    mean.add(value=4.0, weight=3)
    assert mean.eval() == 3.5
    with pytest.raises(ValueError, match="number or an array"):
        mean.add("x", 1)
