"""Initializers of the 2.x generation are those of fluid, under their names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle

pytestmark = pytest.mark.usefixtures("alone")


def first_value(initializer: Any, shape: list[int]) -> np.ndarray:
    made = paddle.static.create_parameter(
        shape, "float32", attr=paddle.ParamAttr(name="w", initializer=initializer)
    )
    paddle.static.Executor().run(paddle.static.default_startup_program())
    return np.array(paddle.static.global_scope().find_var(made.name).get_tensor())


def test_whole_numbers_are_first_values_of_a_parameter_of_floats() -> None:
    found = first_value(paddle.nn.initializer.Assign([[1, 2], [3, 4]]), [2, 2])
    assert found.dtype == np.float32
    assert found.tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("name", ["KaimingNormal", "KaimingUniform"])
def test_the_spread_follows_from_what_comes_in(name: str) -> None:
    found = first_value(getattr(paddle.nn.initializer, name)(), [200, 300])
    assert found.var() == pytest.approx(2 / 200, rel=0.05)


def test_what_begins_without_being_told_begins_as_was_said() -> None:
    constant = paddle.nn.initializer.Constant
    paddle.nn.initializer.set_global_initializer(constant(3.0), constant(4.0))
    try:
        layer = paddle.nn.Linear(2, 2)
        paddle.static.Executor().run(paddle.static.default_startup_program())
        found = [
            np.array(paddle.static.global_scope().find_var(each.name).get_tensor())
            for each in (layer.weight, layer.bias)
        ]
    finally:
        paddle.nn.initializer.set_global_initializer(None)
    assert [each.ravel()[0] for each in found] == [3.0, 4.0]
