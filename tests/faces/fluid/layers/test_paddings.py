"""Paddings on four sides and by name, and maxima of parts, against numbers of paddlepaddle 1.8.5: of what a
layer gives, and of the gradients of its cubes by the image and the filters, the sums that cosines weigh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle.fluid import layers

SHAPE = (2, 4, 7, 6)
X = (np.arange(int(np.prod(SHAPE))) % 17 / 7.0 - 1).astype(np.float32).reshape(SHAPE)


def _filters(*shape: int) -> fluid.ParamAttr:
    values = (np.arange(int(np.prod(shape))) % 11 / 9.0 - 0.5).astype(np.float32)
    return fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(values.reshape(shape)))


def _conv(x: Any, stride: Any, padding: Any, **more: Any) -> Any:
    channels = x.shape[3] if more else x.shape[1]
    filters = _filters(3, channels, 3, 2)
    return layers.conv2d(x, 3, [3, 2], stride, padding, param_attr=filters, bias_attr=False, **more)


def _back(x: Any, stride: Any, padding: Any) -> Any:
    filters = _filters(4, 3, 3, 2)
    return layers.conv2d_transpose(x, 3, None, [3, 2], padding, stride, param_attr=filters, bias_attr=False)


def _pool(x: Any, how: str, stride: Any, padding: Any, **more: Any) -> Any:
    return layers.pool2d(x, [3, 4], how, stride, pool_padding=padding, **more)


SIDES = [1, 2, 0, 3]
PAIRS = [[0, 0], [0, 0], [1, 2], [0, 3]]
LAST = {"data_format": "NHWC"}
LAYERS: dict[str, Callable[[Any], Any]] = {
    "conv_sides": lambda x: _conv(x, 2, SIDES),
    "conv_pairs": lambda x: _conv(x, [2, 3], PAIRS),
    "conv_same": lambda x: _conv(x, [2, 3], "SAME"),
    "conv_same_even": lambda x: _conv(x, 1, "same"),
    "conv_valid": lambda x: _conv(x, 2, "VALID"),
    "conv_last": lambda x: _conv(x, 2, [[0, 0], [1, 0], [2, 1], [0, 0]], **LAST),
    "conv_last_same": lambda x: _conv(x, 2, "SAME", **LAST),
    "conv_same_apart": lambda x: layers.conv2d(
        x, 3, 3, 2, "SAME", 2, param_attr=_filters(3, 4, 3, 3), bias_attr=False
    ),
    "conv_deep": lambda x: layers.conv2d(
        x, 4, 3, 2, [1, 2, 0, 1], groups=4, use_cudnn=False, param_attr=_filters(4, 1, 3, 3), bias_attr=False
    ),
    "back_sides": lambda x: _back(x, 2, SIDES),
    "back_same": lambda x: _back(x, [2, 3], "SAME"),
    "max_sides": lambda x: _pool(x, "max", 2, SIDES),
    "max_same": lambda x: _pool(x, "max", [2, 3], "SAME"),
    "max_valid": lambda x: _pool(x, "max", 2, "VALID"),
    "avg_sides": lambda x: _pool(x, "avg", 2, SIDES),
    "avg_same": lambda x: _pool(x, "avg", 2, "SAME"),
    "avg_counting": lambda x: _pool(x, "avg", 2, PAIRS, exclusive=False),
    "avg_last": lambda x: _pool(x, "avg", 2, [[0, 0], [1, 0], [2, 1], [0, 0]], **LAST),
    "parts_even": lambda x: layers.adaptive_pool2d(x, [7, 3], "max"),
    "parts": lambda x: layers.adaptive_pool2d(x, [3, 4], "max"),
    "parts_many": lambda x: layers.adaptive_pool2d(x, [9, 5], "max"),
    "means_of_parts": lambda x: layers.adaptive_pool2d(x, 5, "avg"),
}
FOUND: dict[str, tuple[tuple[int, ...], list[float]]] = {
    "conv_sides": ((2, 3, 4, 4), [16.2698, -151.9714, -830.8361]),
    "conv_pairs": ((2, 3, 4, 3), [16.95624, -88.16008, -627.0585]),
    "conv_same": ((2, 3, 4, 2), [-3.739685, -88.16007, -627.0585]),
    "conv_same_even": ((2, 3, 7, 6), [-1.219823, -197.8144, -2723.423]),
    "conv_valid": ((2, 3, 3, 3), [-1.319217, 80.43901, -790.6232]),
    "conv_last": ((2, 2, 5, 3), [0.8816927, -16.37082, -117.576]),
    "conv_last_same": ((2, 2, 4, 3), [1.425468, -11.17978, -25.14997]),
    "conv_same_apart": ((2, 3, 4, 3), [7.56995, 14.18387, 148.0957]),
    "conv_deep": ((2, 4, 4, 3), [6.432218, 19.62735, 151.8645]),
    "back_sides": ((2, 3, 12, 9), [-2.787116, 25.79393, -261.261]),
    "back_same": ((2, 3, 13, 17), [-6.058278, 61.10528, -309.6303]),
    "max_sides": ((2, 4, 4, 3), [-4.735244, -26.21308]),
    "max_same": ((2, 4, 4, 2), [-0.524267, -24.3896]),
    "max_valid": ((2, 4, 3, 2), [0.675544, -14.46421]),
    "avg_sides": ((2, 4, 4, 3), [-4.411478, -1.486008]),
    "avg_same": ((2, 4, 4, 3), [-4.879403, 1.130864]),
    "avg_counting": ((2, 4, 4, 3), [-2.613384, 0.221438]),
    "avg_last": ((2, 2, 4, 6), [2.36062, 0.1525752]),
    "parts_even": ((2, 4, 7, 3), [-0.6711966, -1.435735]),
    "parts": ((2, 4, 3, 4), [2.029762, -12.01419]),
    "parts_many": ((2, 4, 9, 5), [11.76528, -2.174351]),
    "means_of_parts": ((2, 4, 5, 5), [-0.7287471, 1.198739]),
}


def weighed(array: np.ndarray) -> float:
    return float((array * np.cos(np.arange(array.size)).reshape(array.shape)).sum())


def _found(layer: Callable[[Any], Any]) -> tuple[Any, list[np.ndarray]]:
    x = fluid.data("x", [None, *SHAPE[1:]])
    x.stop_gradient = False
    out = layer(x)
    filters = fluid.default_main_program().all_parameters()
    slopes = fluid.gradients([layers.reduce_sum(out * out * out)], [x, *filters])
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    return out, exe.run(feed={"x": X}, fetch_list=[out, *slopes])


@pytest.mark.parametrize("name", LAYERS)
def test_layers_give_what_the_original_gives(name: str) -> None:
    out, found = _found(LAYERS[name])
    shape, sums = FOUND[name]
    assert found[0].shape == shape == (2, *out.shape[1:])
    np.testing.assert_allclose([weighed(each) for each in found], sums, rtol=2e-5, atol=1e-4)


def test_the_greatest_of_parts_is_said_where_it_stands() -> None:
    x = fluid.data("x", [None, *SHAPE[1:]])
    out, index = layers.adaptive_pool2d(x, [3, 4], "max", require_index=True)
    assert (index.shape, index.dtype) == (out.shape, fluid.core.VarDesc.VarType.INT32)
    exe = fluid.Executor(fluid.CPUPlace())
    found, places = exe.run(feed={"x": X}, fetch_list=[out, index])
    assert places.dtype == np.int32
    assert weighed(places) == pytest.approx(-23.0463, abs=1e-3)
    flat = np.take_along_axis(X.reshape(2, 4, -1), places.reshape(2, 4, -1).astype(int), 2)
    np.testing.assert_array_equal(flat.reshape(found.shape), found)


def test_same_is_of_the_image_that_comes() -> None:
    x = fluid.data("x", [None, 2, None, None])
    seen = layers.pool2d(x, 3, "max", 2, "SAME")
    exe = fluid.Executor(fluid.CPUPlace())
    for height, width in ((5, 8), (6, 7), (9, 3)):
        (found,) = exe.run(feed={"x": np.ones((2, 2, height, width), "float32")}, fetch_list=[seen])
        assert found.shape == (2, 2, -(-height // 2), -(-width // 2))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda x: layers.conv2d(x, 3, 3, padding="HALF"),
            "padding is numbers, 'SAME' or 'VALID', not 'HALF'",
        ),
        (lambda x: layers.conv2d(x, 3, 3, padding=[1, 1, 1]), r"two, or four \(above"),
        (lambda x: _conv(x, 1, [[1, 0], [0, 0], [1, 1], [1, 1]]), "samples and channels are not padded"),
        (lambda x: _pool(x, "max", 1, "VALID", ceil_mode=True), "ceil_mode.* 'VALID'"),
        (lambda x: layers.pool2d(x, 3, "min"), "pool_type is 'max' or 'avg', not 'min'"),
        (lambda x: layers.adaptive_pool2d(x, 3, "avg", True), "require_index is of pool_type 'max'"),
    ],
)
def test_paddings_without_a_meaning_are_refused(build: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(fluid.data("x", [None, *SHAPE[1:]]))


def test_functions_of_two_take_the_same_paddings() -> None:
    paddle.enable_static()
    x = paddle.static.data("x", [None, *SHAPE[1:]], "float32")
    pool = paddle.nn.functional.max_pool2d
    pools = [pool(x, [3, 4], 2, padding) for padding in (SIDES, PAIRS, [[1, 2], [0, 3]])]
    exe = paddle.static.Executor()
    for each in exe.run(feed={"x": X}, fetch_list=pools):
        assert weighed(each) == pytest.approx(FOUND["max_sides"][1][0], rel=2e-5)
