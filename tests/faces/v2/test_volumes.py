"""Images of three dimensions in v2: sizes, what layers compute, and that what they learn is the slope."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import paddle.v2 as paddle

RNG = np.random.default_rng(23)
SHAPE = (2, 4, 5, 6)
LINEAR = paddle.activation.Linear()


def volume(depth: int | None = 4) -> paddle.layer.LayerOutput:
    type = paddle.data_type.dense_vector(2 * 4 * 5 * 6)
    return paddle.layer.data(name="volume", type=type, height=5, width=6, depth=depth)


def shown(output: paddle.layer.LayerOutput) -> tuple[np.ndarray, np.ndarray, paddle.parameters.Parameters]:
    parameters = paddle.parameters.create(output)
    rows = RNG.normal(size=(3, *SHAPE)).astype(np.float32)
    found = paddle.infer(output_layer=output, parameters=parameters, input=[(row.ravel(),) for row in rows])
    return rows, found, parameters


def windows(x: np.ndarray, size: tuple[int, int, int], fill: float = 0.0, behind: int = 1) -> np.ndarray:
    """Of volumes with one voxel around: (samples, channels, places..., window...)."""
    around = np.pad(x, ((0, 0), (0, 0), *((1, behind),) * 3), constant_values=fill)
    return sliding_window_view(around, size, (2, 3, 4))


def test_a_convolution_goes_over_planes_and_along_the_depth() -> None:
    layer = paddle.layer.img_conv3d(
        volume(),
        filter_size=(2, 3, 2),
        num_filters=4,
        num_channels=2,
        stride=(1, 2, 1),
        padding=1,
        name="c",
        act=LINEAR,
    )
    x, found, parameters = shown(layer)
    assert parameters.get_shape("_c.w0") == (1, 4 * 2 * 2 * 3 * 2)
    assert parameters.get_shape("_c.wbias") == (4, 1)
    assert (layer.config.depth, layer.config.height, layer.config.width, layer.num_filters) == (5, 3, 7, 4)
    weights = parameters["_c.w0"].reshape(4, 2, 2, 3, 2)
    assert weights.std() == pytest.approx((2 / (2 * 2 * 2)) ** 0.5, rel=0.5)
    expected = np.einsum("ncdhwzyx,fczyx->nfdhw", windows(x, (2, 3, 2))[:, :, :, ::2], weights)
    np.testing.assert_allclose(found, expected.reshape(3, -1), rtol=1e-4, atol=1e-5)


def test_groups_and_a_bias_of_each_column() -> None:
    layer = paddle.layer.img_conv3d(
        volume(), 3, 4, num_channels=2, groups=2, padding=1, shared_biases=False, name="g", act=LINEAR
    )
    parameters = paddle.parameters.create(layer)
    assert parameters.get_shape("_g.wbias") == (layer.size, 1)
    bias = RNG.normal(size=(layer.size, 1)).astype(np.float32)
    parameters["_g.wbias"] = bias
    x = RNG.normal(size=SHAPE).astype(np.float32)
    found = paddle.infer(layer, parameters, [(x.ravel(),)])
    weights = parameters["_g.w0"].reshape(2, 2, 3, 3, 3)
    seen = windows(x[None], (3, 3, 3))[0]
    expected = np.concatenate([np.einsum("dhwzyx,fzyx->fdhw", seen[g], weights[g]) for g in range(2)])
    np.testing.assert_allclose(found[0], expected.ravel() + bias[:, 0], rtol=1e-4, atol=1e-5)


def test_the_way_back_lays_filters_down() -> None:
    layer = paddle.layer.img_conv3d(
        volume(), 3, 2, num_channels=2, stride=2, padding=1, trans=True, bias_attr=False, name="t", act=LINEAR
    )
    assert (layer.config.depth, layer.config.height, layer.config.width) == (7, 9, 11)
    x, found, parameters = shown(layer)
    weights = parameters["_t.w0"].reshape(2, 3, 3, 3, 2)  # filters, window, channels
    whole = np.zeros((3, 2, 9, 11, 13))
    for d, i, j in np.ndindex(4, 5, 6):
        piece = np.einsum("nc,fzyxc->nfzyx", x[:, :, d, i, j], weights)
        whole[:, :, 2 * d : 2 * d + 3, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3] += piece
    expected = whole[:, :, 1:-1, 1:-1, 1:-1]
    np.testing.assert_allclose(found, expected.reshape(3, -1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [paddle.pooling.Max(), paddle.pooling.Avg()], ids=["max", "avg"])
def test_pooling_takes_voxels_alone_and_a_last_place_that_sticks_out(kind) -> None:
    layer = paddle.layer.img_pool3d(
        volume(), 3, num_channels=2, pool_type=kind, stride=2, padding=1, name="p"
    )
    x, found, _ = shown(layer)
    assert (layer.config.depth, layer.config.height, layer.config.width) == (3, 3, 4)
    seen = windows(x, (3, 3, 3), np.nan, behind=2)[:, :, ::2, ::2, ::2][:, :, :3, :3, :4]
    best = np.nanmax if isinstance(kind, paddle.pooling.Max) else np.nanmean
    np.testing.assert_allclose(found, best(seen, axis=(5, 6, 7)).reshape(3, -1), rtol=1e-5, atol=1e-6)
    floor = paddle.layer.img_pool3d(volume(), 3, num_channels=2, stride=2, padding=1, ceil_mode=False)
    assert (floor.config.depth, floor.config.height, floor.config.width) == (2, 3, 3)


def network() -> paddle.layer.LayerOutput:
    seen = paddle.layer.img_conv3d(volume(), 3, 3, num_channels=2, padding=1, name="a", act=LINEAR)
    even = paddle.layer.batch_norm(seen, img3D=True, act=paddle.activation.Tanh(), name="n")
    assert even.config.depth == 4
    small = paddle.layer.img_pool3d(even, 2, stride=2, pool_type=paddle.pooling.Avg())
    wide = paddle.layer.img_conv3d(small, 3, 3, stride=2, trans=True, name="b", act=LINEAR)
    label = paddle.layer.data(name="label", type=paddle.data_type.dense_vector(1))
    return paddle.layer.square_error_cost(paddle.layer.fc(wide, size=1, act=LINEAR, name="f"), label)


def test_gradients_are_the_slopes_of_the_cost() -> None:
    cost, seen = network(), []
    parameters = paddle.parameters.create(cost)
    rows = [(RNG.normal(size=240).astype(np.float32), RNG.normal(size=1)) for _ in range(5)]
    held = paddle.optimizer.Momentum(momentum=0.0, learning_rate=0.0)
    trainer = paddle.trainer.SGD(cost, parameters, held)
    names = ["_a.w0", "_a.wbias", "_b.w0", "_b.wbias", "_n.w0"]

    def look(event: object) -> None:
        if isinstance(event, paddle.event.EndIteration):
            seen.append((event.cost, {name: parameters.get_grad(name) for name in names}))

    def at(name: str, place: tuple[int, ...], by: float) -> float:
        moved = parameters[name]
        moved[place] += by
        parameters[name] = moved
        trainer.train(paddle.batch(lambda: iter(rows), 5), event_handler=look)
        moved[place] -= by
        parameters[name] = moved
        return seen[-1][0] * 5

    trainer.train(paddle.batch(lambda: iter(rows), 5), event_handler=look)
    slopes = seen[0][1]
    for name in names[2:]:  # a bias before a batch norm has none
        place = np.unravel_index(np.abs(slopes[name]).argmax(), slopes[name].shape)
        found = (at(name, place, 5e-3) - at(name, place, -5e-3)) / 1e-2
        assert slopes[name][place] == pytest.approx(found, rel=2e-2), name
    assert np.abs(slopes["_a.w0"]).max() > 0
    place = np.unravel_index(np.abs(slopes["_a.w0"]).argmax(), slopes["_a.w0"].shape)
    found = (at("_a.w0", place, 5e-3) - at("_a.w0", place, -5e-3)) / 1e-2
    assert slopes["_a.w0"][place] == pytest.approx(found, rel=5e-2)


WRONG = [
    (
        lambda: paddle.layer.img_conv3d(volume(None), 3, 4, num_channels=2),
        "no 2 channels of 1 x 5 x 6 voxels",
    ),
    (lambda: paddle.layer.img_conv3d(paddle.layer.fc(volume(), 8), 3, 4), "say how many channels"),
    (lambda: paddle.layer.img_conv3d(volume(), (3, 3), 4, num_channels=2), "are not three numbers"),
    (lambda: paddle.layer.img_conv3d(volume(), 7, 4, num_channels=2), "a window of 7 by steps of 1 fits no"),
    (lambda: paddle.layer.img_conv3d(volume(), 3, 3, num_channels=2, groups=2), "3 filters in 2 groups"),
    (lambda: paddle.layer.img_conv3d(volume(), 3, 3, layer_type="deconv3d"), "layer_type is 'conv3d'"),
    (
        lambda: paddle.layer.img_pool3d(volume(), 2, num_channels=2, pool_type=paddle.pooling.Sum()),
        "pooled by Max or Avg",
    ),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG, ids=[said for _, said in WRONG])
def test_what_does_not_fit_is_said_where_it_is_written(wrong, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wrong()
