"""Averages over the last steps, against all values of all steps kept in a list."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine import averages
from paddle._engine.averages import Average
from paddle._engine.exchange import AverageSpec


def values(step: int) -> np.ndarray:
    return np.random.default_rng(step).standard_normal(7).astype(np.float32) + 1


def windows(spec: AverageSpec, steps: int) -> tuple[list[int], list[int]]:
    """The steps of the present window and of the one before, from the words of the rule."""
    now, before = [], []
    for step in range(1, steps + 1):
        now.append(step)
        if len(now) >= spec.min_window and len(now) >= min(spec.max_window, int(step * spec.window)):
            now, before = [], now
    return now, before


@pytest.mark.parametrize("steps", [1, 4, 5, 6, 37, 120])
@pytest.mark.parametrize(
    "spec",
    [
        AverageSpec(window=0.25, min_window=5, max_window=10_000),
        AverageSpec(window=0.5, min_window=1, max_window=9),
        AverageSpec(window=2.0, min_window=1, max_window=10_000),
    ],
)
def test_the_average_is_over_this_window_and_the_one_before(spec, steps, monkeypatch):
    monkeypatch.setattr(averages, "_STEPS_IN_ONE_SUM", 3)
    average = Average(values(0), spec)
    for step in range(1, steps + 1):
        average.add(values(step))
        if average.end_step():
            average.roll()
    now, before = windows(spec, steps)
    expected = np.mean([values(step) for step in (*before, *now)], axis=0)
    np.testing.assert_allclose(average.mean(values(steps)), expected, rtol=1e-5)


def test_before_the_first_step_it_is_the_values():
    average = Average(values(0), AverageSpec(window=0.5, min_window=1, max_window=9))
    assert np.array_equal(average.mean(values(0)), values(0))


def test_a_row_counts_in_steps_that_pass_it_by():
    table = np.array([[1.0], [10.0]], np.float32)
    average = Average(table, AverageSpec(window=1.0, min_window=100, max_window=100))
    for step in (1, 2, 3):
        (behind,) = average.behind(np.array([1, 1]), step - 1)
        average.add_idle(behind, table[behind], table[behind], step - 1)
        table[1] += 1
        average.add_rows(table, np.array([1]), step)
        assert not average.end_step()
    (behind,) = average.behind(None, 3)
    assert behind.tolist() == [0]
    average.add_idle(behind, table[behind], table[behind] + 2, 3)
    np.testing.assert_allclose(average.mean(table), [[1 + (2 / 3 + 4 / 3 + 2) / 3], [12.0]])
