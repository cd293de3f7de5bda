"""Measures over batches, against what numpy says of all samples at once."""

import numpy as np
import pytest

import paddle.metric


def halves(*arrays):
    middle = len(arrays[0]) // 2
    return [[a[:middle] for a in arrays], [a[middle:] for a in arrays]]


def test_accuracy_is_over_all_batches():
    rng = np.random.default_rng(1)
    scores, labels = rng.random((30, 5)), rng.integers(0, 5, (30, 1))
    metric = paddle.metric.Accuracy(topk=(1, 2))
    for pred, label in halves(scores, labels):
        metric.update(metric.compute(pred, label))
    ranked = np.argsort(-scores, axis=1)
    expected = [np.mean(np.any(ranked[:, :k] == labels, axis=1)) for k in (1, 2)]
    assert metric.accumulate() == pytest.approx(expected)
    assert metric.name() == ["acc_top1", "acc_top2"]
    one_hot = np.eye(5)[labels[:, 0]]
    assert np.array_equal(metric.compute(scores, one_hot), metric.compute(scores, labels))
    metric.reset()
    assert metric.accumulate() == [0.0, 0.0]


def test_precision_and_recall_count_what_was_found():
    preds = np.array([0.1, 0.5, 0.6, 0.7, 0.2, 0.9])
    labels = np.array([0, 1, 1, 0, 1, 1])
    precision, recall = paddle.metric.Precision(), paddle.metric.Recall()
    for part in halves(preds, labels):
        precision.update(*part)
        recall.update(*part)
    assert precision.accumulate() == pytest.approx(3 / 4)
    assert recall.accumulate() == pytest.approx(3 / 4)
    assert (precision.tp, precision.fp, recall.fn) == (3, 1, 1)


def test_auc_is_the_chance_to_order_a_pair_rightly():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 200)
    chance = np.clip(rng.normal(0.4 + 0.2 * labels, 0.2), 0, 1)
    metric = paddle.metric.Auc()
    for part, label in halves(chance, labels):
        metric.update(np.stack([1 - part, part], axis=1), label[:, None])
    pairs = chance[labels == 1][:, None] - chance[labels == 0][None]
    assert metric.accumulate() == pytest.approx(np.mean(pairs > 0) + np.mean(pairs == 0) / 2, abs=1e-3)
    with pytest.raises(ValueError, match="from 0 to 1"):
        metric.update(np.array([[1.5]]), np.array([1]))


def test_a_measure_of_ones_own_needs_its_four_methods():
    class Half(paddle.metric.Metric):
        pass

    with pytest.raises(TypeError):
        Half()
