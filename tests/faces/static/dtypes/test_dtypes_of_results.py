"""Dtypes and values of results, each as 2.6.2 gives them (PaddlePaddle 2.6.2, CPU, static mode)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle
from tests.faces.static.feeding import ran

pytestmark = pytest.mark.usefixtures("alone")

A, B = [[1, -2, 3], [-4, 5, 0]], [[2, 3, -1], [4, -2, 6]]
Case = tuple[Callable[..., Any], str, str, Any]

CASES: dict[str, Case] = {
    "trunc of int32": (lambda a, b: paddle.trunc(a), "int32", "int32", A),
    "frac of int64": (lambda a, b: paddle.frac(a), "int64", "int64", [[0] * 3] * 2),
    "atan2 of int32": (
        lambda a, b: paddle.atan2(a, b),
        "int32",
        "float64",
        [[0.4636476, -0.5880026, 1.8925469], [-0.7853982, 1.9513027, 0.0]],
    ),
    "atan2 of float64": (
        lambda a, b: paddle.atan2(a, b),
        "float64",
        "float64",
        [[0.4636476, -0.5880026, 1.8925469], [-0.7853982, 1.9513027, 0.0]],
    ),
    "ldexp of float64": (
        lambda a, b: paddle.ldexp(a, b),
        "float64",
        "float64",
        [[4, -16, 1.5], [-64, 1.25, 0]],
    ),
    "ldexp of int64": (lambda a, b: paddle.ldexp(a, b), "int64", "float32", [[4, -16, 1.5], [-64, 1.25, 0]]),
    "amax of int32": (lambda a, b: paddle.amax(a, 1), "int32", "int32", [3, 5]),
    "amin of int32": (lambda a, b: paddle.amin(a, 1, keepdim=True), "int32", "int32", [[-2], [-4]]),
    "dot of int32": (lambda a, b: paddle.dot(a, b), "int32", "int32", [-7, -26]),
    "trace of int32": (lambda a, b: paddle.trace(paddle.stack([a, b])), "int32", "int32", [5, -4, 9]),
    "unique of int32": (
        lambda a, b: paddle.unique(b, return_counts=True, dtype="int32")[1],
        "int64",
        "int32",
        [1, 1, 1, 1, 1, 1],
    ),
    "bincount of int32": (lambda a, b: paddle.bincount(paddle.abs(a)[0]), "int32", "int64", [0, 1, 1, 1]),
    "bincount of weights": (
        lambda a, b: paddle.bincount(paddle.abs(a)[0], b[0]),
        "int64",
        "float64",
        [0, 2, 3, -1],
    ),
    "matrix_rank": (lambda a, b: paddle.linalg.matrix_rank(a), "float32", "int32", [2]),
    "arange to a float": (
        lambda a, b: paddle.arange(paddle.full([1], 3.25, a.dtype)),
        "float32",
        "float32",
        [0, 1, 2, 3],
    ),
    "arange to a whole number": (
        lambda a, b: paddle.arange(paddle.full([1], 3, a.dtype)),
        "int32",
        "int64",
        [0, 1, 2],
    ),
    "to_tensor of float64": (lambda a, b: paddle.to_tensor(np.array([1.5, 2])), "int64", "float64", [1.5, 2]),
    "to_tensor of Python's": (lambda a, b: paddle.to_tensor([1.5, 2]), "int64", "float32", [1.5, 2]),
    "where of whole numbers": (
        lambda a, b: paddle.where(a > b, 1, 2),
        "int64",
        "int64",
        [[2, 2, 1], [2, 1, 2]],
    ),
    "where of floats": (
        lambda a, b: paddle.where(a > b, 1.5, 2.5),
        "float32",
        "float64",
        [[2.5, 2.5, 1.5], [2.5, 1.5, 2.5]],
    ),
    "where of one number": (lambda a, b: paddle.where(a > b, a, 9), "int64", "int64", [[9, 9, 3], [9, 5, 9]]),
    "a truth that is no 1": (
        lambda a, b: paddle.equal(a, paddle.full([3], 2, "bool")),
        "bool",
        "bool",
        [[True, True, True], [True, True, False]],
    ),
    "a truth like others": (
        lambda a, b: paddle.equal(a, paddle.full_like(a, 2)),
        "bool",
        "bool",
        [[True, True, True], [True, True, False]],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_result_has_the_dtype_and_the_values_of_the_original(name: str) -> None:
    function, given, wanted, values = CASES[name]
    feed = {"a": np.array(A).astype(given), "b": np.array(B).astype(given)}
    made = function(*(paddle.static.data(each, [2, 3], given) for each in feed))
    (found,) = ran([made], feed)
    assert (str(made.dtype), str(found.dtype)) == (f"paddle.{wanted}", wanted)
    assert found.tolist() == pytest.approx(values) if found.ndim < 2 else np.allclose(found, values)


def test_gradients_of_float64_are_float64_without_axes_too() -> None:
    s = paddle.static.data("s", [], "float64")
    s.stop_gradient = False
    found = ran(paddle.static.gradients([paddle.kron(s, s)], [s]), {"s": np.array(3.25)})
    assert [(each.dtype, each.shape, float(each)) for each in found] == [(np.dtype(np.float64), (), 6.5)]


def test_what_a_tensor_of_float64_is_drawn_around_is_a_float64() -> None:
    x = paddle.static.data("x", [2, 3], "float64")
    assert [paddle.normal(*each).dtype for each in ((x, 2.0), (1.0, x))] == [paddle.float64] * 2
