"""Layers of volumes, against numpy; their gradients, against central differences of the whole program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import paddle.fluid as fluid

from ..numeric import assert_gradients

layers = fluid.layers
X = np.random.default_rng(12).normal(size=(2, 4, 5, 4, 6)).astype(np.float32)
WINDOW, STEPS, ZEROS = (2, 3, 2), (2, 1, 2), (1, 1, 0)


def volume() -> Any:
    return fluid.data("x", [None, *X.shape[1:]])


def computed(out: Any, given: np.ndarray = X) -> np.ndarray:
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    return exe.run(feed={"x": given}, fetch_list=[out])[0]


def windows(of: Callable[[np.ndarray], np.ndarray], fill: float) -> np.ndarray:
    """What ``of`` makes of each window, (samples, channels, depth, height, width)."""
    sides = [(zeros, zeros) for zeros in ZEROS]
    padded = np.pad(X.astype(np.float64), [(0, 0), (0, 0), *sides], constant_values=fill)
    counts = [
        (size - side) // step + 1 for size, side, step in zip(padded.shape[2:], WINDOW, STEPS, strict=True)
    ]
    found: Any = np.empty(counts, dtype=object)
    for at in np.ndindex(*counts):
        cut = [slice(i * step, i * step + side) for i, step, side in zip(at, STEPS, WINDOW, strict=True)]
        found[at] = of(padded[(slice(None), slice(None), *cut)])
    lines = [[[found[i, j, k] for k in range(counts[2])] for j in range(counts[1])] for i in range(counts[0])]
    return np.moveaxis(np.array(lines), (0, 1, 2), (2, 3, 4))


def weights(name: str = "w") -> np.ndarray:
    return np.array(fluid.global_scope().find_var(name).get_tensor()).astype(np.float64)


MOVING = {"stride": STEPS, "padding": ZEROS}


def test_a_filter_sees_each_window_of_its_group() -> None:
    out = layers.conv3d(volume(), 6, WINDOW, **MOVING, groups=2, param_attr="w", bias_attr=False)
    found = computed(out)
    halves = []
    for group in range(2):
        part = weights()[3 * group : 3 * group + 3]

        def seen(cut: np.ndarray, part: np.ndarray = part, group: int = group) -> np.ndarray:
            return np.einsum("nczyx,fczyx->nf", cut[:, 2 * group : 2 * group + 2], part)

        halves.append(windows(seen, 0.0))
    wanted = np.concatenate(halves, 1)
    assert tuple(out.shape)[1:] == wanted.shape[1:]
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_planes_apart_are_seen_and_those_between_are_not() -> None:
    out = layers.conv3d(volume(), 1, 2, dilation=(3, 2, 4), param_attr="w", bias_attr=False)
    found = computed(out)
    wanted = sum(
        np.einsum(
            "ncdhw,c->ndhw",
            X[:, :, 3 * z : 3 * z + 2, 2 * y : 2 * y + 2, 4 * v : 4 * v + 2],
            weights()[0, :, z, y, v],
        )
        for z, y, v in np.ndindex(2, 2, 2)
    )
    np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("told", "of", "fill"),
    [
        ({"pool_type": "max"}, lambda cut: cut.max((2, 3, 4)), -9.0),
        ({"pool_type": "avg"}, lambda cut: np.nanmean(cut, (2, 3, 4)), np.nan),
        ({"pool_type": "avg", "exclusive": False}, lambda cut: cut.mean((2, 3, 4)), 0.0),
    ],
)
def test_windows_are_pooled(told: Any, of: Any, fill: float) -> None:
    out = layers.pool3d(volume(), WINDOW, pool_stride=STEPS, pool_padding=ZEROS, **told)
    np.testing.assert_allclose(computed(out), windows(of, fill), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("kind", "of"), [("max", np.max), ("avg", np.mean)])
def test_parts_and_wholes_are_pooled(kind: str, of: Any) -> None:
    x = volume()
    whole, parts = (
        layers.pool3d(x, pool_type=kind, global_pooling=True),
        layers.adaptive_pool3d(x, (2, 3, 4), kind),
    )
    np.testing.assert_allclose(computed(whole)[..., 0, 0, 0], of(X, axis=(2, 3, 4)), rtol=1e-5)
    found = computed(parts)
    for i, j, k in np.ndindex(2, 3, 4):
        ends = [
            (at * size // n, -(-(at + 1) * size // n)) for at, size, n in ((i, 5, 2), (j, 4, 3), (k, 6, 4))
        ]
        cut = X[(slice(None), slice(None), *(slice(*each) for each in ends))]
        np.testing.assert_allclose(found[:, :, i, j, k], of(cut, axis=(2, 3, 4)), rtol=1e-5)


def _weighed(array: np.ndarray) -> float:
    return float((array * np.cos(np.arange(array.size)).reshape(array.shape)).sum())


@pytest.mark.parametrize(
    ("size", "shape", "sums"),
    [
        ((2, 3, 4), (2, 3, 2, 3, 4), (-0.28199, 70.728, -16.37492)),
        ((1, 1, 1), (2, 3, 1, 1, 1), (-0.16844, 6.087, 2.10674)),
        (3, (2, 3, 3, 3, 3), (-0.38654, 234.835, -3.37255)),
        ((5, 6, 7), (2, 3, 5, 6, 7), (7.66125, 130.47, -5.55477)),
    ],
)
def test_maxima_and_which_voxels_they_are_as_the_original_has_them(
    size: Any, shape: tuple[int, ...], sums: tuple[float, ...]
) -> None:
    """Against numbers of 1.8.5, of voxels (many are equal) and of the slope of the cubes of maxima."""
    given = (np.arange(2 * 3 * 5 * 6 * 7) % 13 / 7.0 - 1).astype(np.float32).reshape(2, 3, 5, 6, 7)
    x = fluid.data("x", [None, *given.shape[1:]])
    x.stop_gradient = False
    out, voxels = layers.adaptive_pool3d(x, size, require_index=True)
    (slope,) = fluid.gradients([layers.reduce_sum(out * out * out)], [x])
    assert fluid.default_main_program().global_block().ops[0].type == "max_pool3d_with_index"
    exe = fluid.Executor()
    found = exe.run(feed={"x": given}, fetch_list=[out, voxels, slope])
    assert found[0].shape == found[1].shape == shape and found[1].dtype == np.int32
    np.testing.assert_allclose([_weighed(each) for each in found], sums, rtol=1e-4, atol=1e-3)
    picked = np.take_along_axis(given.reshape(2, 3, -1), found[1].reshape(2, 3, -1).astype(np.int64), 2)
    np.testing.assert_array_equal(picked, found[0].reshape(2, 3, -1))


@pytest.mark.parametrize("is_global", [False, True])
def test_a_program_may_ask_which_voxels_of_windows_are_the_greatest(is_global: bool) -> None:
    """No layer of 1.8 writes the operator so; programs that were saved may hold it."""
    x, block = volume(), fluid.default_main_program().global_block()
    out, voxels = block.create_var("out", dtype="float32"), block.create_var("voxels", dtype="int32")
    told = {"ksize": WINDOW, "strides": STEPS, "paddings": ZEROS, "global_pooling": is_global}
    block.append_op("max_pool3d_with_index", {"X": x}, {"Out": out, "Mask": voxels}, told)
    greatest, where = fluid.Executor().run(feed={"x": X}, fetch_list=[out, voxels])
    whole = X.max((2, 3, 4), keepdims=True)
    expected = whole if is_global else windows(lambda cut: cut.max((2, 3, 4)), -np.inf)
    np.testing.assert_allclose(greatest, expected, rtol=1e-6)
    picked = np.take_along_axis(X.reshape(2, 4, -1), where.reshape(2, 4, -1).astype(np.int64), 2)
    np.testing.assert_array_equal(picked, greatest.reshape(2, 4, -1))


def test_a_transpose_gives_each_voxel_to_all_that_it_is_seen_from() -> None:
    told: Any = {"stride": (2, 1, 3), "padding": (1, 0, 1), "dilation": (1, 2, 1), "bias_attr": False}
    out = layers.conv3d_transpose(volume(), 3, filter_size=(2, 2, 3), param_attr="w", **told)
    found, kernel = computed(out), weights()
    whole = np.zeros((2, 3, 10, 6, 18))
    for z, y, v in np.ndindex(2, 2, 3):
        given = np.einsum("ncdhw,cf->nfdhw", X, kernel[:, :, z, y, v])
        whole[:, :, z : z + 9 : 2, 2 * y : 2 * y + 4, v : v + 16 : 3] += given
    np.testing.assert_allclose(found, whole[:, :, 1:9, :, 1:17], rtol=1e-4, atol=1e-5)


def test_an_output_size_says_where_steps_leave_it_open() -> None:
    x = volume()
    told: Any = {"stride": 2, "padding": 1}
    for size in ([9, 7, 11], [10, 8, 12]):
        assert list(layers.conv3d_transpose(x, 3, size, filter_size=3, **told).shape)[2:] == size
    assert list(layers.conv3d_transpose(x, 3, [10, 8, 12], **told).shape)[2:] == [10, 8, 12]
    with pytest.raises(ValueError, match="11 is not one of the depths from 9 on that fit"):
        layers.conv3d_transpose(x, 3, [11, 8, 12], filter_size=3, **told)


def test_channels_may_be_last() -> None:
    first, last = volume(), fluid.data("last", [None, 5, 4, 6, 4])
    told: Any = {"param_attr": "w", "bias_attr": "b", "act": "tanh", "padding": "SAME", "stride": 2}
    outs = [layers.conv3d(first, 3, 3, **told), layers.conv3d(last, 3, 3, **told, data_format="NDHWC")]
    outs += [
        layers.pool3d(first, 2, pool_stride=2),
        layers.pool3d(last, 2, pool_stride=2, data_format="NDHWC"),
    ]
    exe = fluid.Executor()
    exe.run(fluid.default_startup_program())
    found = exe.run(feed={"x": X, "last": np.moveaxis(X, 1, 4)}, fetch_list=outs)
    for one, other in (found[:2], found[2:]):
        np.testing.assert_allclose(one, np.moveaxis(other, 4, 1), rtol=1e-5, atol=1e-6)


def test_gradients_are_slopes() -> None:
    small = X[:1, :2, :3, :3, :4].copy()

    def build() -> Any:
        x = fluid.data("x", [None, *small.shape[1:]])
        hidden = layers.conv3d(x, 2, 2, padding=[1, 0, 0, 1, 1, 0], stride=(1, 2, 1), act="tanh")
        hidden = layers.pool3d(hidden, 2, "avg", pool_stride=1, pool_padding=1)
        hidden = layers.conv3d_transpose(hidden, 2, filter_size=2, stride=2, act="tanh")
        return layers.mean(layers.square(layers.adaptive_pool3d(hidden, (2, 1, 3), "avg")))

    names = [f"{layer}_0.{part}_0" for layer in ("conv3d", "conv3d_transpose") for part in ("b", "w")]
    assert_gradients(build, {"x": small}, sorted(names))


def test_of_equal_voxels_the_first_has_the_gradient_of_a_maximum() -> None:
    x = volume()
    x.stop_gradient = False
    cost = layers.reduce_sum(layers.pool3d(x, 2, "max", pool_stride=2))
    (slope,) = fluid.gradients(cost, x)
    found = computed(slope, np.zeros_like(X))
    wanted = np.zeros_like(X)
    wanted[:, :, :4:2, ::2, ::2] = 1
    np.testing.assert_array_equal(found, wanted)


def test_sizes_may_be_open() -> None:
    x = fluid.data("x", [None, 4, None, None, None])
    told: Any = {"param_attr": fluid.initializer.Constant(0.1)}
    hidden = layers.pool3d(layers.conv3d(x, 2, 3, padding=1, **told), 2, "max", 2)
    out = layers.conv3d_transpose(hidden, 2, filter_size=2, stride=2, **told)
    assert tuple(out.shape) == (-1, 2, -1, -1, -1)
    for depth in (5, 4):
        assert computed(out, X[:, :, :depth].copy()).shape == (2, 2, 4, 4, 6)


def test_data_that_is_said_to_have_a_gradient_has_one() -> None:
    x = volume()
    x.stop_gradient = False
    cost = layers.reduce_sum(layers.pool3d(layers.conv3d(x, 2, 1), 2, "max", pool_stride=2))
    fluid.optimizer.SGD(0.1).minimize(cost)
    assert computed("x@GRAD").shape == X.shape


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda x: layers.conv3d(x, 5, 3, groups=2), "4 channels and 5 filters are not 2 equal groups"),
        (lambda x: layers.conv3d(x, 2, 6), "operator 'conv3d': filters .* do not fit"),
        (lambda x: layers.conv3d(x, 2, (3, 3)), "filter_size is one number or three"),
        (lambda x: layers.conv3d(x, 2, 3, padding=[1, 1]), "one number, three, or six"),
        (lambda x: layers.pool3d(x), "pool_size is told unless global_pooling"),
        (lambda x: layers.pool3d(x, 2, data_format="NCHW"), "data_format is 'NCDHW' or 'NDHWC'"),
        (lambda x: layers.conv3d_transpose(x, 2), "tell output_size or filter_size"),
        (lambda x: layers.adaptive_pool3d(x, 2, "avg", require_index=True), "a mean stands at no index"),
        (lambda x: layers.conv3d(fluid.data("y", [None, 2, 5]), 2, 2), "conv3d: input has 5 axes"),
    ],
)
def test_what_is_no_volume_is_refused(write: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write(volume())
