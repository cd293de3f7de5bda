"""Gradients that no central difference finds, against plain numpy; and that of all others one does."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine import registry
from paddle._engine.single import Single

from ..test_operators import DIFFERENTIABLE
from .slopes import SLOPES, Slope

ELSEWHERE = {
    "cvm": "test_tally_operators.py",
    "data_norm": "test_tally_operators.py",
    "lstm_step": "test_steps.py",
    "gru_step": "test_steps.py",
    "recurrent": "test_recurrence.py",
    "spread_row": "test_steps.py",
}


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
