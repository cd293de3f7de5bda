"""Layers of volumes of ``paddle.nn``, and what layers of images have in common with them, against numbers of
paddlepaddle 2.6.2: of what a layer gives, and of the gradient of its cubes, the sums that cosines weigh."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle
from paddle import nn
from paddle.nn import functional

pytestmark = pytest.mark.usefixtures("alone")

X = (np.arange(2 * 4 * 5 * 6 * 7) % 17 / 7.0 - 1).astype(np.float32).reshape(2, 4, 5, 6, 7)


def _filled(*shape: int) -> Any:
    values = (np.arange(int(np.prod(shape))) % 11 / 9.0 - 0.5).astype(np.float32)
    return paddle.ParamAttr(initializer=nn.initializer.Assign(values.reshape(shape)))


def _given(*filters: int, bias: int = 6) -> dict[str, Any]:
    return {"weight_attr": _filled(*filters), "bias_attr": _filled(bias)}


def _last(x: Any) -> Any:
    return paddle.transpose(x, [0, 2, 3, 4, 1])


LAST = {"data_format": "NDHWC"}
LAYERS: dict[str, Callable[[Any], Any]] = {
    "conv": lambda x: nn.Conv3D(4, 6, 3, padding=1, **_given(6, 4, 3, 3, 3))(x),
    "conv_groups": lambda x: nn.Conv3D(
        4, 6, (2, 3, 2), (1, 2, 2), "SAME", groups=2, weight_attr=_filled(6, 2, 2, 3, 2), bias_attr=False
    )(x),
    "conv_sides": lambda x: nn.Conv3D(4, 6, 3, 1, [1, 2, 0, 1, 2, 2], **_given(6, 4, 3, 3, 3))(x),
    "conv_last": lambda x: nn.Conv3D(4, 6, 2, 1, [1, 0, 2], 2, **_given(6, 4, 2, 2, 2), **LAST)(_last(x)),
    "transposed": lambda x: nn.Conv3DTranspose(4, 6, 3, 2, 1, 1, **_given(4, 6, 3, 3, 3))(x),
    "transposed_to": lambda x: nn.Conv3DTranspose(4, 6, 3, (2, 3, 1), groups=2, **_given(4, 3, 3, 3, 3))(
        x, output_size=[12, 20, 9]
    ),
    "transposed_last": lambda x: nn.Conv3DTranspose(
        4, 6, 2, 2, output_padding=[1, 0, 1], **_given(4, 6, 2, 2, 2), **LAST
    )(_last(x)),
    "images_transposed": lambda x: nn.Conv2DTranspose(4, 6, 2, 2, output_padding=1, **_given(4, 6, 2, 2))(
        x[:, :, 0]
    ),
    "max": lambda x: nn.MaxPool3D((2, 3, 2), (2, 1, 2), 1)(x),
    "max_ceil": lambda x: nn.MaxPool3D(2, ceil_mode=True)(x),
    "max_last": lambda x: nn.MaxPool3D(2, 1, **LAST)(_last(x)),
    "avg": lambda x: nn.AvgPool3D(3, 2, 1, ceil_mode=True)(x),
    "avg_whole": lambda x: nn.AvgPool3D(2, padding=1, exclusive=False)(x),
    "avg_divided": lambda x: nn.AvgPool3D(2, padding=1, divisor_override=3)(x),
    "avg_last": lambda x: functional.avg_pool3d(_last(x), 2, padding="SAME", **LAST),
    "images_divided": lambda x: functional.avg_pool2d(x[:, :, 0], 2, divisor_override=3),
    "avg_parts": lambda x: nn.AdaptiveAvgPool3D((2, 3, None))(x),
    "avg_parts_last": lambda x: nn.AdaptiveAvgPool3D(3, **LAST)(_last(x)),
    "images_parts": lambda x: functional.adaptive_avg_pool2d(x[:, :, 0], (None, 3)),
    "max_parts": lambda x: nn.AdaptiveMaxPool3D((None, 1, 4))(x),
    "norm": lambda x: nn.BatchNorm3D(4)(x),
    "norm_last": lambda x: nn.BatchNorm3D(4, **LAST)(_last(x)),
}
FOUND: dict[str, tuple[tuple[int, ...], float, float]] = {
    "conv": ((2, 6, 5, 6, 7), 3.6451, -688.31),
    "conv_groups": ((2, 6, 5, 3, 4), -26.868, 106.43),
    "conv_sides": ((2, 6, 6, 5, 9), -0.73405, -701.64),
    "conv_last": ((2, 5, 4, 9, 6), -93.498, 14.167),
    "transposed": ((2, 6, 10, 12, 14), -502.61, 237.3),
    "transposed_to": ((2, 6, 12, 20, 9), 83.734, 163.89),
    "transposed_last": ((2, 11, 12, 15, 6), -6.8692, 39.241),
    "images_transposed": ((2, 6, 13, 15), -2.9964, -14.757),
    "max": ((2, 4, 3, 6, 4), 1.5831, -5.8227),
    "max_ceil": ((2, 4, 3, 3, 4), 11.167, 6.3359),
    "max_last": ((2, 4, 5, 6, 4), -0.91828, -34.475),
    "avg": ((2, 4, 3, 4, 4), -2.5479, -0.017743),
    "avg_whole": ((2, 4, 3, 4, 4), -0.89498, -0.33434),
    "avg_divided": ((2, 4, 3, 4, 4), -7.7556, -55.023),
    "avg_last": ((2, 3, 3, 4, 4), 2.3835, 1.4916),
    "images_divided": ((2, 4, 3, 3), -0.78431, 1.1596),
    "avg_parts": ((2, 4, 2, 3, 7), 2.1133, 0.34521),
    "avg_parts_last": ((2, 3, 3, 3, 4), 0.23379, -0.3388),
    "images_parts": ((2, 4, 6, 3), -0.69394, 1.7252),
    "max_parts": ((2, 4, 5, 1, 4), -0.31334, 7.163),
    "norm": ((2, 4, 5, 6, 7), 1.7682, 5.0259),
    "norm_last": ((2, 5, 6, 7, 4), 0.19086, 5.0259),
}


def _weighed(array: np.ndarray) -> float:
    return float((array * np.cos(np.arange(array.size)).reshape(array.shape)).sum())


@pytest.mark.parametrize("name", LAYERS)
def test_layers_give_what_the_originals_do(name: str) -> None:
    x = paddle.static.data("x", [None, *X.shape[1:]])
    x.stop_gradient = False
    out = LAYERS[name](x)
    (slope,) = paddle.static.gradients([paddle.sum(out * out * out)], [x])
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    given, back = exe.run(feed={"x": X}, fetch_list=[out, slope])
    shape, values, slopes = FOUND[name]
    assert given.shape == shape == (2, *out.shape[1:])
    np.testing.assert_allclose([_weighed(given), _weighed(back)], [values, slopes], rtol=1e-3, atol=1e-3)


def test_parameters_have_the_names_of_the_originals() -> None:
    layers = [nn.Conv3D(2, 4, 2), nn.Conv3DTranspose(2, 4, 2), nn.BatchNorm3D(4)]
    assert [name.name for layer in layers for name in layer.parameters()][:4] == [
        *("conv3d_0.w_0", "conv3d_0.b_0", "conv3d_transpose_0.w_0", "conv3d_transpose_0.b_0"),
    ]
    assert layers[2].weight.name == "batch_norm3d_0.w_0"


def test_filters_begin_with_the_variance_of_their_fan_in() -> None:
    weight = nn.Conv3D(4, 500, 3).weight
    exe = paddle.static.Executor()
    (values,) = exe.run(paddle.static.default_startup_program(), fetch_list=[weight])
    assert values.std() == pytest.approx((2 / (4 * 27)) ** 0.5, rel=0.02)


def test_what_has_no_meaning_is_refused() -> None:
    x = paddle.static.data("x", [None, *X.shape[1:]])
    with pytest.raises(ValueError, match="conv3d: data_format is 'NCDHW' or 'NDHWC', not 'NCHW'"):
        nn.Conv3D(4, 6, 3, data_format="NCHW")(x)
    with pytest.raises(ValueError, match="max_pool3d: data_format"):
        nn.MaxPool3D(2, data_format="NCL")(x)
    with pytest.raises(ValueError, match="conv3d_transpose: tell output_size or output_padding, not both"):
        nn.Conv3DTranspose(4, 6, 3, 2, output_padding=1)(x, output_size=[12, 14, 16])
    with pytest.raises(ValueError, match="13 is not one of the depths from 11 on"):
        nn.Conv3DTranspose(4, 6, 3, 2, output_padding=[2, 0, 0])(x)
