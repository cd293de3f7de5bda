"""Layers over dense variables: what they give, against numpy, and the shapes and dtypes that they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import erf
from typing import Any

import numpy as np
import pytest

from paddle import fluid

layers = fluid.layers
RNG = np.random.default_rng(4)
X = RNG.uniform(0.1, 0.9, size=(4, 3)).astype(np.float32)
Y = RNG.uniform(0.1, 0.9, size=(4, 3)).astype(np.float32)
C = RNG.uniform(0.1, 0.9, size=(4, 3, 5)).astype(np.float32)
M = RNG.uniform(0.1, 0.9, size=(2, 4, 6, 6)).astype(np.float32)
P, T = X / X.sum(1, keepdims=True), RNG.integers(0, 2, size=(4, 1)).astype(np.float32)
IDS, S = RNG.integers(0, 3, size=(4, 1)), X[:, :1]
LOGS = X - np.log(np.exp(X).sum(1, keepdims=True))
ONE = np.eye(3, dtype=np.float32)[IDS[:, 0]]

Build = Callable[..., Any]
Case = tuple[Build, list[np.ndarray], Callable[[], np.ndarray]]


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    programs = fluid.program_guard(fluid.Program(), fluid.Program())
    with programs, fluid.unique_name.guard(), fluid.scope_guard(fluid.core.Scope()):
        yield


def standard(x: np.ndarray, *axes: int) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


def pooled(reduce: Callable[..., np.ndarray]) -> np.ndarray:
    return reduce(M.reshape(2, 4, 3, 2, 3, 2), axis=(3, 5))


def binary(p: np.ndarray, epsilon: float) -> np.ndarray:
    return -T * np.log(p + epsilon) - (1 - T) * np.log(1 - p + epsilon)


CASES: list[Case] = [
    (lambda x, y: x + y * 2 - 1, [X, Y], lambda: X + 2 * Y - 1),
    (lambda x, y: (1 - x) / (y**2), [X, Y], lambda: (1 - X) / Y**2),
    (lambda x: x[:, 1:], [X], lambda: X[:, 1:]),
    (lambda x: x[:, 0], [C], lambda: C[:, 0]),
    (lambda x, y: x < y, [X, Y], lambda: X < Y),
    (lambda x, y: layers.elementwise_add(x, y, axis=0), [C, X], lambda: C + X[:, :, None]),
    (lambda x, y: layers.elementwise_max(x, y), [X, Y], lambda: np.maximum(X, Y)),
    (lambda x, y: layers.elementwise_mul(x, y, act="relu"), [X, Y], lambda: X * Y),
    (lambda x: layers.scale(x, 2.0, 1.0, bias_after_scale=False), [X], lambda: 2 * (X + 1)),
    (
        lambda x, y: layers.mul(x, y, x_num_col_dims=2),
        [C, C.reshape(5, 12)[:, :2]],
        lambda: C @ C.reshape(5, 12)[:, :2],
    ),
    (
        lambda x, y: layers.matmul(x, y, transpose_y=True, alpha=0.5),
        [C, C],
        lambda: 0.5 * C @ C.swapaxes(1, 2),
    ),
    (lambda x: layers.reduce_sum(x), [C], lambda: np.array([C.sum()])),
    (lambda x: layers.reduce_mean(x, dim=[1, 2]), [C], lambda: C.mean((1, 2))),
    (lambda x: layers.reduce_max(x, dim=-1, keep_dim=True), [C], lambda: C.max(-1, keepdims=True)),
    (lambda x: layers.reduce_prod(x, dim=1), [C], lambda: C.prod(1)),
    (lambda x, y: layers.sums([x, y]), [X, Y], lambda: X + Y),
    (lambda x: layers.cumsum(x, axis=1), [X], lambda: X.cumsum(1)),
    (lambda x: layers.clip(x, 0.3, 0.6), [X], lambda: np.clip(X, 0.3, 0.6)),
    (lambda x: layers.l2_normalize(x, axis=1), [C], lambda: C / np.sqrt((C**2).sum(1, keepdims=True))),
    (lambda x: layers.softmax(x, axis=1), [C], lambda: np.exp(C) / np.exp(C).sum(1, keepdims=True)),
    (
        lambda x: layers.leaky_relu(x - 0.5, alpha=0.1),
        [X],
        lambda: np.where(X > 0.5, X - 0.5, 0.1 * X - 0.05),
    ),
    (lambda x: layers.pow(x, 3.0), [X], lambda: X**3),
    (lambda x: layers.reshape(x, [0, -1]), [C], lambda: C.reshape(4, 15)),
    (lambda x: layers.reshape(x, shape=[-1, 5]), [C], lambda: C.reshape(12, 5)),
    (lambda x: layers.squeeze(layers.unsqueeze(x, [1]), [1]), [X], lambda: X),
    (lambda x: layers.flatten(x, axis=2), [M], lambda: M.reshape(8, 36)),
    (lambda x: layers.transpose(x, [0, 2, 1]), [C], lambda: C.swapaxes(1, 2)),
    (lambda x, y: layers.concat([x, y], axis=1), [X, Y], lambda: np.concatenate([X, Y], 1)),
    (lambda x: layers.split(x, [2, -1], dim=2)[1], [C], lambda: C[:, :, 2:]),
    (lambda x: layers.split(x, 3, dim=1)[2], [C], lambda: C[:, 2:]),
    (lambda x, y: layers.stack([x, y], axis=1), [X, Y], lambda: np.stack([X, Y], 1)),
    (lambda x: layers.unstack(x, axis=1)[1], [C], lambda: C[:, 1]),
    (lambda x: layers.slice(x, [1, 2], [-2, 0], [3, 100]), [C], lambda: C[:, 1:]),
    (lambda x: layers.strided_slice(x, [2], [4], [0], [-2]), [C], lambda: C[:, :, 4:0:-2]),
    (lambda x: layers.expand(x, [1, 2]), [X], lambda: np.tile(X, (1, 2))),
    (lambda x, y: layers.expand_as(x, y), [S, X], lambda: np.tile(S, (1, 3))),
    (
        lambda x: layers.pad(x, [0, 0, 1, 2], 0.5),
        [X],
        lambda: np.pad(X, ((0, 0), (1, 2)), constant_values=0.5),
    ),
    (lambda x: layers.reverse(x, [1]), [X], lambda: X[:, ::-1]),
    (lambda x, i: layers.gather(x, i), [C, IDS], lambda: C[IDS[:, 0]]),
    (lambda x: layers.cast(x * 10, "int32"), [X], lambda: (X * 10).astype(np.int32)),
    (lambda x: layers.shape(x), [C], lambda: np.array([4, 3, 5], np.int32)),
    (lambda i: layers.one_hot(i, 3), [IDS], lambda: ONE),
    (lambda x: layers.topk(x, 2)[0], [X], lambda: np.sort(X, 1)[:, :0:-1]),
    (lambda x: layers.argmax(x, axis=1), [X], lambda: X.argmax(1)),
    (lambda x: layers.argsort(x, axis=0)[1], [X], lambda: X.argsort(0)),
    (lambda x: layers.has_nan(x), [X], lambda: np.array([False])),
    (lambda x: layers.where(x > 0.5), [X], lambda: np.argwhere(X > 0.5)),
    (lambda x: layers.ones_like(x) + layers.zeros([4, 3], "float32"), [X], lambda: np.ones((4, 3))),
    (lambda x: x * layers.fill_constant_batch_size_like(x, [-1, 1], "float32", 2.0), [X], lambda: 2 * X),
    (lambda x: x + layers.assign(np.array([1.0, 2, 3], np.float32)), [X], lambda: X + np.array([1, 2, 3])),
    (lambda p, i: layers.cross_entropy(p, i), [P, IDS], lambda: -np.log((P * ONE).sum(1, keepdims=True))),
    (
        lambda p, q: layers.cross_entropy(p, q, soft_label=True),
        [P, P],
        lambda: -(P * np.log(P)).sum(1, keepdims=True),
    ),
    (
        lambda p, i: layers.cross_entropy(p, i, ignore_index=1),
        [P, IDS],
        lambda: np.where(IDS == 1, 0, -np.log((P * ONE).sum(1, keepdims=True))),
    ),
    (
        lambda x, i: layers.softmax_with_cross_entropy(x, i),
        [X, IDS],
        lambda: -(LOGS * ONE).sum(1, keepdims=True),
    ),
    (
        lambda x, p: layers.softmax_with_cross_entropy(x, p, soft_label=True),
        [X, P],
        lambda: -(LOGS * P).sum(1, keepdims=True),
    ),
    (lambda x, y: layers.square_error_cost(x, y), [X, Y], lambda: (X - Y) ** 2),
    (lambda p, t: layers.log_loss(p, t), [S, T], lambda: binary(S, 1e-4)),
    (
        lambda x, t: layers.sigmoid_cross_entropy_with_logits(x, t),
        [S, T],
        lambda: binary(1 / (1 + np.exp(-S)), 0.0),
    ),
    (lambda x, y: layers.huber_loss(x, y, 5.0), [X, Y], lambda: (X - Y) ** 2 / 2),
    (lambda x, y: layers.smooth_l1(x, y), [X, Y], lambda: ((X - Y) ** 2 / 2).sum(1, keepdims=True)),
    (
        lambda t, a, b: layers.rank_loss(t, a, b),
        [T, S, Y[:, :1]],
        lambda: binary(1 / (1 + np.exp(Y[:, :1] - S)), 0),
    ),
    (
        lambda t, a, b: layers.margin_rank_loss(t, a, b, margin=0.1),
        [T, S, Y[:, :1]],
        lambda: np.maximum(0.1 - T * (S - Y[:, :1]), 0),
    ),
    (
        lambda x, i: layers.bpr_loss(x, i),
        [X, IDS],
        lambda: (np.log1p(np.exp(X - (X * ONE).sum(1, keepdims=True))) * (1 - ONE)).sum(1, keepdims=True) / 2,
    ),
    (lambda p: layers.label_smooth(p, epsilon=0.1), [ONE], lambda: 0.9 * ONE + 0.1 / 3),
    (
        lambda x, y: layers.cos_sim(x, y),
        [X, Y],
        lambda: (X * Y).sum(1, keepdims=True) / np.sqrt((X**2).sum(1) * (Y**2).sum(1))[:, None],
    ),
    (lambda x: layers.pool2d(x, 2, "max", 2), [M], lambda: pooled(np.max)),
    (lambda x: layers.pool2d(x, 2, "avg", 2), [M], lambda: pooled(np.mean)),
    (
        lambda x: layers.pool2d(x, pool_type="avg", global_pooling=True),
        [M],
        lambda: M.mean((2, 3), keepdims=True),
    ),
    (lambda x: layers.adaptive_pool2d(x, 3, "avg"), [M], lambda: pooled(np.mean)),
    (
        lambda x: layers.resize_nearest(x, scale=2.0, align_corners=False),
        [M],
        lambda: M.repeat(2, 2).repeat(2, 3),
    ),
    (lambda x: layers.layer_norm(x), [C], lambda: standard(C, 1, 2)),
    (lambda x: layers.group_norm(x, 2), [M], lambda: standard(M.reshape(2, 2, -1), 2).reshape(M.shape)),
    (lambda x: layers.instance_norm(x, bias_attr=fluid.initializer.Constant(0.5)), [X], lambda: 0 * X + 0.5),
    (lambda x: layers.instance_norm(x), [M], lambda: standard(M, 2, 3)),
    (lambda x: layers.instance_norm(x), [X], lambda: np.zeros_like(X)),  # a channel of one number
    (lambda x: layers.batch_norm(x), [M], lambda: standard(M, 0, 2, 3)),
    (lambda x: layers.prelu(x - 0.5, "all"), [M], lambda: np.where(M > 0.5, M - 0.5, (M - 0.5) / 4)),
    (lambda x: fluid.nets.glu(x), [M], lambda: M[..., :3] / (1 + np.exp(-M[..., 3:]))),
    (lambda x: layers.lrn(x, n=1, k=2.0, alpha=0.5, beta=0.75), [M], lambda: M / (2 + 0.5 * M**2) ** 0.75),
    (
        lambda x, y: layers.bilinear_tensor_product(x, y, 2, param_attr=fluid.initializer.Constant(0.5)),
        [X, Y],
        lambda: 0.5 * np.tile(X.sum(1, keepdims=True) * Y.sum(1, keepdims=True), (1, 2)),
    ),
    (lambda x: layers.size(x), [C], lambda: np.array([60])),
    (
        lambda x: layers.pixel_shuffle(x, 2),
        [M],
        lambda: M.reshape(2, 2, 2, 6, 6).transpose(0, 3, 1, 4, 2).reshape(2, 1, 12, 12),
    ),
    (lambda x: layers.shuffle_channel(x, 2), [M], lambda: M[:, [0, 2, 1, 3]]),
    (lambda x: layers.gelu(x), [X], lambda: X / 2 * (1 + np.vectorize(erf)(X / np.sqrt(2)))),
    (lambda x: layers.maxout(x, 2), [M], lambda: M.reshape(2, 2, 2, 6, 6).max(2)),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_a_layer_gives_what_numpy_does(number: int) -> None:
    build, arrays, twin = CASES[number]
    feed = {f"in{k}": array for k, array in enumerate(arrays)}
    given = [
        layers.data(name=name, shape=list(array.shape[1:]), dtype=array.dtype.name)
        if len(array) == 4 or array is M
        else layers.data(name=name, shape=list(array.shape), dtype="float32", append_batch_size=False)
        for name, array in feed.items()
    ]
    out = build(*given)
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(fluid.default_startup_program())
    (found,) = exe.run(feed=feed, fetch_list=[out])
    np.testing.assert_allclose(found, twin(), rtol=2e-5, atol=2e-6)
    said = out.shape or (1,)
    assert len(said) == found.ndim and all(a in (-1, b) for a, b in zip(said, found.shape, strict=True))
    assert found.dtype.name == {0: "bool", 2: "int32", 3: "int64", 5: "float32"}[int(out.dtype)]


def test_attention_is_a_mean_of_values() -> None:
    x = layers.data(name="x", shape=[3, 4])
    out = fluid.nets.scaled_dot_product_attention(x, x, x, num_heads=1)
    values = RNG.normal(size=(2, 3, 4)).astype(np.float32)
    (found,) = fluid.Executor().run(feed={"x": values}, fetch_list=[out])
    scores = np.exp(values @ values.swapaxes(1, 2) / 2)
    np.testing.assert_allclose(found, scores / scores.sum(2, keepdims=True) @ values, rtol=1e-5)


def test_at_a_bound_nothing_comes_back_and_of_equals_the_second_is_chosen() -> None:
    """As the original's 1.8.5."""
    x, y = (fluid.data(name, [4]) for name in "xy")
    x.stop_gradient = y.stop_gradient = False
    made = [layers.elementwise_max(x, y), layers.elementwise_min(x, y), layers.clip(x, -1.0, 2.0)]
    back = [each for out in made for each in fluid.gradients([layers.reduce_sum(out)], [x, y]) if each]
    feed = {"x": np.array([0, 1, 2, -1], np.float32), "y": np.array([0, 2, 1, -1], np.float32)}
    found = [each.tolist() for each in fluid.Executor().run(feed=feed, fetch_list=back)]
    assert found == [[0, 0, 1, 0], [1, 1, 0, 1], [0, 1, 0, 0], [1, 0, 1, 1], [1, 1, 0, 0]]


def test_random_numbers_are_others_in_every_step_and_as_many_as_the_batch() -> None:
    x = layers.data(name="x", shape=[3])
    drawn = layers.uniform_random_batch_size_like(x, [-1, 2], min=1.0, max=2.0)
    exe = fluid.Executor()
    first, second = (exe.run(feed={"x": X}, fetch_list=[drawn])[0] for _ in range(2))
    assert first.shape == (4, 2)
    assert (first >= 1).all() and (first < 2).all() and (first != second).all()


def test_a_name_that_is_not_built_says_so() -> None:
    with pytest.raises(AttributeError, match="not in this release"):
        layers.BlockGuard  # noqa: B018
