"""The compiled softmax with its cost against the numpy twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle._engine.kernels.softmax import numpy_softmax_cross_entropy, softmax_cross_entropy


def both(logits: np.ndarray, label: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    found = []
    for kernel in (softmax_cross_entropy, numpy_softmax_cross_entropy):
        softmax, loss = np.empty_like(logits), np.empty((len(logits), 1), logits.dtype)
        with np.errstate(invalid="ignore"):
            kernel(logits, label, logits.max(1, keepdims=True), softmax, loss)
        found.append((softmax, loss))
    return found


@settings(deadline=None)
@given(
    st.integers(1, 40), st.integers(1, 200), st.sampled_from([0.1, 1.0, 10.0, 60.0]), st.integers(0, 2**32)
)
def test_kernel_and_twin_agree(samples: int, classes: int, spread: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, spread, (samples, classes)).astype(np.float32)
    label = rng.integers(0, classes, samples)
    (softmax, loss), (twin_softmax, twin_loss) = both(logits, label)
    np.testing.assert_allclose(softmax, twin_softmax, rtol=2e-6, atol=1e-37)
    np.testing.assert_allclose(loss, twin_loss, rtol=2e-6, atol=2e-5)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_row_with_nan_or_inf_gives_nan_and_leaves_other_rows_alone(bad: float) -> None:
    logits = np.zeros((2, 5), np.float32)
    logits[0, 3] = bad
    (softmax, loss), _ = both(logits, np.array([1, 1]))
    assert np.isnan(loss[0, 0]) or np.isnan(softmax[0]).any()
    np.testing.assert_allclose(softmax[1], 0.2, rtol=1e-6)
    np.testing.assert_allclose(loss[1], np.log(5), rtol=1e-6)


def test_float64_keeps_its_precision() -> None:
    logits = np.random.default_rng(0).normal(size=(3, 7))
    softmax, loss = both(logits, np.array([0, 1, 2]))[0]
    np.testing.assert_allclose(softmax.sum(1), 1, rtol=1e-15)
    np.testing.assert_allclose(loss[:, 0], -np.log(softmax[[0, 1, 2], [0, 1, 2]]), rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_lies_deep_below_the_largest_counts_as_64_below_it(dtype: type) -> None:
    logits = np.array([[0, -70, -200], [1, 2, 300]], dtype)
    for softmax, loss in both(logits, np.array([2, 0])):
        np.testing.assert_allclose(softmax[:, [2, 0]].diagonal(), np.exp(-64), rtol=1e-5)
        np.testing.assert_allclose(loss, [[64], [64]], rtol=1e-6)
