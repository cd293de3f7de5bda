"""Windows, grids, graphs, matrices and what else numpy computes between two plans, each held to numbers."""

from __future__ import annotations

import numpy as np
import pytest

import paddle
from paddle._absent import AbsentName
from paddle._program.errors import BadProgram
from paddle.nn import functional as F  # noqa: N812  as programs call it
from tests.faces.static.feeding import data, ran
from tests.faces.static.slopes import Case, hold

pytestmark = pytest.mark.usefixtures("alone")

RNG = np.random.default_rng(7)
IMAGES = RNG.normal(size=(2, 3, 4, 5))
ROWS = RNG.normal(size=(4, 3))
SQUARE = RNG.normal(size=(2, 3, 3)) + 3 * np.eye(3)
FROM, TO = np.array([0, 1, 2, 0]), np.array([1, 2, 1, 0])
SEGMENTS = np.array([0, 0, 2, 2])


def _columns(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2, 3), (2, 3))[:, :, ::2]
    return windows.transpose(0, 1, 4, 5, 2, 3).reshape(len(x), 18, -1)


def _put_back(x: np.ndarray) -> np.ndarray:
    parts, found = x.reshape(2, 3, 2, 2, 2, 3), np.zeros((2, 3, 3, 4))
    for row, column in np.ndindex(2, 2):
        found[:, :, row : row + 2, column : column + 3] += parts[:, :, row, column]
    return found


def _at(x: np.ndarray, grid: np.ndarray) -> np.ndarray:
    across, down = ((grid[..., axis] + 1) / 2 * (size - 1) for axis, size in ((0, 5), (1, 4)))
    left, top = np.floor(across).astype(int), np.floor(down).astype(int)
    found: np.ndarray = np.zeros((2, 3, *grid.shape[1:3]))
    for n, row, column in np.ndindex(grid.shape[:3]):
        for y, x_at in ((0, 0), (0, 1), (1, 0), (1, 1)):
            here, share = (top[n, row, column] + y, left[n, row, column] + x_at), 1.0
            share *= 1 - abs(down[n, row, column] - here[0])
            share *= 1 - abs(across[n, row, column] - here[1])
            if 0 <= here[0] < 4 and 0 <= here[1] < 5:
                found[n, :, row, column] += share * x[n, :, here[0], here[1]]
    return found


def _received(x: np.ndarray) -> np.ndarray:
    found = np.zeros_like(x)
    np.add.at(found, TO, x[FROM])
    return found


def _largest(x: np.ndarray) -> np.ndarray:
    return np.stack([x[:2].max(0), np.zeros(3), x[2:].max(0)])


def _shifted(x: np.ndarray) -> np.ndarray:
    steps, found = x.reshape(1, 2, *x.shape[1:]), np.zeros((1, 2, *x.shape[1:]))
    found[:, 1:, :1], found[:, :-1, 1:2] = steps[:, :-1, :1], steps[:, 1:, 1:2]
    found[:, :, 2:] = steps[:, :, 2:]
    return found.reshape(x.shape)


SMOOTH: dict[str, Case] = {
    "unfold": (lambda x: F.unfold(x, [2, 3], [2, 1], [1, 0]), _columns, (IMAGES,)),
    "fold": (lambda x: F.fold(x, [3, 4], 2), _put_back, (RNG.normal(size=(2, 12, 6)),)),
    "grid_sample": (F.grid_sample, _at, (IMAGES, RNG.uniform(-0.9, 1.1, (2, 2, 3, 2)))),
    "affine_grid": (
        lambda t: F.affine_grid(t, [2, 3, 2, 3]),
        lambda t: np.einsum(
            "hwk,nck->nhwc",
            np.stack(np.broadcast_arrays(np.linspace(-1, 1, 3), [[-1.0], [1.0]], 1.0), -1),
            t,
        ),
        (RNG.normal(size=(2, 2, 3)),),
    ),
    "temporal_shift": (lambda x: F.temporal_shift(x, 2, 1 / 3), _shifted, (IMAGES,)),
    "temporal_shift of channels that come last": (
        lambda x: F.temporal_shift(x, 2, 0.2, data_format="NHWC"),
        lambda x: _shifted(x.transpose(0, 3, 1, 2)).transpose(0, 2, 3, 1),
        (IMAGES,),
    ),
    "pad reflects": (
        lambda x: F.pad(x, [1, 2, 1, 0], "reflect"),
        lambda x: np.pad(x, ((0, 0), (0, 0), (1, 0), (1, 2)), "reflect"),
        (IMAGES,),
    ),
    "pad goes round": (
        lambda x: F.pad(x, [1, 2, 1, 0], "circular"),
        lambda x: np.pad(x, ((0, 0), (0, 0), (1, 0), (1, 2)), "wrap"),
        (IMAGES,),
    ),
    "pad cuts off": (
        lambda x: F.pad(x, [-1, 0, 1, -1], value=2.0),
        lambda x: np.pad(x[:, :, :-1, 1:], ((0, 0), (0, 0), (1, 0), (0, 0)), constant_values=2.0),
        (IMAGES,),
    ),
    "pad cuts and reflects": (
        lambda x: F.pad(x, [-2, 1, 1, -1], "reflect"),
        lambda x: np.pad(x, ((0, 0), (0, 0), (1, 0), (0, 1)), "reflect")[:, :, :-1, 2:],
        (IMAGES,),
    ),
    "pad cuts and goes round": (
        lambda x: F.pad(x, [-1, 1], "circular", data_format="NLC"),
        lambda x: np.pad(x, ((0, 0), (0, 1), (0, 0)), "wrap")[:, 1:],
        (IMAGES[0],),
    ),
    "pad cuts what it adds": (
        lambda x: F.pad(x, [-5, 4, -7, 6], "replicate"),
        lambda x: np.pad(x, ((0, 0), (0, 0), (0, 6), (0, 4)), "edge")[:, :, 7:, 5:],
        (IMAGES,),
    ),
    "pad by a tensor": (
        lambda x: F.pad(x, paddle.assign(np.array([1, 2, 1, 0])), "replicate"),
        lambda x: np.pad(x, ((0, 0), (0, 0), (1, 0), (1, 2)), "edge"),
        (IMAGES,),
    ),
    "interpolate a line": (
        lambda x: F.interpolate(x, [7], mode="linear", align_corners=True, data_format="NCW"),
        lambda x: np.stack([[np.interp(np.linspace(0, 2, 7), range(3), row[0])] for row in x]),
        (ROWS[:, None],),
    ),
    "send_u_recv": (
        lambda x, a, b: paddle.geometric.send_u_recv(x, a, b),
        lambda x, a, b: _received(x),
        (ROWS, FROM, TO),
    ),
    "send_ue_recv": (
        lambda x, y, a, b: paddle.geometric.send_ue_recv(x, y, a, b, "mul", "sum"),
        lambda x, y, a, b: np.stack([(x[FROM] * y)[at == TO].sum(0) for at in range(4)]),
        (ROWS, ROWS[::-1] * 1, FROM, TO),
    ),
    "segment_max": (
        lambda x, i: paddle.incubate.segment_max(x, i),
        lambda x, i: _largest(x),
        (ROWS, SEGMENTS),
    ),
    "segment_mean": (
        lambda x, i: paddle.geometric.segment_mean(x, i),
        lambda x, i: np.stack([x[:2].mean(0), np.zeros(3), x[2:].mean(0)]),
        (ROWS, SEGMENTS),
    ),
    "inv": (paddle.linalg.inv, np.linalg.inv, (SQUARE,)),
    "det": (paddle.linalg.det, np.linalg.det, (SQUARE,)),
    "slogdet": (paddle.linalg.slogdet, lambda x: np.stack(np.linalg.slogdet(x)), (SQUARE,)),
    "solve": (paddle.linalg.solve, np.linalg.solve, (SQUARE, RNG.normal(size=(2, 3, 2)))),
    "triangular_solve": (
        lambda x, y: paddle.linalg.triangular_solve(x, y, upper=False),
        lambda x, y: np.linalg.solve(np.tril(x), y),
        (SQUARE, RNG.normal(size=(2, 3, 2))),
    ),
    "cholesky": (
        lambda x: paddle.linalg.cholesky(paddle.matmul(x, x, transpose_y=True)),
        lambda x: np.linalg.cholesky(x @ x.swapaxes(1, 2)),
        (SQUARE,),
    ),
    "matrix_power": (
        lambda x: paddle.linalg.matrix_power(x, -2) * 9.0,
        lambda x: np.linalg.matrix_power(x, -2) * 9,
        (SQUARE,),
    ),
}


def test_values_and_slopes_are_those_of_numpy() -> None:
    hold(SMOOTH)


def test_matrices_are_taken_apart() -> None:
    feed: dict[str, np.ndarray] = {}
    (x,) = data((SQUARE,), feed)
    q, r = paddle.linalg.qr(x)
    u, s, v = paddle.linalg.svd(x)
    values, vectors = paddle.linalg.eigh(x + paddle.transpose(x, [0, 2, 1]))
    again = [
        paddle.matmul(q, r),
        paddle.matmul(u * paddle.unsqueeze(s, 1), v),
        paddle.matmul(vectors * paddle.unsqueeze(values, 1), paddle.transpose(vectors, [0, 2, 1])),
        paddle.linalg.pinv(x),
        paddle.linalg.matrix_rank(x),
    ]
    expected = [SQUARE, SQUARE, SQUARE + SQUARE.swapaxes(1, 2), np.linalg.inv(SQUARE), [3, 3]]
    for value, wanted in zip(ran(again, feed), expected, strict=True):
        assert value == pytest.approx(np.asarray(wanted), rel=1e-4, abs=1e-5)
    with pytest.raises(BadProgram, match=r"'inverse' .*has no inverse"):
        ran([paddle.linalg.inv(x - x)], feed)
    with pytest.raises(AbsentName, match=r"paddle\.linalg\.eig is not in this release"):
        _ = paddle.linalg.eig


def test_what_is_pooled_goes_back_to_its_place() -> None:
    feed: dict[str, np.ndarray] = {}
    images = RNG.normal(size=(2, 3, 4, 6)).astype("float32")
    x = paddle.static.data("x", [-1, 3, 4, 6])
    feed["x"] = images
    values, places = F.max_pool2d(x, 2, return_mask=True)
    pooled, back = ran([values, F.max_unpool2d(values, places, 2)], feed)
    blocks = images.reshape(2, 3, 2, 2, 3, 2)
    most = blocks.max((3, 5), keepdims=True)
    assert (pooled == most[:, :, :, 0, :, 0]).all()
    assert (back == np.where(blocks == most, blocks, 0).reshape(images.shape)).all()


def test_what_is_drawn_keeps_what_it_promises() -> None:
    feed: dict[str, np.ndarray] = {}
    (x,) = data((np.repeat([[0.0, 1.0, 2.0]], 3000, 0),), feed)
    hard, soft = F.gumbel_softmax(x, hard=True), F.gumbel_softmax(x, 0.5)
    still = F.alpha_dropout(paddle.full_like(x, 0.0) + paddle.randn([3000, 3]), 0.3)
    leaks = F.rrelu(x - 5.0, 0.1, 0.3)
    chosen, shares, same, leaked = ran([hard, soft, still, leaks], feed)
    assert (np.sort(chosen, 1) == [0, 0, 1]).all()
    expected = np.exp([0.0, 1, 2]) / np.exp([0.0, 1, 2]).sum()
    assert chosen.mean(0) == pytest.approx(expected, abs=0.04)
    assert shares.sum(1) == pytest.approx(np.ones(3000), rel=1e-5)
    assert (same.mean(), same.std()) == pytest.approx((0, 1), abs=0.05)
    slopes = leaked / (feed[x.name] - 5)
    assert slopes.min() >= 0.0999
    assert slopes.max() <= 0.3001
    assert slopes.std() > 0.05
    with pytest.raises(ValueError, match="temperature"):
        F.gumbel_softmax(x, 0)


def test_alignments_cost_what_they_do_by_hand() -> None:
    scores = RNG.normal(size=(3, 1, 3))
    feed: dict[str, np.ndarray] = {}
    (x,) = data((scores,), feed)
    label, three, one = (paddle.assign(np.array(each)) for each in ([[1]], [3], [1]))
    loss = paddle.nn.CTCLoss()(x, paddle.cast(label, "int32"), three, one)
    shares = np.exp(scores[:, 0]) / np.exp(scores[:, 0]).sum(1, keepdims=True)
    ways = [
        (a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1) if (a, b, c) not in ((0, 0, 0), (1, 0, 1))
    ]
    chance = sum(np.prod([shares[at, tag] for at, tag in enumerate(way)]) for way in ways)
    assert ran([loss], feed)[0].item() == pytest.approx(-np.log(chance), rel=1e-4)


def _of_voxels(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each 2 by 2 by 2 voxels the largest, and where it lies."""
    depth, rows, columns = x.shape[2:]
    places = np.arange(depth * rows * columns).reshape(1, 1, depth, rows, columns)
    parts = [
        np.broadcast_to(each, x.shape)
        .reshape(*x.shape[:2], depth // 2, 2, rows // 2, 2, columns // 2, 2)
        .transpose(0, 1, 2, 4, 6, 3, 5, 7)
        .reshape(*x.shape[:2], depth // 2, rows // 2, columns // 2, 8)
        for each in (x, places)
    ]
    at = parts[0].argmax(-1)[..., None]
    values, found = (np.take_along_axis(part, at, -1)[..., 0] for part in parts)
    return values, found


def test_where_the_largest_voxels_lie_and_how_they_are_put_back() -> None:
    given = RNG.permutation(2 * 3 * 4 * 4 * 6).reshape(2, 3, 4, 4, 6) / 10
    (x,) = data((given,), feed := {})
    values, places = F.max_pool3d(x, 2, return_mask=True)
    adapted, where = F.adaptive_max_pool3d(x, (2, 2, 3), return_mask=True)
    back = paddle.nn.MaxUnPool3D(2)(values, places)
    found = ran([values, places, adapted, where, back], feed)
    wanted, at = _of_voxels(given)
    for number, expected in enumerate((wanted, at, wanted, at)):
        np.testing.assert_allclose(found[number], expected, rtol=1e-6)
    put = np.zeros(given.shape).reshape(2, 3, -1)
    np.put_along_axis(put, at.reshape(2, 3, -1), wanted.reshape(2, 3, -1), 2)
    np.testing.assert_allclose(found[4], put.reshape(given.shape), rtol=1e-6)


def test_where_the_largest_of_windows_of_an_axis_and_of_images_lie() -> None:
    line, image = RNG.permutation(24).reshape(2, 2, 6) / 7, RNG.permutation(96).reshape(2, 2, 4, 6) / 7
    x, y = data((line, image), feed := {})
    one = F.adaptive_max_pool1d(x, 3, return_mask=True)
    two = paddle.nn.AdaptiveMaxPool2D((2, 3), return_mask=True)(y)
    found = ran([*one, *two], feed)
    assert found[1].tolist() == (line.reshape(2, 2, 3, 2).argmax(-1) + np.arange(0, 6, 2)).tolist()
    np.testing.assert_allclose(found[0], line.reshape(2, 2, 3, 2).max(-1), rtol=1e-6)
    wanted = np.take_along_axis(image.reshape(2, 2, -1), found[3].reshape(2, 2, -1), 2)
    np.testing.assert_allclose(found[2].reshape(2, 2, -1), wanted, rtol=1e-6)
    np.testing.assert_allclose(found[2], image.reshape(2, 2, 2, 2, 3, 2).max((3, 5)), rtol=1e-6)
