"""Matrices taken apart, and what is made of that, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import paddle
from paddle import linalg
from tests.faces.static.feeding import data, ran
from tests.faces.static.slopes import hold

pytestmark = pytest.mark.usefixtures("alone")

RNG = np.random.default_rng(11)
SQUARE = RNG.normal(size=(2, 3, 3)) + 2 * np.eye(3)
HIGH = RNG.normal(size=(2, 4, 3))
NORMS = [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"]


@pytest.mark.parametrize("given", [SQUARE, HIGH, HIGH.transpose(0, 2, 1)])
def test_triangles_and_places_give_the_matrix_again(given: np.ndarray) -> None:
    (x,) = data((given,), feed := {})
    whole, rows, failed = linalg.lu(x, get_infos=True)
    places, lower, upper = linalg.lu_unpack(whole, rows)
    values = ran([places, lower, upper, rows, failed], feed)
    np.testing.assert_allclose(values[0] @ values[1] @ values[2], given, rtol=1e-5, atol=1e-6)
    assert np.abs(np.tril(values[1], -1)).max() <= 1 + 1e-6  # the largest is the pivot
    assert values[3].shape == (2, 3) and values[3].dtype == np.int32 and values[4].tolist() == [0, 0]


def test_a_matrix_without_an_inverse_says_where_its_pivot_is_nought() -> None:
    (x,) = data((np.array([[1.0, 2], [2, 4]]),), feed := {})
    assert ran([linalg.lu(x, get_infos=True)[2]], feed)[0].tolist() == [2]


def test_least_squares() -> None:
    y = RNG.normal(size=(2, 4, 2))
    a, b = data((HIGH, y), feed := {})
    found, missed, rank, sizes = ran(list(linalg.lstsq(a, b, driver="gelsd")), feed)
    for at in range(2):
        wanted, residuals, _, singular = np.linalg.lstsq(HIGH[at], y[at], rcond=None)
        np.testing.assert_allclose(found[at], wanted, rtol=1e-4)
        np.testing.assert_allclose(missed[at], residuals, rtol=1e-4)
        np.testing.assert_allclose(sizes[at], singular, rtol=1e-5)
    assert rank.tolist() == [3, 3]
    with pytest.raises(ValueError, match="'gelsy'"):
        linalg.lstsq(a, b, driver="qr")


@pytest.mark.parametrize("p", NORMS, ids=str)
def test_conditions(p: object) -> None:
    (x,) = data((SQUARE,), feed := {})
    (found,) = ran([linalg.cond(x, p)], feed)
    np.testing.assert_allclose(found, np.linalg.cond(SQUARE, p), rtol=1e-4)  # type: ignore[arg-type]


def _reflected(x: np.ndarray, tau: np.ndarray) -> np.ndarray:
    found = np.eye(x.shape[-2])
    for at in range(tau.shape[-1]):
        way = np.concatenate([np.zeros((2, at)), np.ones((2, 1)), x[:, at + 1 :, at]], 1)
        found = found @ (np.eye(4) - tau[:, at, None, None] * way[:, :, None] * way[:, None])
    return np.asarray(found[:, :, :3])


def test_reflections_correlations_and_weighed_observations_with_their_slopes() -> None:
    tau, rows, weights = RNG.random((2, 3)), RNG.normal(size=(3, 6)), RNG.random(6) + 0.5
    often = np.array([1, 2, 1, 3, 1, 2])

    def covariance(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        total = (w * often).sum()
        apart = x - (x * w * often).sum(1, keepdims=True) / total
        return np.asarray((apart * w * often) @ apart.T / (total - (w * often * w).sum() / total))

    np.testing.assert_allclose(covariance(rows, weights), np.cov(rows, fweights=often, aweights=weights))
    hold(
        {
            "householder_product": (linalg.householder_product, _reflected, (HIGH, tau)),
            "corrcoef": (linalg.corrcoef, lambda x: np.corrcoef(x), (rows,)),
            "cov": (
                lambda x, w: linalg.cov(x, fweights=paddle.to_tensor(often), aweights=w),
                covariance,
                (rows, weights),
            ),
        }
    )
