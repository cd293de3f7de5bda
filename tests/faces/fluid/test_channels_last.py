"""Images whose channels are last (NHWC), against numbers of paddlepaddle 1.8.5: of what an operator gives,
and of the gradient of its cubes, the sums that cosines weigh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle
import paddle.fluid as fluid
from paddle.fluid import layers

X = (np.arange(2 * 6 * 5 * 4) % 17 / 7.0 - 1).astype(np.float32).reshape(2, 6, 5, 4)


def _filters(*shape: int) -> fluid.ParamAttr:
    values = (np.arange(int(np.prod(shape))) % 11 / 9.0 - 0.5).astype(np.float32)
    return fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(values.reshape(shape)))


def _line(count: int) -> fluid.ParamAttr:
    values = (np.arange(count) / 5.0).astype(np.float32)
    return fluid.ParamAttr(initializer=fluid.initializer.NumpyArrayInitializer(values))


LAST = {"data_format": "NHWC"}
LAYERS: dict[str, Callable[[Any], Any]] = {
    "conv": lambda x: layers.conv2d(
        x, 6, 3, stride=2, padding=1, param_attr=_filters(6, 4, 3, 3), bias_attr=_line(6), act="relu", **LAST
    ),
    "conv_groups": lambda x: layers.conv2d(
        x,
        4,
        [3, 2],
        padding=[[0, 0], [2, 2], [1, 1], [0, 0]],
        dilation=[2, 1],
        groups=2,
        param_attr=_filters(4, 2, 3, 2),
        bias_attr=False,
        **LAST,
    ),
    "conv_same": lambda x: layers.conv2d(
        x, 3, 3, padding="SAME", param_attr=_filters(3, 4, 3, 3), bias_attr=_line(3), **LAST
    ),
    "transposed": lambda x: layers.conv2d_transpose(
        x, 3, None, 3, stride=2, padding=1, param_attr=_filters(4, 3, 3, 3), bias_attr=_line(3), **LAST
    ),
    "max": lambda x: layers.pool2d(x, 3, "max", 2, pool_padding=1, **LAST),
    "avg": lambda x: layers.pool2d(x, [2, 3], "avg", 2, pool_padding=1, ceil_mode=True, **LAST),
    "global": lambda x: layers.pool2d(x, pool_type="avg", global_pooling=True, **LAST),
    "bn": lambda x: layers.batch_norm(
        x, param_attr=_line(4), bias_attr=_line(4), data_layout="NHWC", act="relu"
    ),
    "gn": lambda x: layers.group_norm(x, 2, param_attr=_filters(4), bias_attr=_line(4), data_layout="NHWC"),
    "resize": lambda x: layers.resize_bilinear(x, [4, 7], **LAST),
    "nearest": lambda x: layers.resize_nearest(x, scale=2.0, align_corners=False, **LAST),
    "lrn": lambda x: layers.lrn(x, 3, 1.0, 0.1, 0.75, **LAST),
    "maxout": lambda x: layers.maxout(x, 2, axis=3),
}
FOUND = {
    "conv": ((2, 3, 3, 6), 1.0258, 9.4332),
    "conv_groups": ((2, 6, 6, 4), 30.378, -6.0749),
    "conv_same": ((2, 6, 5, 3), 9.3167, -28.403),
    "transposed": ((2, 11, 9, 3), 2.8756, -66.607),
    "max": ((2, 3, 3, 4), -0.24285, -59.77),
    "avg": ((2, 4, 3, 4), -0.356, 4.5357),
    "global": ((2, 1, 1, 4), 0.25184, 0.0017412),
    "bn": ((2, 6, 5, 4), -1.8286, -0.62378),
    "gn": ((2, 6, 5, 4), 0.52472, 0.21009),
    "resize": ((2, 4, 7, 4), -0.77271, 17.018),
    "nearest": ((2, 12, 10, 4), 6.0204, 7.9133),
    "lrn": ((2, 6, 5, 4), -1.9457, 2.0205),
    "maxout": ((2, 6, 5, 2), -1.0171, -0.59674),
}


def _weighed(array: np.ndarray) -> float:
    return float((array * np.cos(np.arange(array.size)).reshape(array.shape)).sum())


@pytest.mark.parametrize("name", LAYERS)
def test_channels_may_be_last(name: str) -> None:
    x = layers.data("x", [6, 5, 4])
    x.stop_gradient = False
    out = LAYERS[name](x)
    (slope,) = fluid.gradients([layers.reduce_sum(out * out * out)], [x])
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    given, back = exe.run(feed={"x": X}, fetch_list=[out, slope])
    shape, values, slopes = FOUND[name]
    assert given.shape == shape == (2, *out.shape[1:])
    np.testing.assert_allclose([_weighed(given), _weighed(back)], [values, slopes], rtol=2e-4, atol=2e-4)


def test_a_format_that_has_no_meaning_is_refused() -> None:
    x = layers.data("x", [6, 5, 4])
    with pytest.raises(ValueError, match="conv2d: data_format is 'NCHW' or 'NHWC', not 'HWC'"):
        layers.conv2d(x, 3, 3, data_format="HWC")


def test_layers_of_two_take_channels_last() -> None:
    paddle.enable_static()
    x = paddle.static.data("x", [None, 6, 5, 4], "float32")
    conv = paddle.nn.Conv2D(4, 3, 3, padding="same", data_format="NHWC")
    seen = paddle.nn.functional.max_pool2d(conv(x), 2, data_format="NHWC")
    norm = paddle.nn.BatchNorm2D(3, data_format="NHWC")(seen)
    turned = paddle.transpose(x, [0, 3, 1, 2])
    plain = paddle.nn.functional.conv2d(turned, conv.weight, conv.bias, padding="same")
    plain = paddle.nn.functional.max_pool2d(plain, 2)
    plain = paddle.transpose(paddle.nn.BatchNorm2D(3)(plain), [0, 2, 3, 1])
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    last, first = exe.run(feed={"x": X}, fetch_list=[norm, plain])
    np.testing.assert_allclose(last, first, rtol=1e-5, atol=1e-5)
