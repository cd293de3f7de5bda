"""Layers over the channels of images, against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

import paddle.v2 as paddle

RNG = np.random.default_rng(10)
IMAGES = RNG.normal(size=(3, 4, 5, 6)).astype(np.float32)
L = paddle.layer


def image():
    """A convolution that changes nothing, so that its layer knows its channels."""
    data = L.data(name="image", type=paddle.data_type.dense_vector(120), height=5, width=6)
    return L.img_pool(data, pool_size=1, num_channels=4)


def said(output):
    parameters = paddle.parameters.create(output)
    rows = [(each.ravel(),) for each in IMAGES]
    return paddle.infer(output_layer=output, parameters=parameters, input=rows)


def pyramid(level):
    """Windows so large that there are 2**level of them on each side, zeros evenly around."""
    tall, wide = -(-5 // 2**level), -(-6 // 2**level)
    above, left = (tall * 2**level - 5 + 1) // 2, (wide * 2**level - 6 + 1) // 2
    padded = np.full((3, 4, tall * 2**level + 9, wide * 2**level + 9), -np.inf)
    padded[:, :, above : above + 5, left : left + 6] = IMAGES
    windows = [
        padded[:, :, i * tall : (i + 1) * tall, j * wide : (j + 1) * wide].max((2, 3))
        for i in range(2**level)
        for j in range(2**level)
    ]
    return np.stack(windows, 2).reshape(3, -1)


def normalized():
    near = np.stack([(IMAGES[:, max(0, c - 1) : c + 2] ** 2).sum(1) for c in range(4)], 1)
    return IMAGES / (1 + 0.5 / 3 * near) ** 0.75


def blocks(above, left, places, step, size):
    """What a block of ``size`` sees of images with zeros around them, an element for each of its places."""
    padded = np.zeros((3, 4, 20, 20))
    padded[:, :, above : above + 5, left : left + 6] = IMAGES
    seen = [
        padded[:, :, y * step[0] : y * step[0] + size[0], x * step[1] : x * step[1] + size[1]].reshape(3, -1)
        for y in range(places[0])
        for x in range(places[1])
    ]
    return np.stack(seen, 1)


CASES = {
    "img_cmrnorm": (lambda: L.img_cmrnorm(image(), size=3, scale=0.5), normalized()),
    "maxout": (lambda: L.maxout(image(), groups=2), IMAGES.reshape(3, 2, 2, 5, 6).max(2)),
    "pad": (
        lambda: L.pad(image(), pad_c=[1, 0], pad_h=[0, 2], pad_w=[1, 1]),
        np.pad(IMAGES, ((0, 0), (1, 0), (0, 2), (1, 1))),
    ),
    "crop": (lambda: L.crop(image(), offset=[1, 2], shape=[3, 2]), IMAGES[:, :, 1:4, 2:4]),
    "crop of channels": (
        lambda: L.crop(image(), axis=1, offset=[1, 0, 3], shape=[2, 5, 3]),
        IMAGES[:, 1:3, :, 3:],
    ),
    "rotate": (lambda: L.rotate(image(), height=5, width=6), np.rot90(IMAGES, -1, (2, 3))),
    "spp": (lambda: L.spp(image(), pyramid_height=2), np.concatenate([pyramid(0), pyramid(1)], 1)),
    "bilinear_interp": (
        lambda: L.bilinear_interp(image(), out_size_x=6, out_size_y=9),
        np.stack([IMAGES[:, :, (i // 2) : (i // 2) + 1 + i % 2].mean(2) for i in range(9)], 2),
    ),
    "conv_projection": (
        lambda: L.concat([L.conv_projection(image(), filter_size=1, num_filters=2, param_attr=ones())]),
        np.repeat(IMAGES.sum(1, keepdims=True), 2, 1),
    ),
}


def ones():
    return paddle.attr.Param(initial_mean=1.0, initial_std=0.0)


@pytest.mark.parametrize("name", CASES)
def test_maps_are_what_numpy_says(name) -> None:
    make, expected = CASES[name]
    output = make()
    np.testing.assert_allclose(said(output), expected.reshape(3, -1), rtol=1e-4, atol=1e-5)
    assert output.size == expected[0].size


def test_sizes_go_on_to_the_layer_behind() -> None:
    padded = L.pad(image(), pad_h=[1, 1], pad_w=[1, 0])
    cropped = L.crop([padded, image()], offset=[1, 1])
    seen = L.img_conv(cropped, filter_size=3, num_filters=2, padding=1)
    assert (padded.config.height, padded.config.width, seen.size) == (7, 7, 60)


def test_what_does_not_fit_is_named() -> None:
    for use, says in (
        (lambda: L.maxout(image(), groups=3), "not a multiple of groups"),
        (lambda: L.pad(image(), pad_h=[1]), "before, behind"),
        (lambda: L.crop(image(), offset=[4, 4], shape=[3, 3]), "can be cut out of"),
        (lambda: L.spp(image()), "how many levels"),
        (lambda: L.rotate(image(), height=7, width=6), "images of 7 x 6"),
        (lambda: L.bilinear_interp(image()), "how large the image becomes"),
    ):
        with pytest.raises(ValueError, match=says):
            use()


@pytest.mark.parametrize(
    "given, seen",
    [
        ({"block_x": 1, "block_y": 5, "stride_x": 1, "stride_y": 1}, blocks(0, 0, (1, 6), (1, 1), (5, 1))),
        ({"block_x": 1, "block_y": 11, "stride_x": 1, "stride_y": 1}, blocks(0, 0, (1, 6), (1, 1), (11, 1))),
        (
            {"block_x": 3, "block_y": 2, "stride_x": 2, "stride_y": 3, "padding_x": 2, "padding_y": 1},
            blocks(1, 2, (3, 5), (3, 2), (2, 3)),
        ),
    ],
    ids=["columns", "higher than the image", "with zeros, beyond the image"],
)
def test_an_image_becomes_a_sequence_of_what_a_block_sees(given, seen) -> None:
    sequence = L.block_expand(image(), **given)
    np.testing.assert_allclose(said(sequence), seen.reshape(-1, seen.shape[2]), rtol=1e-5)
    greatest = L.pooling(L.block_expand(image(), **given), pooling_type=paddle.pooling.Max())
    np.testing.assert_allclose(said(greatest), seen.max(1), rtol=1e-5)
