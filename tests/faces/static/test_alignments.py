"""Labels in moments that may say several tags each, and classes that are drawn, beside 2.6.2."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import paddle
from paddle._absent import AbsentName, NotInThisRelease
from paddle.nn import functional
from tests.faces.static.feeding import data, ran

pytestmark = pytest.mark.usefixtures("alone")

static = paddle.static
ROWS = np.random.RandomState(0).randn(2, 4, 3, 5).astype("float32")
LABELS, LENGTHS, COUNTS = np.array([[1, 2], [3, 1]]), np.array([4, 3]), np.array([2, 1])


def _by_all_ways(rows: np.ndarray, tags: np.ndarray) -> float:
    """-log of the sum over all ways: in which steps of a way, but the last, tags are said."""
    moments, count = len(rows), len(tags)
    total = 0.0
    for said in combinations(range(moments - 1 + count), count):
        at, tag, way = 0, 0, 0.0
        for step in range(moments - 1 + count):
            if step in said:
                way, tag = way + rows[at, tag, tags[tag]], tag + 1
            else:
                way, at = way + rows[at, tag, 0], at + 1
        total += np.exp(way + rows[at, tag, 0])
    return -float(np.log(total))


def _costs_and_slopes(early: float, reduction: str) -> tuple[np.ndarray, np.ndarray]:
    feed: dict[str, np.ndarray] = {}
    given = data((ROWS, LABELS, LENGTHS, COUNTS), feed)
    loss = functional.rnnt_loss(*given, fastemit_lambda=early, reduction=reduction)
    (slope,) = static.gradients(paddle.sum(loss), given[0])
    cost, slopes = ran([loss, slope], feed)
    return cost, slopes


def test_a_label_costs_what_all_its_ways_cost_together() -> None:
    cost, _ = _costs_and_slopes(0.0, "none")
    for at in range(2):
        told = ROWS[at, : LENGTHS[at], : COUNTS[at] + 1].astype("float64")
        assert cost[at] == pytest.approx(_by_all_ways(told, LABELS[at, : COUNTS[at]]), rel=1e-5)


@pytest.mark.parametrize(
    ("early", "reduction", "cost", "whole", "first"),  # of the wheel
    [
        (0.0, "none", [-3.924469, -0.528816], 10.0, [-0.990543, -0.009457]),
        (0.001, "mean", [-2.226642], 5.001501, [-0.495272, -0.004733]),
        (0.5, "sum", [-4.453285], 11.5, [-0.990543, -0.014186]),
    ],
)
def test_costs_and_slopes_are_those_of_the_wheel(
    early: float, reduction: str, cost: list[float], whole: float, first: list[float]
) -> None:
    found, slopes = _costs_and_slopes(early, reduction)
    assert found.reshape(-1) == pytest.approx(cost, abs=1e-5)
    assert np.abs(slopes).sum() == pytest.approx(whole, rel=1e-5)
    assert slopes.reshape(-1)[:2] == pytest.approx(first, abs=1e-5)
    assert (slopes[1, 3] == 0).all() and (slopes[1, :, 2] == 0).all()


def test_the_layer_is_the_function_and_lengths_have_to_fit() -> None:
    feed: dict[str, np.ndarray] = {}
    given = data((ROWS, LABELS, LENGTHS, COUNTS), feed)
    (cost,) = ran([paddle.nn.RNNTLoss(fastemit_lambda=0.0)(*given)], feed)
    assert cost == pytest.approx(-2.226642, abs=1e-5)
    with pytest.raises(Exception, match="sample 0 has 5 moments"):
        static.Executor().run(feed={**feed, given[2].name: LENGTHS + 1}, fetch_list=[given[0]])
    with pytest.raises(ValueError, match="reduction of rnnt_loss"):
        functional.rnnt_loss(*given, reduction="all")


def test_classes_of_labels_come_first_and_others_are_drawn() -> None:
    feed: dict[str, np.ndarray] = {}
    (label,) = data((np.array([3, 5, 7, 3]),), feed)
    found = functional.class_center_sample(label, 20, 6)
    few = functional.class_center_sample(label, 20, 2)
    assert (found[0].shape, found[1].shape) == ((-1,), (6,))
    places, classes, _, only = ran([*found, *few], feed)
    assert places.tolist() == [0, 1, 2, 0]
    assert classes[:3].tolist() == only.tolist() == [3, 5, 7]
    assert len(set(classes.tolist())) == 6 and classes.max() < 20
    with pytest.raises(NotInThisRelease, match="group"):
        functional.class_center_sample(label, 20, 6, group=object())


def test_complex_numbers_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="complex64: complex numbers are not in this release"):
        static.data("x", [2], "complex64")
    with pytest.raises(AbsentName, match="as_complex"):
        _ = paddle.as_complex
