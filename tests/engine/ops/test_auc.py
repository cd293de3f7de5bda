"""The area under a curve, counted over steps where the counts lie."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.errors import ShapeError
from paddle._engine.single import Single

RNG = np.random.default_rng(8)


def chance(scores: np.ndarray, label: np.ndarray) -> float:
    """How often the score of a positive sample is the greater one; equal ones count half."""
    apart = np.subtract.outer(scores[label == 1], scores[label == 0])
    return float(((apart > 0) + 0.5 * (apart == 0)).mean())


def batch() -> tuple[np.ndarray, np.ndarray]:
    return RNG.integers(0, 50, size=30) / 50 + 0.001, RNG.integers(0, 2, size=30)


def area(
    scores: np.ndarray, label: np.ndarray, counts: list[np.ndarray], steps: int, parts: int = 50
) -> float:
    inputs = {
        "Predict": [np.stack([1 - scores, scores], 1)],
        "Label": [label[:, None]],
        "Positive": [counts[0]],
        "Negative": [counts[1]],
    }
    return float(Single("auc", inputs, {"num_thresholds": parts, "slide_steps": steps}).forward()["AUC"][0])


@pytest.mark.parametrize("parts", [50, 150])
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_the_area_is_how_often_pairs_are_in_order(steps: int, parts: int) -> None:
    size = parts + 1
    counts = [np.zeros((1, (steps + 1) * size + 1 if steps else size), np.int64) for _ in range(2)]
    batches = [batch() for _ in range(7)]
    for at, (scores, label) in enumerate(batches):
        found = area(scores, label, counts, steps, parts)
        seen = batches[max(0, at + 1 - steps) if steps else 0 : at + 1]
        joined = [np.concatenate(each) for each in zip(*seen, strict=True)]
        np.testing.assert_allclose(found, chance(*joined), rtol=1e-6)


def test_samples_of_one_kind_have_no_area() -> None:
    counts = [np.zeros((1, 51), np.int64) for _ in range(2)]
    assert area(np.array([0.2, 0.9]), np.array([1, 1]), counts, 0) == 0
    assert counts[0].sum() == 2
    assert counts[1].sum() == 0


def test_counts_of_another_size_are_refused() -> None:
    with pytest.raises(ShapeError, match="counted in 51 integers"):
        area(*batch(), [np.zeros((1, 50), np.int64) for _ in range(2)], 0)
