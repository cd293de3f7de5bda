"""The area under a curve is the share of pairs that are in order."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.auc import area_under_curve


def test_it_is_the_share_of_pairs_in_order_and_half_of_those_that_are_level() -> None:
    random = np.random.default_rng(5)
    scores, is_positive = random.integers(0, 9, 200), random.random(200) < 0.3
    positive, negative = (np.bincount(scores[kind], minlength=9) for kind in (is_positive, ~is_positive))
    apart = scores[is_positive][:, None] - scores[~is_positive][None]
    assert area_under_curve(positive, negative) == pytest.approx(((apart > 0) + 0.5 * (apart == 0)).mean())


def test_many_samples_overflow_nothing() -> None:
    assert area_under_curve(np.array([0, 10**9]), np.array([10**9, 0])) == 1.0


@pytest.mark.parametrize("counts", [([0, 0], [1, 2]), ([3], [0]), ([], [])])
def test_without_both_kinds_it_is_what_it_was_told(counts: tuple[list[int], list[int]]) -> None:
    positive, negative = (np.array(each, np.int64) for each in counts)
    assert area_under_curve(positive, negative) == 0.0
    assert area_under_curve(positive, negative, alone=0.5) == 0.5
