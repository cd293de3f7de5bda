"""Gradients that no central difference finds, against plain numpy; and that of all others one does."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine import registry
from paddle._engine.single import Single
from tests.observed import observe

from ..test_operators import DIFFERENTIABLE
from .slopes import SLOPES, Slope

TALLIES, STEPS = "engine/ops/test_tally_operators.py::test_", "engine/test_steps.py::test_"
ELSEWHERE = {
    "cvm": f"{TALLIES}what_was_counted_goes_back_through_shows_and_clicks",
    "pushed_rows": f"{TALLIES}pushed_rows_give_back_their_counts_and_slopes_of_a_batchs_sum",
    "data_norm": f"{TALLIES}counts_are_of_the_batch_and_x_has_its_slope",
    "lstm_step": f"{STEPS}a_moment_of_an_lstm",
    "gru_step": f"{STEPS}a_moment_of_a_gru",
    "recurrent": "engine/test_recurrence.py::test_gradients_are_derivatives",
    "spread_row": f"{STEPS}one_row_becomes_that_of_each_sequence",
}
"""The test that checks it."""


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("slope", SLOPES, ids=str)
def test_a_gradient_is_numpys(slope: Slope, dtype: type) -> None:
    slots = {
        slot: [each.astype(dtype if each.dtype.kind == "f" else np.int64)]
        for slot, each in slope.inputs.items()
    }
    single = Single(slope.type, slots, slope.attrs)
    out = single.forward()[registry.gradient(slope.type).given]
    given = np.random.default_rng(3).normal(size=out.shape)
    wanted = slope.twin(given)
    found = single.gradient(given.astype(dtype), list(wanted))
    tolerance = 2e-5 if dtype is np.float32 else 1e-7
    for slot, expected in wanted.items():
        np.testing.assert_allclose(found[slot][0], expected, rtol=tolerance, atol=tolerance)


def test_every_gradient_is_checked() -> None:
    with_gradient = {type for type, row in registry.table().items() if row.gradient is not None}
    by_differences = {case.type for case in DIFFERENTIABLE if case.has_slope}
    assert with_gradient - by_differences - {slope.type for slope in SLOPES} == ELSEWHERE.keys()


def test_tests_that_are_named_here_compute_these_gradients() -> None:
    observed = observe(ELSEWHERE.values())
    assert [type for type, node in ELSEWHERE.items() if f"{type}_grad" not in observed[node].operators] == []
