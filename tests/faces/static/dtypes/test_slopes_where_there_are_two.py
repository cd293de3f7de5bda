"""Gradients at places where a function has none, or several: each as 2.6.2 gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle
from paddle.nn import functional as F  # noqa: N812  as programs call it
from tests.faces.static.feeding import ran

pytestmark = pytest.mark.usefixtures("alone")

X = np.array([[0, 0, 0], [3, 4, 0]], "float32")
OF_NOTHING: dict[str, tuple[Callable[[Any], Any], list[list[float]]]] = {
    "norm": (lambda x: paddle.norm(x, axis=1), [[0, 0, 0], [0.6, 0.8, 0]]),
    "norm of three": (lambda x: paddle.norm(x, 3, axis=1), [[0, 0, 0], [0.4448513, 0.7908468, 0]]),
    "of all": (lambda x: paddle.norm(x[:1]), [[0, 0, 0], [0, 0, 0]]),
    "dist": (lambda x: paddle.dist(x, paddle.zeros([2, 3]) + x), [[0, 0, 0], [0, 0, 0]]),
    "normalize": (lambda x: F.normalize(x)[1:], [[0, 0, 0], [0.032, -0.024, 0.2]]),
    "cdist": (lambda x: paddle.cdist(x[:1], x), [[-0.6, -0.8, 0], [0.6, 0.8, 0]]),
}


@pytest.mark.parametrize("name", OF_NOTHING)
def test_a_length_of_nothing_has_no_slope(name: str) -> None:
    function, wanted = OF_NOTHING[name]
    x = paddle.static.data("x", [2, 3])
    x.stop_gradient = False
    (slope,) = ran(paddle.static.gradients([paddle.sum(function(x))], [x]), {"x": X})
    assert np.allclose(slope, wanted, atol=1e-5), slope


@pytest.mark.parametrize("function", [paddle.fmax, paddle.fmin])
def test_of_two_equal_numbers_the_first_has_the_gradient(function: Callable[..., Any]) -> None:
    x, y = (paddle.static.data(name, [2]) for name in "xy")
    x.stop_gradient = y.stop_gradient = False
    slopes = ran(
        paddle.static.gradients([paddle.sum(function(x, y))], [x, y]),
        {name: np.array([1.5, -2], "float32") for name in "xy"},
    )
    assert [each.tolist() for each in slopes] == [[1, 1], [0, 0]]
