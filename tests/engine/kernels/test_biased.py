"""Kernels that begin with a bias, against their numpy twins."""

from __future__ import annotations

import numpy as np
import pytest

from paddle._engine.kernels import biased, softmax

RNG = np.random.default_rng(4)
SHAPES = [(1, 1), (3, 63), (2, 64), (5, 130), (0, 4)]


def matrix(shape: tuple[int, int], scale: float = 3.0) -> np.ndarray:
    return (scale * RNG.normal(size=shape)).astype(np.float32)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("act", ["sigmoid", "tanh", "relu"])
def test_forward_is_that_of_numpy(act: str, shape: tuple[int, int]) -> None:
    z, bias = matrix(shape), matrix(shape)[:1].sum(0)
    twin, limits = z.astype(np.float64), (np.float32(-2), np.float32(4))
    biased.forward(act, z.dtype)(z, bias, *limits)
    biased.forward(act, twin.dtype)(twin, bias.astype(np.float64), -2.0, 4.0)
    np.testing.assert_allclose(z, twin, rtol=0, atol=4e-7 if act != "relu" else 1e-6)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("act", ["sigmoid", "tanh", "relu"])
def test_backward_is_that_of_numpy_and_sums_in_the_order_of_rows(act: str, shape: tuple[int, int]) -> None:
    out, slope = np.abs(matrix(shape, 0.3)), matrix(shape)
    twin, total, expected = slope.copy(), *(np.full(shape[1], 7, np.float32) for _ in range(2))
    biased.backward(act, slope.dtype)(slope, out, total)
    biased._TWINS[act][1](twin, out, expected)
    np.testing.assert_allclose(slope, twin, rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(total, np.add.reduce(slope, axis=0))


@pytest.mark.parametrize("act", ["sigmoid", "tanh", "relu"])
def test_nan_stays_nan(act: str) -> None:
    z = np.array([[np.nan, 1.0]], np.float32)
    biased.forward(act, z.dtype)(z, np.zeros(2, np.float32), np.float32(-np.inf), np.float32(np.inf))
    assert np.isnan(z[0, 0]) and np.isfinite(z[0, 1])


@pytest.mark.parametrize("classes", [1, 2, 63, 64, 65, 1000])
def test_softmax_cost_of_biased_logits_is_that_of_their_sum(classes: int) -> None:
    logits, bias = matrix((4, classes), 20.0), matrix((1, classes))[0]
    label, loss = RNG.integers(0, classes, 4), np.empty((4, 1), np.float32)
    twin, expected = np.empty((4, classes)), np.empty((4, 1))
    softmax.numpy_biased_softmax_cross_entropy(
        logits.astype(np.float64), bias.astype(np.float64), label, twin, expected
    )
    softmax.biased_softmax_cross_entropy(logits, bias, label, logits, loss)()  # in place
    np.testing.assert_allclose(logits, twin, rtol=2e-5, atol=1e-9)
    np.testing.assert_allclose(loss, expected, rtol=2e-5, atol=2e-6)


def test_the_way_back_of_the_cost_equals_numpys_bit_for_bit() -> None:
    slope, grad = np.abs(matrix((6, 70), 0.1)), matrix((6, 1))
    twin, label, total, expected = slope.copy(), RNG.integers(0, 70, 6), *np.empty((2, 70), np.float32)
    softmax.softmax_slopes(slope.dtype)(slope, label, grad, total, softmax.NOBODY)
    softmax.numpy_softmax_slopes(twin, label, grad, expected, softmax.NOBODY)
    np.testing.assert_array_equal(slope, twin)
    np.testing.assert_array_equal(total, expected)


def test_a_row_with_nan_has_a_cost_of_nan() -> None:
    logits, loss = matrix((2, 80)), np.empty((2, 1), np.float32)
    logits[0, 5] = np.nan
    softmax.biased_softmax_cross_entropy(logits, np.zeros(80, np.float32), np.array([1, 1]), logits, loss)()
    assert np.isnan(loss[0, 0]) and np.isfinite(loss[1, 0])
