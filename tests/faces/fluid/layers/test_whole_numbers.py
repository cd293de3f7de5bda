"""Functions of whole numbers give whole numbers, as PaddlePaddle 1.8.5 does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid

GIVEN = [[1, -2, 3, 4]]


def computed(layer: Any, dtype: str, values: Any = GIVEN) -> np.ndarray:
    out = layer(fluid.layers.data("x", [len(values[0])], dtype=dtype))
    return fluid.Executor().run(feed={"x": np.array(values, dtype)}, fetch_list=[out])[0]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize(
    ("layer", "wanted"),
    [
        (fluid.layers.abs, [1, 2, 3, 4]),
        (fluid.layers.square, [1, 4, 9, 16]),
        (fluid.layers.exp, [2, 0, 20, 54]),
        (lambda x: fluid.layers.pow(x, 2.5), [1, 4, 9, 16]),
        (lambda x: fluid.layers.pow(x, -1.0), [1, 0, 0, 0]),
    ],
)
def test_whole_numbers_stay_whole(layer: Any, wanted: list[int], dtype: str) -> None:
    found = computed(layer, dtype)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, [wanted])


def test_large_whole_numbers_are_exact() -> None:
    large = 2**30 + 1
    assert computed(fluid.layers.square, "int64", [[large]])[0, 0] == large**2
    assert computed(fluid.layers.abs, "int64", [[-large]])[0, 0] == large


def test_powers_of_whole_numbers_lose_what_is_behind_the_point() -> None:
    x, y = (fluid.data(name, [7], "int64") for name in "xy")
    fed = {"x": np.array([2, 1, -1, -1, 0, 3, -2]), "y": np.array([-1, -2, -1, -2, -1, 2, 3])}
    (found,) = fluid.Executor().run(feed=fed, fetch_list=[fluid.layers.elementwise_pow(x, y)])
    assert found.tolist() == [0, 1, -1, 1, -(2**63), 9, -8]
