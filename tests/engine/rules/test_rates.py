"""What is remembered of the learning rates of past steps: their runs, and of ever more of them ever less."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine import rates as module
from paddle._engine.exchange import RuleSpec
from paddle._engine.penalties import Penalties
from paddle._engine.rates import Rates
from paddle._engine.rules import rule


def cycle(step: int) -> float:
    """A rate that goes up and down between 0.01 and 0.1."""
    return 0.01 + 0.09 * abs(step % 20 - 10) / 10


def test_steps_of_about_one_rate_are_a_run_and_its_mean_is_theirs() -> None:
    rates = Rates(5)
    for rate in (1.0, 1.0004, 1.0008, 0.5):
        rates.add(rate)
    ends, means = rates.runs
    assert ends.tolist() == [8, 9]
    np.testing.assert_allclose(means, [1.0004, 0.5])


def test_of_rates_that_never_repeat_so_many_runs_are_kept_and_no_step_is_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST", 64)
    rates, steps = Rates(), 5000
    for step in range(steps):
        rates.add(cycle(step))
        assert len(rates.runs[0]) <= 64
    ends, means = rates.runs
    assert len(ends) > 32 and ends[-1] == steps and (np.diff(ends) > 0).all()
    lengths = np.diff(ends, prepend=0)
    assert lengths @ means == pytest.approx(sum(map(cycle, range(steps))))
    assert (lengths[-32:] <= 2).all(), "what is new is as it was"
    np.testing.assert_array_equal(Rates.restored(rates.state()).state(), rates.state())


def test_a_row_that_was_idle_all_the_time_is_decayed_by_as_much_as_one_for_which_all_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = []
    for most in (1 << 16, 64):
        monkeypatch.setattr(module, "MOST", most)
        rates, steps = Rates(), 5000
        for step in range(steps):
            rates.add(cycle(step))
        table, last_step = np.ones((1, 3), np.float32), np.zeros(1, np.int64)
        chosen = rule(RuleSpec(name="sgd"))
        chosen.catch_up(table, None, [], last_step, rates, Penalties(l2=1e-2), steps)
        found.append(table)
    assert 0.01 < found[0][0, 0] < 0.5
    np.testing.assert_allclose(found[1], found[0], rtol=1e-3)
