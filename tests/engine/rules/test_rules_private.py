"""Gradient descent with noise: what is added to a parameter, and from what it follows."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.exchange import RuleSpec
from paddle._engine.penalties import Penalties
from paddle._engine.rules import rule

STEPS = 2000


def moved(seed: float, size: int = 3, steps: int = STEPS) -> np.ndarray:
    """What each step adds to a parameter whose gradient is 0."""
    chosen = rule(
        RuleSpec(name="private_sgd", options={"most": 1.0, "batch": 4.0, "spread": 2.0, "seed": seed})
    )
    found = []
    for step in range(1, steps + 1):
        values = np.zeros(size, np.float32)
        chosen.dense(values, np.zeros(size, np.float32), [], 1.0, Penalties(), step)
        found.append(values)
    return np.array(found)


def test_the_noise_is_normal_of_the_deviation_over_the_batch_and_one_number_for_a_parameter() -> None:
    found = moved(7)
    assert (found == found[:, :1]).all()
    assert abs(found.mean()) < 0.05 and found[:, 0].std() == pytest.approx(0.5, rel=0.08)


def test_the_noise_follows_from_seed_step_and_size() -> None:
    first = moved(7, steps=5)
    np.testing.assert_array_equal(first, moved(7, steps=5))
    assert len(set(first[:, 0].tolist())) == 5
    assert (first[:, 0] != moved(8, steps=5)[:, 0]).all() and (first[:, 0] != moved(7, 4, 5)[:, 0]).all()


def test_a_gradient_is_no_longer_than_told_and_penalties_follow() -> None:
    chosen = rule(RuleSpec(name="private_sgd", options={"most": 0.5, "spread": 0.0}))
    values = np.array([1.0, -2.0], np.float32)
    chosen.dense(values, np.array([3.0, 4.0], np.float32), [], 0.1, Penalties(l1=0.5, l2=1.0), 1)
    expected = (np.array([1.0, -2.0]) - 0.1 * np.array([0.3, 0.4])) / 1.0
    expected = np.sign(expected) * (np.abs(expected) - 0.05) / 1.1
    np.testing.assert_allclose(values, expected, rtol=1e-6)
