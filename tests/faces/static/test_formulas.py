"""Functions that others make up, each against numpy: values of all in one program, and the slope of all of
them together against the numerical one, with an axis of any size."""

from __future__ import annotations

import numpy as np
import pytest

import paddle
from paddle.nn import functional as F  # noqa: N812  as programs call it
from tests.faces.static.feeding import data, ran
from tests.faces.static.slopes import Case, hold, numerical

pytestmark = pytest.mark.usefixtures("alone")

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=(2, 4, 3))
U = RNG.random((4, 3)) * 0.8 + 0.1
C = RNG.normal(size=(4, 5, 3))
W = RNG.normal(size=(3, 6))
LABELS = np.sign(RNG.normal(size=(4, 3)))
WHOLE = RNG.integers(0, 3, (4, 2))


def _distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.sqrt(np.square(x - y + 1e-6).sum(-1))


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def _stirling(x: np.ndarray) -> np.ndarray:
    return np.where(x > 1, x * np.log(x) - x + np.log(2 * np.pi * x) / 2, 0)


SMOOTH: dict[str, Case] = {
    "expm1": (paddle.expm1, np.expm1, (A,)),
    "expm1 near 0": (paddle.expm1, np.expm1, (A * 1e-4,)),
    "asinh": (paddle.asinh, np.arcsinh, (A,)),
    "acosh": (paddle.acosh, np.arccosh, (U + 1.2,)),
    "atanh": (paddle.atanh, np.arctanh, (U,)),
    "logit": (paddle.logit, lambda x: np.log(x / (1 - x)), (U,)),
    "deg2rad": (paddle.deg2rad, np.deg2rad, (A,)),
    "rad2deg": (lambda x: paddle.rad2deg(x) * 0.01, lambda x: np.rad2deg(x) * 0.01, (A,)),
    "lerp": (lambda x, y: paddle.lerp(x, y, 0.3), lambda x, y: x + 0.3 * (y - x), (A, B)),
    "logaddexp": (paddle.logaddexp, np.logaddexp, (A, B)),
    "hypot": (paddle.hypot, np.hypot, (A, B)),
    "fmax": (paddle.fmax, np.fmax, (A, B)),
    "fmin": (paddle.fmin, np.fmin, (A, B)),
    "frac": (paddle.frac, lambda x: x - np.trunc(x), (A * 2,)),
    "amax": (lambda x: paddle.amax(x, 1), lambda x: x.max(1), (A,)),
    "amin all": (lambda x: paddle.amin(x), lambda x: x.min(), (A,)),
    "median": (lambda x: paddle.median(x, 1), lambda x: np.median(x, 1), (A,)),
    "median even": (lambda x: paddle.median(x, 1, True), lambda x: np.median(x, 1, keepdims=True), (A @ W,)),
    "quantile": (
        lambda x: paddle.quantile(x, [0.3, 1.0], 1),
        lambda x: np.quantile(x, [0.3, 1.0], 1),
        (A,),
    ),
    "kthvalue": (lambda x: paddle.kthvalue(x, 2, 1)[0], lambda x: np.sort(x, 1)[:, 1], (A,)),
    "diff": (lambda x, y: paddle.diff(x, 2, prepend=y), lambda x, y: np.diff(x, 2, prepend=y), (A, B)),
    "inner": (paddle.inner, np.inner, (C, W.T.copy())),
    "outer": (paddle.outer, np.outer, (A[:, 0], B[:, 1])),
    "addmm": (
        lambda i, x, y: paddle.addmm(i, x, y, 0.5, 2.0),
        lambda i, x, y: 0.5 * i + 2 * x @ y,
        (A @ W, B, W),
    ),
    "tensordot": (lambda x, y: paddle.tensordot(x, y, 1), lambda x, y: np.tensordot(x, y, 1), (C, W)),
    "tensordot of two": (
        lambda x, y: paddle.tensordot(x, y, [[1, 2], [1, 2]]),
        lambda x, y: np.tensordot(x, y, [[1, 2], [1, 2]]),
        (C, C + 1),
    ),
    "moveaxis": (
        lambda x: paddle.moveaxis(x, [0, 1], [1, 2]),
        lambda x: np.moveaxis(x, [0, 1], [1, 2]),
        (C,),
    ),
    "repeat_interleave": (
        lambda x: paddle.repeat_interleave(x, 2, 1),
        lambda x: np.repeat(x, 2, 1),
        (C,),
    ),
    "repeat_interleave rows": (
        lambda x: paddle.repeat_interleave(x, 3, 0),
        lambda x: np.repeat(x, 3, 0),
        (C,),
    ),
    "repeat_interleave flat": (lambda x: paddle.repeat_interleave(x, 2), lambda x: np.repeat(x, 2), (A,)),
    "broadcast_tensors": (
        lambda x, y: paddle.broadcast_tensors([x, y])[1],
        lambda x, y: np.broadcast_arrays(x, y)[1] + 0,
        (C, A[:, None]),
    ),
    "diag_embed": (paddle.diag_embed, lambda x: x[..., None] * np.eye(3), (A,)),
    "unflatten": (lambda x: paddle.unflatten(x, 1, [2, 3]), lambda x: x.reshape(4, 2, 3), (A @ W,)),
    "view": (lambda x: paddle.view(x, [-1, 15]), lambda x: x.reshape(4, 15), (C,)),
    "view_as": (lambda x, y: paddle.view_as(x, y), lambda x, y: x.reshape(4, 1, 3), (A, C[:, :1])),
    "clone": (paddle.clone, lambda x: x, (A,)),
    "T": (lambda x: x.T, lambda x: x.T, (C,)),
    "atleast_3d": (paddle.atleast_3d, lambda x: x[..., None], (A,)),
    "nansum": (lambda x: paddle.nansum(x, 1), lambda x: x.sum(1), (A,)),
    "nanmean": (lambda x: paddle.nanmean(x), lambda x: x.mean(), (A,)),
    "pairwise_distance": (F.pairwise_distance, _distance, (A, B)),
    "cosine_embedding_loss": (
        lambda x, y: F.cosine_embedding_loss(x, y, paddle.assign(LABELS[:, 0].astype("float32")), 0.1),
        lambda x, y: np.mean(_cosines(x, y)),
        (A, B),
    ),
    "triplet_margin_loss": (
        lambda x, y, z: F.triplet_margin_loss(x, y, z, margin=2.0, swap=True, reduction="none"),
        lambda x, y, z: np.maximum(_distance(x, y) - np.minimum(_distance(x, z), _distance(y, z)) + 2, 0),
        (A, B, U),
    ),
    "hinge_embedding_loss": (
        lambda x: F.hinge_embedding_loss(x, paddle.assign(LABELS.astype("float32"))),
        lambda x: np.where(LABELS > 0, x, np.maximum(1 - x, 0)).mean(),
        (A,),
    ),
    "soft_margin_loss": (
        lambda x: F.soft_margin_loss(x, paddle.assign(LABELS.astype("float32")), "sum"),
        lambda x: np.log1p(np.exp(-LABELS * x)).sum(),
        (A,),
    ),
    "multi_label_soft_margin_loss": (
        lambda x: F.multi_label_soft_margin_loss(x, paddle.assign((LABELS > 0).astype("float32"))),
        lambda x: np.log1p(np.exp(-LABELS * x)).mean(),
        (A,),
    ),
    "multi_margin_loss": (
        lambda x: F.multi_margin_loss(x, paddle.assign(WHOLE[:, 0]), p=2),
        lambda x: np.mean(
            np.square(np.maximum(1 - x[range(4), WHOLE[:, 0]][:, None] + x, 0))
            * (np.arange(3) != WHOLE[:, :1])
        ),
        (A,),
    ),
    "poisson_nll_loss": (
        lambda x, y: F.poisson_nll_loss(x, y, log_input=False, full=True),
        lambda x, y: (x - y * np.log(x + 1e-8) + _stirling(y)).mean(),
        (U, U[::-1] * 5),
    ),
    "gaussian_nll_loss": (
        lambda x, y, v: F.gaussian_nll_loss(x, y, v, full=True),
        lambda x, y, v: ((np.log(v) + np.square(x - y) / v + np.log(2 * np.pi)) / 2).mean(),
        (A, B, U),
    ),
    "sigmoid_focal_loss": (
        lambda x: F.sigmoid_focal_loss(x, paddle.assign((LABELS > 0).astype("float32"))),
        lambda x: (
            np.where(LABELS > 0, 0.25, 0.75)
            * np.log1p(np.exp(-LABELS * x))
            * np.square(_sigmoid(-LABELS * x))
        ).sum(),
        (A,),
    ),
    "dice_loss": (
        lambda x: F.dice_loss(x, paddle.assign(WHOLE[:, :1])),
        lambda x: np.mean(1 - 2 * x[range(4), WHOLE[:, 0]] / (x.sum(1) + 1 + 1e-5)),
        (U,),
    ),
    "bilinear": (
        F.bilinear,
        lambda x, y, w: np.einsum("bi,oij,bj->bo", x, w, y),
        (A, B, RNG.normal(size=(2, 3, 3))),
    ),
    "celu": (
        lambda x: F.celu(x, 0.7),
        lambda x: np.where(x > 0, x, 0.7 * np.expm1(x / 0.7)),
        (A,),
    ),
    "glu": (F.glu, lambda x: x[:, :3] * _sigmoid(x[:, 3:]), (A @ W,)),
    "sdpa": (
        lambda q, k: F.scaled_dot_product_attention(q, k, k),
        lambda q, k: _attention(q, k),
        (C[:, :, None], C[:, ::-1, None]),
    ),
}


def _cosines(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    cosine = (x * y).sum(1) / np.sqrt(np.square(x).sum(1) * np.square(y).sum(1))
    return np.where(LABELS[:, 0] > 0, 1 - cosine, np.maximum(cosine - 0.1, 0))


def _attention(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(3)
    shares = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    return np.einsum("bhqk,bkhd->bqhd", shares, k)


def test_values_and_slopes_are_those_of_the_formulas() -> None:
    hold(SMOOTH)


EQUATIONS = {
    "bnk,kj->bnj": (C, W),
    "bij,bkj->bik": (C, C[:, :2]),
    "ij->ji": (A,),
    "ij->": (A,),
    "bij->bj": (C,),
    "...d,de->...e": (C, W),
    "...ij,...jk": (C, C.transpose(0, 2, 1)),
    "bij,bij->b": (C, C + 1),
    "i,j->ij": (A[:, 0], W[0]),
    "bi,bj->bij": (A, B),
    "ij,jk": (A, W),
    "bi,bjc->bijc": (A, C),
    "bij,bi->bj": (C, C[:, :, 0]),
    "a,ab,abc->abc": (A[:, 0], A, A[:, :, None] * W[0]),
    "bi,oij,bj->bo": (A, RNG.normal(size=(2, 3, 3)), B),
    "bii->bi": (C[:, :3],),
    "bii,bi->b": (C[:, :3], A),
}


def test_letters_say_which_products() -> None:
    feed: dict[str, np.ndarray] = {}
    given = {name: data(inputs, feed) for name, inputs in EQUATIONS.items()}
    outs = [paddle.einsum(name, *inputs) for name, inputs in given.items()]
    cost = paddle.add_n([paddle.sum(paddle.sin(each)) for each in outs])
    slopes = paddle.static.gradients([cost], [each for those in given.values() for each in those])
    values = ran([*outs, *slopes], feed)
    behind = iter(values[len(outs) :])
    for (name, inputs), value in zip(EQUATIONS.items(), values, strict=False):
        expected = np.einsum(name, *inputs)
        assert value.reshape(expected.shape) == pytest.approx(expected, rel=1e-4, abs=1e-5), name
        for place in range(len(inputs)):
            expected = numerical(lambda *x, name=name: np.einsum(name, *x), inputs, place)
            assert next(behind) == pytest.approx(expected, rel=2e-2, abs=2e-3), name


def test_what_letters_cannot_say_is_said() -> None:
    x = paddle.static.data("x", [3, 3])
    with pytest.raises(ValueError, match="of 2 operands, and there are 1"):
        paddle.einsum("ij,jk->ik", x)
    with pytest.raises(ValueError, match="does not name the axes"):
        paddle.einsum("ijk->i", x)
    with pytest.raises(ValueError, match="'z' stands on the right"):
        paddle.einsum("ij->z", x)
