"""The public gradient check finds wrong gradients and leaves right ones alone."""

from __future__ import annotations

from functools import partial
from unittest import mock

import numpy as np
import pytest

from paddle._engine import registry
from paddle._engine.errors import NotDifferentiable, UnknownOperator
from paddle._engine.ops import shapes
from paddle._engine.registry import Call, Gradient, Kernel, Row, Steps
from paddle.testing import check_gradient

X = np.random.default_rng(3).normal(size=(3, 2))


def cube(call: Call) -> Steps:
    yield partial(np.power, call["X"], 3, call["Out"])


def cube_gradient(factor: float, slip: tuple[int, int] | None = None):
    def bind(call: Call) -> Steps:
        def step() -> None:
            call["X@GRAD"][...] = factor * call["X"] ** 2 * call["Out@GRAD"]
            if slip:
                call["X@GRAD"][slip] += 1e-3

        yield step

    return Gradient(bind, needs=("X",))


def register(gradient: Gradient):
    rows = {"cube": Row(type="cube", shape=shapes.like_x, forward=Kernel(cube), gradient=gradient)}
    return mock.patch.object(registry, "table", lambda: rows)


def test_a_right_gradient_passes() -> None:
    with register(cube_gradient(3)):
        check_gradient("cube", {"X": X})


def test_a_wrong_factor_is_found() -> None:
    with register(cube_gradient(2)), pytest.raises(AssertionError, match=r"cube: gradient of X\[0\] at"):
        check_gradient("cube", {"X": X})


def test_one_wrong_element_is_named() -> None:
    with register(cube_gradient(3, slip=(2, 1))), pytest.raises(AssertionError, match=r"at \(2, 1\)"):
        check_gradient("cube", {"X": X})


def test_a_gradient_that_is_nan_is_found() -> None:
    with register(cube_gradient(float("nan"))), pytest.raises(AssertionError, match="nan"):
        check_gradient("cube", {"X": X})


def test_the_arrays_given_are_not_changed() -> None:
    before = X.copy()
    check_gradient("tanh", {"X": X})
    np.testing.assert_array_equal(X, before)


def test_slots_can_be_left_out() -> None:
    check_gradient("elementwise_mul", {"X": X, "Y": X}, no_gradient=("Y",))


def test_an_operator_without_a_gradient_is_refused() -> None:
    with pytest.raises(NotDifferentiable, match="is_finite"):
        check_gradient("is_finite", {"X": X})


def test_an_unknown_operator_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownOperator, match=r"no operator 'cubic' in this release; it has .*'mul'"):
        check_gradient("cubic", {"X": X})
