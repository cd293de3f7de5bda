"""What a variable is asked by Python's signs, each against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import paddle
from tests.faces.static.feeding import data, ran

pytestmark = pytest.mark.usefixtures("alone")

RNG = np.random.default_rng(5)
C = RNG.normal(size=(2, 3, 4)).astype("float32").astype("float64")
ROWS, MASK = np.array([1, 0, 1]), np.array([[True, False, True], [False, True, False]])


def test_an_index_is_a_list_a_tensor_or_a_mask() -> None:
    feed: dict[str, np.ndarray] = {}
    x, rows, mask = data((C, ROWS, MASK), feed)
    pairs = [
        (x[rows], C[ROWS]),
        (x[:, rows], C[:, ROWS]),
        (x[..., rows], C[..., ROWS]),
        (x[:, [0, 2]], C[:, [0, 2]]),
        (x[0, rows], C[0][ROWS]),
        (x[:, paddle.assign(np.array([[0, 1], [2, 2]]))], C[:, [[0, 1], [2, 2]]]),
        (x[rows, rows], C[ROWS, ROWS]),
        (x[mask], C[MASK]),
        (x[x > 0.5], C[C > 0.5]),
        (x[:, np.array([True, False, True])], C[:, [0, 2]]),
    ]
    for at, ((_, wanted), value) in enumerate(
        zip(pairs, ran([each for each, _ in pairs], feed), strict=True)
    ):
        assert value == pytest.approx(wanted), at


def test_slopes_go_through_an_index() -> None:
    feed: dict[str, np.ndarray] = {}
    x, mask = data((C, MASK), feed)
    (slope,) = paddle.static.gradients([paddle.sum(x[mask]) + paddle.sum(x[:, [0, 0]] * 2.0)], [x])
    expected = np.broadcast_to(MASK[:, :, None], C.shape) + np.array([4.0, 0, 0])[None, :, None]
    assert ran([slope], feed)[0] == pytest.approx(expected)


def test_signs_of_truths_and_of_bits() -> None:
    feed: dict[str, np.ndarray] = {}
    x, rows, mask = data((C, ROWS, MASK), feed)
    pairs = [
        ((x > 0.0) & (x < 1.0), (C > 0) & (C < 1)),
        ((x > 1.0) | (x < 0.0), (C > 1) | (C < 0)),
        (mask ^ mask, MASK ^ MASK),
        (~mask, ~MASK),
        (rows & (rows + 2), ROWS & (ROWS + 2)),
        (~rows, ~ROWS),
    ]
    for (_, wanted), value in zip(pairs, ran([each for each, _ in pairs], feed), strict=True):
        assert (value == wanted).all()


def test_rows_are_gone_through() -> None:
    x = paddle.static.data("x", [2, 3])
    found = ran([row * 2.0 for row in x], {"x": np.ones((2, 3), "float32")})
    assert [each.shape for each in found] == [(3,), (3,)]
    with pytest.raises(TypeError, match="no declared number of rows"):
        iter(paddle.static.data("y", [-1, 3]))
