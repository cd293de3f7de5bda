"""Whole numbers where 2.6.2 computes with floats alone: a TypeError that names operator, slot and dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.nn import functional

pytestmark = pytest.mark.usefixtures("alone")

X = np.array([[1, 2, 3, -4], [0, 5, 1, 2]])


def column(x: Any) -> Any:
    return paddle.slice(x, [1], [0], [1])


def image(x: Any) -> Any:
    return paddle.reshape(x, [1, 2, 2, 2])


REFUSED: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "softmax": ("softmax", "X", functional.softmax),
    "log_softmax": ("softmax", "X", functional.log_softmax),
    "dropout": ("dropout", "X", functional.dropout),
    "cross_entropy": (
        "softmax_with_cross_entropy",
        "Logits",
        lambda x: functional.cross_entropy(x, column(x)),
    ),
    "smooth_l1_loss": ("huber_loss", "X", lambda x: functional.smooth_l1_loss(x, x)),
    "binary_cross_entropy": ("bce_loss", "X", lambda x: functional.binary_cross_entropy(x, x)),
    "layer_norm": ("layer_norm", "X", lambda x: functional.layer_norm(x, [4])),
    "BatchNorm1D": ("batch_norm", "X", lambda x: nn.BatchNorm1D(4)(x)),
    "Conv2D": ("conv2d", "X", lambda x: nn.Conv2D(2, 2, 1)(image(x))),
}


def computed(function: Callable[[Any], Any]) -> np.ndarray:
    out = function(paddle.static.data("x", [2, 4], "int64"))
    executor = paddle.static.Executor()
    executor.run(paddle.static.default_startup_program())
    found: np.ndarray = executor.run(feed={"x": X}, fetch_list=[out])[0]
    return found


@pytest.mark.parametrize("name", REFUSED)
def test_whole_numbers_are_refused_where_floats_are_computed_with(name: str) -> None:
    operator, slot, function = REFUSED[name]
    said = rf"operator '{operator}' \(written at .*test_kinds.py:\d+\): {slot} is of float32 or float64, and "
    with pytest.raises(TypeError, match=f"{said}not of int64: cast it, in "):
        computed(function)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (paddle.log2, [0.0, 1.0, np.log2(3), np.nan]),
        (paddle.log10, [0.0, np.log10(2), np.log10(3), np.nan]),
    ],
)
def test_logarithms_of_whole_numbers_are_floats(
    function: Callable[[Any], Any], expected: list[float]
) -> None:
    found = computed(function)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: paddle.scale(x, 2.0, 1.0), X * 2 + 1),
        (lambda x: paddle.pow(x, 2), X * X),
        (lambda x: x + x * x - 3, X + X * X - 3),
        (lambda x: paddle.sum(x, 0), X.sum(0)),
        (lambda x: paddle.max(x, 0), X.max(0)),
        (lambda x: paddle.clip(x, -1, 2), X.clip(-1, 2)),
        (paddle.abs, np.abs(X)),
        (lambda x: paddle.cumsum(x, 1), X.cumsum(1)),
    ],
)
def test_what_is_whole_of_whole_numbers_is_computed(
    function: Callable[[Any], Any], expected: np.ndarray
) -> None:
    found = computed(function)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, expected)
