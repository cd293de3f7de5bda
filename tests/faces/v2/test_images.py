"""Images in v2: sizes that follow from layer to layer, what layers compute, and that models of them learn."""

from __future__ import annotations

import io

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import paddle.v2 as paddle

RNG = np.random.default_rng(5)


def image(size=2 * 5 * 6, height=5, width=6):
    type = paddle.data_type.dense_vector(size)
    return paddle.layer.data(name="image", type=type, height=height, width=width)


def shown(output, count=3):
    parameters = paddle.parameters.create(output)
    rows = RNG.normal(size=(count, 60)).astype(np.float32)
    found = paddle.infer(output_layer=output, parameters=parameters, input=[(row,) for row in rows])
    return rows.reshape(count, 2, 5, 6), found, parameters


def test_a_convolution_has_a_filter_and_a_bias_of_its_own() -> None:
    layer = paddle.layer.img_conv(
        image(),
        filter_size=(2, 3),
        num_filters=4,
        num_channels=2,
        padding=1,
        name="c",
        act=paddle.activation.Linear(),
    )
    x, found, parameters = shown(layer)
    assert parameters.get_shape("_c.w0") == (1, 4 * 2 * 3 * 2)
    assert parameters.get_shape("_c.wbias") == (4, 1)
    weights = parameters["_c.w0"].reshape(4, 2, 3, 2)
    assert weights.std() == pytest.approx((2 / (2 * 2 * 2)) ** 0.5, rel=0.5)
    windows = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 2), (2, 3))
    expected = np.einsum("nchwyx,fcyx->nfhw", windows, weights)
    assert layer.size == expected[0].size
    np.testing.assert_allclose(found, expected.reshape(3, -1), rtol=1e-4, atol=1e-5)


def test_a_separable_convolution_looks_at_channels_one_by_one_and_then_mixes_them() -> None:
    layer = paddle.networks.img_separable_conv(
        image(),
        num_channels=2,
        num_out_channels=5,
        filter_size=3,
        padding=1,
        depth_multiplier=2,
        act=paddle.activation.Linear(),
        bias_attr=False,
        name="s",
    )
    x, found, parameters = shown(layer)
    each, mixing = parameters["_s_depthwise_conv.w0"], parameters["_s_pointwise_conv.w0"]
    windows = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
    between = np.einsum("nchwyx,cmyx->ncmhw", windows, each.reshape(2, 2, 3, 3)).reshape(3, 4, 5, 6)
    expected = np.einsum("nkhw,fk->nfhw", between, mixing.reshape(5, 4))
    np.testing.assert_allclose(found, expected.reshape(3, -1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("is_ceil", "rows", "columns"), [(True, 2, 3), (False, 2, 2)])
def test_pooling_takes_a_last_place_that_sticks_out_or_not(is_ceil, rows, columns) -> None:
    layer = paddle.layer.img_pool(image(), pool_size=3, stride=2, num_channels=2, ceil_mode=is_ceil)
    x, found, _ = shown(layer)
    assert layer.size == 2 * rows * columns
    expected = [
        [[plane[2 * i : 2 * i + 3, 2 * j : 2 * j + 3].max() for j in range(columns)] for i in range(rows)]
        for plane in x.reshape(-1, 5, 6)
    ]
    np.testing.assert_array_equal(found.reshape(-1, rows, columns), expected)


@pytest.mark.parametrize("kind, of", [(paddle.pooling.Max(), np.max), (paddle.pooling.Avg(), np.mean)])
def test_a_window_that_is_larger_than_the_image_sticks_out_too(kind, of) -> None:
    small = paddle.layer.img_pool(image(), pool_size=5, stride=5, num_channels=2, ceil_mode=False)
    layer = paddle.layer.img_pool(small, pool_size=2, stride=2)
    assert layer.size == 2
    layer = paddle.layer.img_pool(image(), pool_size=7, stride=3, num_channels=2, pool_type=kind)
    x, found, _ = shown(layer)
    np.testing.assert_allclose(found, of(x, axis=(2, 3)), rtol=1e-5, atol=1e-6)


def test_a_mean_is_of_pixels_or_of_zeros_around_them_too() -> None:
    source = image()
    layers = [
        paddle.layer.img_pool(source, pool_size=2, stride=2, padding=1, num_channels=2, pool_type=kind)
        for kind in (paddle.pooling.Avg(), paddle.pooling.CudnnAvgInclPad())
    ]
    x, found, _ = shown(layers)
    corner = x[:, 0, 0, 0]
    np.testing.assert_allclose(found[0][:, 0], corner, rtol=1e-6)
    np.testing.assert_allclose(found[1][:, 0], corner / 4, rtol=1e-6)


def test_a_batch_is_normalized_in_training_and_by_what_was_kept_in_a_test() -> None:
    normal = paddle.layer.batch_norm(image(), num_channels=2, name="n", act=paddle.activation.Linear())
    cost = paddle.layer.sum_cost(normal)
    parameters = paddle.parameters.create(cost)
    trainer = paddle.trainer.SGD(cost, parameters, paddle.optimizer.Momentum(learning_rate=0.0))
    rows = (3 + 2 * RNG.normal(size=(20, 60))).astype(np.float32)
    trainer.train(lambda: iter([[(row,) for row in rows]] * 60))
    per_channel = rows.reshape(20, 2, 30).transpose(1, 0, 2).reshape(2, -1)
    np.testing.assert_allclose(parameters["_n.w1"][0], per_channel.mean(1), rtol=0.01)
    np.testing.assert_allclose(parameters["_n.w2"][0], per_channel.var(1), rtol=0.01)
    saved = io.BytesIO()
    parameters.to_tar(saved)
    saved.seek(0)
    again = paddle.parameters.Parameters.from_tar(saved)
    found = paddle.infer(output_layer=normal, parameters=again, input=[(row,) for row in rows])
    assert abs(found.mean()) < 0.05
    assert found.std() == pytest.approx(1, abs=0.05)


def test_a_weight_of_which_nothing_is_said_begins_around_0_as_in_the_original() -> None:
    x = paddle.layer.data(name="x", type=paddle.data_type.dense_vector(4 * 9))
    for attr, mean, std in (
        (None, 1.0, 0.0),
        (paddle.attr.Param(learning_rate=2.0), 0.0, 0.5),
        (paddle.attr.Param(initial_std=0.25), 0.0, 0.25),
    ):
        layer = paddle.layer.batch_norm(input=x, num_channels=4, param_attr=attr)
        config = paddle.topology.Topology(layer).proto().parameters[0]
        assert (config.initial_mean, config.initial_std) == (mean, std)


def test_a_layer_says_how_large_its_images_are() -> None:
    pooled = paddle.layer.img_pool(image(), pool_size=2, stride=2, num_channels=2)
    assert (pooled.depth, pooled.height, pooled.width, pooled.num_filters) == (1, 3, 3, 2)
    flat = paddle.layer.fc(pooled, size=3)
    assert (flat.depth, flat.height, flat.width, flat.outputs) == (1, 0, 0, ["default"])


def test_a_layer_that_is_no_image_is_named() -> None:
    with pytest.raises(ValueError, match="say how many channels"):
        paddle.layer.img_conv(paddle.layer.fc(image(), size=8), filter_size=3, num_filters=2)
    with pytest.raises(ValueError, match="are no 7 channels"):
        paddle.layer.img_conv(image(), filter_size=3, num_filters=2, num_channels=7)
    with pytest.raises(ValueError, match="fits no 6 pixels"):
        paddle.layer.img_conv(image(), filter_size=9, num_filters=2, num_channels=2)
    with pytest.raises(ValueError, match="fits no 6 pixels"):
        paddle.layer.img_pool(image(), pool_size=8, stride=2, num_channels=2, ceil_mode=True)


def digits(count):
    """Images of 12 x 12 with a bright square in one of four corners: that is the class."""
    for _ in range(count):
        kind, pixels = int(RNG.integers(4)), RNG.normal(size=(12, 12)) * 0.5
        y, x = RNG.integers(0, 3) + 6 * (kind // 2), RNG.integers(0, 3) + 6 * (kind % 2)
        pixels[y : y + 4, x : x + 4] += 1
        yield pixels.ravel().astype(np.float32), kind


def lenet(x):
    first = paddle.networks.simple_img_conv_pool(
        x,
        filter_size=3,
        num_filters=8,
        num_channel=1,
        pool_size=2,
        pool_stride=2,
        act=paddle.activation.Relu(),
    )
    return paddle.networks.simple_img_conv_pool(
        first, filter_size=3, num_filters=16, pool_size=2, pool_stride=2, act=paddle.activation.Relu()
    )


def normalized(x):
    return paddle.networks.img_conv_group(
        x,
        [8, 8],
        pool_size=2,
        num_channels=1,
        pool_stride=2,
        conv_with_batchnorm=True,
        conv_act=paddle.activation.Relu(),
    )


@pytest.mark.parametrize("network", [lenet, normalized])
def test_a_classifier_of_images_learns(network) -> None:
    paddle.init(seed=2)
    x = paddle.layer.data(name="image", type=paddle.data_type.dense_vector(144))
    label = paddle.layer.data(name="label", type=paddle.data_type.integer_value(4))
    output = paddle.layer.fc(network(x), size=4, act=paddle.activation.Softmax())
    cost = paddle.layer.classification_cost(input=output, label=label)
    samples, held = list(digits(600)), list(digits(200))
    trainer = paddle.trainer.SGD(
        cost, paddle.parameters.create(cost), paddle.optimizer.Adam(learning_rate=3e-3)
    )
    trainer.train(paddle.batch(lambda: iter(samples), 50), num_passes=4)
    result = trainer.test(paddle.batch(lambda: iter(held), 50))
    assert result.metrics["classification_error_evaluator"] < 0.15


@pytest.mark.parametrize(("network", "classes"), [("small_vgg", 10), ("vgg_16_network", 5)])
def test_large_networks_have_the_sizes_of_the_original(network, classes) -> None:
    x = paddle.layer.data(name="image", type=paddle.data_type.dense_vector(3 * 32 * 32))
    output = getattr(paddle.networks, network)(x, 3, classes)
    layers = paddle.topology.Topology(output).proto().layers
    pools = [(layer.width, layer.size) for layer in layers if layer.type == "pool"]
    assert pools[:4] == [(16, 64 * 256), (8, 128 * 64), (4, 256 * 16), (2, 512 * 4)]
    assert output.size == classes
