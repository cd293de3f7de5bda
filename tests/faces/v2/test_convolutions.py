"""Convolutions of v2 beyond the plain one: spread out, transposed, and of one row with another."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.v2 as paddle

RNG = np.random.default_rng(6)
LINEAR = paddle.activation.Linear()


def image(channels=2, height=5, width=6):
    type = paddle.data_type.dense_vector(channels * height * width)
    return paddle.layer.data(name="image", type=type, height=height, width=width)


def shown(output, *widths):
    parameters = paddle.parameters.create(output)
    columns = [RNG.normal(size=(3, width)).astype(np.float32) for width in widths]
    found = paddle.infer(output_layer=output, parameters=parameters, input=list(zip(*columns, strict=True)))
    return *columns, found, parameters


def test_a_dilated_filter_sees_pixels_that_lie_apart() -> None:
    layer = paddle.layer.img_conv(
        image(),
        filter_size=2,
        num_filters=4,
        num_channels=2,
        dilation=(3, 2),
        bias_attr=False,
        act=LINEAR,
        name="c",
    )
    x, found, parameters = shown(layer, 60)
    x, weights = x.reshape(3, 2, 5, 6), parameters["_c.w0"].reshape(4, 2, 2, 2)
    expected = sum(
        np.einsum(
            "nchw,fc->nfhw",
            x[:, :, 2 * down : 2 * down + 3, 3 * across : 3 * across + 3],
            weights[:, :, down, across],
        )
        for down in range(2)
        for across in range(2)
    )
    np.testing.assert_allclose(found.reshape(3, 4, 3, 3), expected, rtol=1e-4, atol=1e-5)


def laid_down(x, weights, step, zeros):
    """Each pixel lays its filter down; what falls into the zeros is cut off."""
    count, _, height, width = x.shape
    _, filters, tall, wide = weights.shape
    laid = np.zeros((count, filters, (height - 1) * step + tall, (width - 1) * step + wide))
    for row, column in np.ndindex(height, width):
        part = np.einsum("nc,cfyx->nfyx", x[:, :, row, column], weights)
        laid[:, :, row * step : row * step + tall, column * step : column * step + wide] += part
    return laid[:, :, zeros : laid.shape[2] - zeros, zeros : laid.shape[3] - zeros]


def test_a_transposed_convolution_lays_filters_down() -> None:
    told = {"filter_size": 3, "num_filters": 4, "num_channels": 2, "stride": 2, "padding": 1, "trans": True}
    layer = paddle.layer.img_conv(image(), **told, bias_attr=False, act=LINEAR, name="t")
    x, found, parameters = shown(layer, 60)
    assert parameters.get_shape("_t.w0") == (1, 2 * 4 * 3 * 3)
    expected = laid_down(x.reshape(3, 2, 5, 6), parameters["_t.w0"].reshape(2, 4, 3, 3), 2, 1)
    assert (layer.num_filters, layer.config.height, layer.config.width) == (4, 9, 11)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)
    projection = paddle.layer.mixed(input=paddle.layer.conv_projection(image(), **told))
    x, found, parameters = shown(projection, 60)
    weights = next(iter(parameters[name] for name in parameters.names())).reshape(2, 4, 3, 3)
    expected = laid_down(x.reshape(3, 2, 5, 6), weights, 2, 1)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)


def test_what_undoes_a_convolution_is_as_large_as_what_that_saw() -> None:
    smaller = paddle.layer.img_conv(
        image(), filter_size=3, num_filters=8, num_channels=2, stride=2, padding=1
    )
    larger = paddle.layer.img_conv(
        smaller, filter_size=(4, 3), num_filters=2, stride=2, padding=1, trans=True
    )
    assert (smaller.config.height, smaller.config.width) == (3, 3)
    assert (larger.config.height, larger.config.width) == (5, 6)


def test_a_type_that_is_of_the_other_way_is_refused() -> None:
    with pytest.raises(ValueError, match=r"layer_type is one of exconv, cudnn_conv, not 'exconvt'"):
        paddle.layer.img_conv(image(), filter_size=3, num_filters=1, num_channels=2, layer_type="exconvt")


def test_a_row_is_shifted_around_its_ends_by_weights() -> None:
    row = paddle.layer.data(name="row", type=paddle.data_type.dense_vector(5))
    shift = paddle.layer.data(name="shift", type=paddle.data_type.dense_vector(3))
    a, b, found, _ = shown(paddle.layer.conv_shift(a=row, b=shift), 5, 3)
    expected = sum(np.roll(a, 1 - at, axis=1) * b[:, at : at + 1] for at in range(3))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="its size is odd"):
        paddle.layer.conv_shift(
            a=row, b=paddle.layer.data(name="even", type=paddle.data_type.dense_vector(2))
        )


def test_channels_of_a_pixel_have_a_length_of_one_and_then_a_scale_each() -> None:
    taught = paddle.attr.Param(initial_mean=20, initial_std=0, name="scale")
    smaller = paddle.layer.img_conv(
        image(), filter_size=1, num_filters=4, num_channels=2, act=LINEAR, bias_attr=False, name="seen"
    )
    x, found, parameters = shown(paddle.layer.cross_channel_norm(smaller, param_attr=taught), 60)
    assert parameters.get_shape("scale") == (4, 1)
    seen = np.einsum("nchw,fc->nfhw", x.reshape(3, 2, 5, 6), parameters["_seen.w0"].reshape(4, 2))
    expected = 20 * seen / np.sqrt(np.square(seen).sum(1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(found.reshape(expected.shape), expected, rtol=1e-4, atol=1e-5)


def test_projections_that_are_convolutions_share_a_bias_for_each_filter() -> None:
    project, bias = paddle.layer.conv_projection, paddle.attr.Param(name="bias", initial_std=1.0)
    seen = image()
    small = project(seen, filter_size=1, num_filters=4, num_channels=2)
    large = project(seen, filter_size=3, num_filters=6, num_channels=2, padding=1)
    beside = paddle.layer.concat([small, large], bias_attr=bias, name="both")
    alone = paddle.layer.mixed(input=small, bias_attr=True, name="alone")
    none = paddle.layer.concat([small, large], bias_attr=True)  # as in the original, an attribute alone says
    assert not none.config.bias_parameter_name
    x, found, parameters = shown(beside, 60)
    assert parameters.get_shape("bias") == (1, 10)
    assert paddle.parameters.create(alone).get_shape("_alone.wbias") == (1, 4)
    expected = np.einsum("nchw,fc->nfhw", x.reshape(3, 2, 5, 6), parameters["_both.w0"].reshape(4, 2))
    expected += parameters["bias"][0, :4, None, None]
    np.testing.assert_allclose(found[:, :120], expected.reshape(3, 120), rtol=1e-4, atol=1e-5)


def test_images_side_by_side_are_as_large_as_each() -> None:
    both = paddle.layer.concat([image(), image()])
    again = paddle.layer.img_conv(both, filter_size=1, num_filters=1, num_channels=4)
    assert (again.height, again.width) == (5, 6)
