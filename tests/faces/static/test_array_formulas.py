"""Operators that numpy computes, each against what it says itself: values, slopes, and what is refused."""

from __future__ import annotations

from math import lgamma

import numpy as np
import pytest

import paddle
from paddle._program.errors import BadProgram
from tests.faces.static.feeding import data, ran
from tests.faces.static.slopes import Case, hold

pytestmark = pytest.mark.usefixtures("alone")

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(2, 4, 3))
U = RNG.random((4, 3)) * 0.8 + 0.1
C = RNG.normal(size=(4, 5, 3))
LINE = np.sort(RNG.normal(size=6))
PLACES = np.array([[0, 2], [1, 1], [2, 0], [0, 1]])
HOLES = np.where(U > 0.7, np.nan, A)


def _put(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    found = x.copy()
    np.put_along_axis(found, PLACES, values, 1)
    return found


def _added(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    found = x.copy()
    np.add.at(found, (np.arange(4)[:, None], PLACES), values)
    return found


def _rows_added(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    found = x.copy()
    np.add.at(found, (slice(None), [0, 4, 0]), values)
    return found


def _points(x: np.ndarray, values: np.ndarray) -> np.ndarray:
    found = x.copy()
    found[[0, 3], [1, 1]] = values
    return found


def _on_diagonal(x: np.ndarray) -> np.ndarray:
    return np.stack([np.diag(row, 1) for row in x], 1)


SMOOTH: dict[str, Case] = {
    "put_along_axis": (
        lambda x, i, v: paddle.put_along_axis(x, i, v, 1),
        lambda x, i, v: _put(x, v),
        (A, PLACES, B[:, :1] * [1, 2]),
    ),
    "put_along_axis adds": (
        lambda x, i, v: paddle.put_along_axis(x, i, v, 1, "add"),
        lambda x, i, v: _added(x, v),
        (A, PLACES, B[:, :2].copy()),
    ),
    "index_add": (
        lambda x, i, v: paddle.index_add(x, i, 1, v),
        lambda x, i, v: _rows_added(x, v),
        (C, np.array([0, 4, 0]), C[:, :3] * 2),
    ),
    "index_put": (
        lambda x, i, j, v: paddle.index_put(x, (i, j), v),
        lambda x, i, j, v: _points(x, v),
        (C, np.array([0, 3]), np.array([1, 1]), B[:2].copy()),
    ),
    "cumprod": (lambda x: paddle.cumprod(x, 1), lambda x: np.cumprod(x, 1), (np.where(C > 1, 0, C),)),
    "cumprod of rows": (lambda x: paddle.cumprod(x, 0), lambda x: np.cumprod(x, 0), (A,)),
    "logcumsumexp": (
        lambda x: paddle.logcumsumexp(x, 1),
        lambda x: np.log(np.cumsum(np.exp(x), 1)),
        (C,),
    ),
    "cummax": (lambda x: paddle.cummax(x, 1)[0], lambda x: np.maximum.accumulate(x, 1), (C,)),
    "cummin": (lambda x: paddle.cummin(x)[0], lambda x: np.minimum.accumulate(x.ravel()), (A,)),
    "cross": (paddle.cross, np.cross, (A, B)),
    "atan2": (paddle.atan2, np.arctan2, (A, B)),
    "diagonal": (lambda x: paddle.diagonal(x, 1, 2, 1), lambda x: np.diagonal(x, 1, 2, 1), (C,)),
    "diag_embed": (
        lambda x: paddle.nn.functional.diag_embed(x, 1, 0, 2),
        _on_diagonal,
        (A,),
    ),
    "diag of a column": (lambda x: paddle.diag(x, -1), lambda x: np.diag(x, -1), (A,)),
    "trace": (lambda x: paddle.trace(x, 1, 1, 2), lambda x: np.trace(x, 1, 1, 2), (C,)),
    "lgamma": (paddle.lgamma, np.vectorize(lgamma), (U * 9 - 3.03,)),
    "digamma": (
        paddle.digamma,
        np.vectorize(lambda x: (lgamma(x + 1e-5) - lgamma(x - 1e-5)) / 2e-5),
        (U * 5 + 0.5,),
    ),
    "i0": (paddle.i0, np.i0, (A * 2,)),
    "i0e": (paddle.i0e, lambda x: np.i0(x) * np.exp(-np.abs(x)), (A * 2,)),
    "rot90": (lambda x: paddle.rot90(x, 3, [1, 2]), lambda x: np.rot90(x, 3, [1, 2]), (C,)),
    "repeat_interleave": (
        lambda x, n: paddle.repeat_interleave(x, n, 0),
        lambda x, n: np.repeat(x, n, 0),
        (A, np.array([1, 0, 2, 3])),
    ),
    "trapezoid": (lambda x: paddle.trapezoid(x, dx=2.0), lambda x: np.trapezoid(x, dx=2.0), (A,)),
    "cdist": (
        paddle.cdist,
        lambda x, y: np.sqrt(np.square(x[:, :, None] - y[:, None]).sum(-1)),
        (C, C[:, :2] + 0.5),
    ),
    "vander": (lambda x: paddle.vander(x, 4), lambda x: np.vander(x, 4), (LINE,)),
}


def test_values_and_slopes_are_those_of_numpy() -> None:
    hold(SMOOTH)


def test_what_counts_and_orders_has_the_values_of_numpy() -> None:
    feed: dict[str, np.ndarray] = {}
    a, line, whole, weights, holes, runs = data(
        (A, LINE, PLACES.ravel(), U.ravel()[:8], HOLES, np.array([1, 1, 2, 2, 3, 1, 1])), feed
    )
    values, inverse, counts = paddle.unique_consecutive(runs, True, True)
    most, where = paddle.mode(paddle.round(a), 1)
    order = [np.unique(row, return_counts=True) for row in np.round(A)]
    expected = np.array([row[np.argmax(count)] for row, count in order])
    pairs = [
        (paddle.searchsorted(line, a), np.searchsorted(LINE, A)),
        (paddle.bucketize(a, line, right=True), np.searchsorted(LINE, A, "right")),
        (paddle.bincount(whole, minlength=5), np.bincount(PLACES.ravel(), minlength=5)),
        (paddle.bincount(whole, weights), np.bincount(PLACES.ravel(), U.ravel()[:8])),
        (paddle.histogram(a, 4, -1, 2), np.histogram(A, 4, (-1, 2))[0]),
        (paddle.histogram(a, 4), np.histogram(A, 4)[0]),
        (values, [1, 2, 3, 1]),
        (inverse, [0, 0, 1, 1, 2, 3, 3]),
        (counts, [2, 2, 1, 2]),
        (most, expected),
        (where, [np.flatnonzero(row == one)[-1] for row, one in zip(np.round(A), expected, strict=True)]),
        (paddle.nanmedian(holes, 1), np.nanmedian(HOLES, 1)),
        (paddle.nanquantile(holes, 0.4, 0), np.nanquantile(HOLES, 0.4, 0)),
        (paddle.gcd(whole * 6, whole + 4), np.gcd(PLACES.ravel() * 6, PLACES.ravel() + 4)),
        (paddle.lcm(whole + 2, whole * 4 + 1), np.lcm(PLACES.ravel() + 2, PLACES.ravel() * 4 + 1)),
        (paddle.frexp(a)[1], np.frexp(A)[1]),
        (paddle.erf(paddle.erfinv(a / 4.0)), A / 4),
        (paddle.polygamma(paddle.full([2], 1.0), 1), [np.pi**2 / 6] * 2),
        (paddle.tril_indices(4, 3, 1), np.stack(np.tril_indices(4, 1, 3))),
        (paddle.diag(line, 1, 2.0), np.where(np.eye(7, k=1) > 0, np.diag(LINE, 1), 2.0)),
        (paddle.unique(runs, axis=0), [1, 2, 3]),
        (paddle.to_tensor([1.5, 2.0]) + 1.0, [2.5, 3.0]),
        (paddle.logspace(0, 2, 3), [1, 10, 100]),
    ]
    for at, ((_, wanted), value) in enumerate(
        zip(pairs, ran([found for found, _ in pairs], feed), strict=True)
    ):
        assert value.reshape(np.shape(wanted)) == pytest.approx(np.asarray(wanted), rel=1e-4, abs=1e-5), at


def test_what_is_drawn_is_of_the_shape_and_the_means_that_are_given() -> None:
    feed: dict[str, np.ndarray] = {}
    (means,) = data((np.repeat([[1.0, 6.0]], 4000, 0),), feed)
    drawn, whole = ran([paddle.poisson(means), paddle.randint_like(means, 2, 5, "int64")], feed)
    assert drawn.mean(0) == pytest.approx([1, 6], rel=0.08)
    assert set(np.unique(whole)) == {2, 3, 4}
    assert whole.shape == (4000, 2)


def test_places_that_are_not_there_are_told_by_the_line_of_the_operator() -> None:
    feed: dict[str, np.ndarray] = {}
    a, places = data((A, PLACES + 2), feed)
    with pytest.raises(
        BadProgram, match=r"'put_along_axis' \(written at .*2 to 4 are places of an axis of 3"
    ):
        ran([paddle.put_along_axis(a, places, 0.0, 1)], feed)
    with pytest.raises(BadProgram, match=r"cross product is along an axis of size 3"):
        paddle.cross(places, places, 1)
