"""Cases that give attributes a second value, where other tables have one: so that none is passed over."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from ..passes.case import Case
from .book_operators import (
    COLUMN,
    CTC,
    LABEL,
    LEAVES,
    OFFSETS,
    PATHS,
    RANKED,
    SAMPLES,
    alignments,
    noise_contrast,
    shares_of_gain,
    turns,
)
from .book_operators import POSITIVE as SCORES
from .box_operators import IMAGES as SEEN
from .box_operators import LOSS, REGIONS, SMALL, found, greatest, loss
from .dense_operators import KERNELS, UNEVEN, transposed
from .dense_operators import MAPS as SMALL_MAPS
from .first_sequence_operators import RUNS
from .sequence_operators import SAID
from .tally_operators import KEPT
from .tally_operators import SEEN as SHOWN
from .tally_operators import normalized as counted

RNG = np.random.default_rng(67)
X, Y = RNG.normal(size=(5, 4)), RNG.normal(size=(5, 4))
POSITIVE = RNG.uniform(0.5, 2.0, size=(5, 4))
CUBE, MAPS = RNG.normal(size=(2, 3, 4)), RNG.normal(size=(2, 6, 3, 4))
ONE, ROW = X[:1], RNG.normal(size=(1, 4))
CHANNELS = {slot: RNG.uniform(0.5, 1.5, size=(1, 4)) for slot in ("Scale", "Bias", "Mean", "Variance")}
TOLD = {"Momentum": np.array([0.3])}
FOUR_EACH = RNG.normal(size=(3, 18 * 4)) * 2
SPARSE = {"Ids": np.array([5, 0, 5, 2]), "Amounts": X[0], "Starts": np.array([0, 3, 3, 4])}
PLACES = np.array([[[[0, 3], [8, 11]], [[2, 5], [1, 14]]], [[[7, 1], [13, 4]], [[6, 9], [10, 12]]]])
CHUNKS = {  # how many are right of those that are said PaddlePaddle 1.8 says, too
    "X": np.array([[2], [0], [1], [1], [4], [3], [3], [2], [0]]),
    "Label": np.array([[2], [0], [1], [3], [4], [3], [1], [2], [0]]),
    "Offsets": np.array([0, 4, 4, 9]),
}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def bent(threshold: float) -> np.ndarray:
    """What stands for log(1 + exp(x)): beyond the threshold x, and as far below 0 exp(x)."""
    inner: np.ndarray = np.where(np.abs(X) < threshold, np.log1p(np.exp(X)), np.where(X > 0, X, np.exp(X)))
    return inner


def near(n: int) -> np.ndarray:
    """The squares of each channel and of its neighbours, fewer of them before it than behind."""
    before = (n - 1) // 2
    sums = [(MAPS[:, max(0, c - before) : c - before + n] ** 2).sum(1) for c in range(MAPS.shape[1])]
    return np.stack(sums, 1)


def normalized(epsilon: float) -> np.ndarray:
    shares = (X - X.mean(0)) / np.sqrt(X.var(0) + epsilon)
    return shares * CHANNELS["Scale"] + CHANNELS["Bias"]


def windows(start: int, length: int, padding: np.ndarray | None = None) -> np.ndarray:
    """Rows beyond a sequence are zeros, or those of the padding: first those before it, then those behind."""
    before, zeros, rows = max(0, -start), np.zeros((8, 4)), []
    outside = zeros if padding is None else padding
    for run in RUNS:
        framed = [*outside[:before], *X[run], *outside[before:], *zeros]
        first = range(before + start, before + start + run.stop - run.start)
        rows += [np.concatenate(framed[k : k + length]) for k in first]
    return np.array(rows)


def standing() -> np.ndarray:
    """One size in 3 x 1 cells of an image of 30 x 10 pixels."""
    ends = [[-2, y - 3, 12, y + 3] for y in (5, 15, 25)]
    rows = [[*np.clip(np.divide(each, (10, 30, 10, 30)), 0, 1), 0.2, 0.3, 0.4, 0.5] for each in ends]
    return np.array([np.concatenate(rows)])


def put_back() -> np.ndarray:
    out = np.zeros((2, 2, 15))
    for n, c, i, j in product(range(2), repeat=4):
        out[n, c, PLACES[n, c, i, j]] = SMALL[n, c, i, j]
    return out.reshape(2, 2, 3, 5)


def scaled() -> np.ndarray:
    out = SEEN.copy()
    out[0, 0:2, 1:4, 2:6] *= 0.25
    return out


def distances() -> np.ndarray:
    """Windows of three ids, 7 behind the end."""
    rows = [[*SAID[run, 0], 7, 7] for run in RUNS]
    return np.array([row[k : k + 3] for row in rows for k in range(len(row) - 2)])


def simple(type: str, x: np.ndarray, out: np.ndarray, **attrs: Any) -> Case:
    return Case(type, {"X": x}, lambda: out, attrs)


BENT = [
    simple("clip", X, np.clip(X, -1.1, 0.1), min=-1.1, max=0.1),
    simple("elu", X, np.where(X > 0, X, 1.3 * np.expm1(X)), alpha=1.3),
    simple("hard_shrink", X, np.where(np.abs(X) > 0.9, X, 0), threshold=0.9),
    simple("leaky_relu", X, np.maximum(X, 0.3 * X), alpha=0.3),
    simple("pow", POSITIVE, POSITIVE**0.5, factor=0.5),
    simple("softshrink", X, np.sign(X) * np.maximum(np.abs(X) - 0.9, 0), **{"lambda": 0.9}),
    simple("swish", X, X * sigmoid(0.7 * X), beta=0.7),
    simple("thresholded_relu", X, np.where(X > 0.9, X, 0), threshold=0.9),
]
ATTRIBUTES = [
    *BENT,
    Case("batch_norm", {"X": ONE, **CHANNELS}, lambda: ONE, {"passes_one": True}),
    Case("batch_norm_told", {"X": ONE, **CHANNELS, **TOLD}, lambda: ONE, {"passes_one": True}),
    Case("batch_norm_told", {"X": X, **CHANNELS, **TOLD}, lambda: normalized(0.5), {"epsilon": 0.5}),
    Case(
        "conv2d_transpose",
        {"X": SMALL_MAPS, "Filter": KERNELS},
        lambda: transposed(6),
        {**UNEVEN, "output_padding": (1, 0)},
    ),
    *(
        Case(
            type,
            inputs,
            lambda: sigmoid(np.clip(X, -0.4, 0.6)),
            {**attrs, "x_min": -0.4, "x_max": 0.6},
            False,
        )
        for type, inputs, attrs in (
            ("sigmoid", {"X": X}, {}),
            ("bias_activation", {"X": X, "Bias": 0 * ROW}, {"act": "sigmoid"}),
        )
    ),
    Case("ctc", CTC, lambda: alignments(False), {"blank": 2, "norm_by_times": True}, False),
    Case("data_norm", {"X": SHOWN, **KEPT}, lambda: counted(SHOWN), {"epsilon": 0.5}, False),
    simple("dropout", X, X, dropout_prob=0.0),
    Case("mish", {"X": X}, lambda: X * np.tanh(bent(0.5)), {"threshold": 0.5}, False),
    Case("clip_error", {"X": X}, lambda: X, {"min": -90.0, "max": 80.0}),
    Case(
        "cos_sim",
        {"X": X, "Y": Y},
        lambda: (X * Y).sum(1, keepdims=True) / np.sqrt((X**2).sum(1) * (Y**2).sum(1))[:, None],
    ),
    simple("dropout", X, X * 0.6, dropout_prob=0.4, is_test=True),
    simple("dropout", X, X, is_test=True, dropout_implementation="upscale_in_train"),
    simple("expand", COLUMN, np.tile(COLUMN, (1, 2)), shape=(5, 2)),
    Case("lambda_rank", RANKED, lambda: shares_of_gain(1), {"ndcg_num": 1}, has_slope=False),
    Case("lambda_rank", RANKED, lambda: shares_of_gain(), {"max_sort_size": 2}, has_slope=False),
    *(
        simple("lrn", MAPS, MAPS * (1 + alpha * near(n)) ** -beta, n=n, alpha=alpha, beta=beta)
        for n, alpha, beta in ((3, 0.2, 0.5), (5, 1e-4, 1.25), (1, 2.0, 2.0))
    ),
    simple("maxout", MAPS, MAPS.reshape(2, 3, 2, 3, 4).max(2), groups=2),
    Case(
        "multibox_loss",
        {**LOSS, "Conf": FOUR_EACH},
        lambda: loss(FOUR_EACH, 4, background_id=3),
        {"num_classes": 4, "background_id": 3},
    ),
    Case(
        "nce_cost",
        {"X": SCORES, "Samples": SAMPLES},
        lambda: noise_contrast((1 / 7,) * 7),
        {"num_classes": 7},
    ),
    Case(
        "path_cost",
        {"X": PATHS[:4, :2], "Label": LEAVES[:4]},
        lambda: turns(PATHS[:4, :2], LEAVES[:4], 4),
        {"num_classes": 4},
    ),
    simple("reduce_min", X, np.array([X.min()])),
    Case(
        "region_max",
        {"X": SEEN, "Regions": REGIONS},
        lambda: greatest((1, 2), 0.25),
        {"cells": (1, 2), "scale": 0.25},
    ),
    simple("repeat", ROW, np.tile(ROW, (2, 1)), axis=0, times=2),
    Case("reshape_by", {"X": CUBE, "Like": [X]}, lambda: CUBE.reshape(4, 6), {"sizes": ((0, 1), 6)}),
    simple("reverse", CUBE, CUBE[::-1], axis=0),
    Case(
        "scale_piece",
        {"X": SEEN, "Bounds": np.array([[1, 2, 2, 4, 3, 6], [1, 0, 1, 1, 1, 1]], np.float64)},
        scaled,
        {"value": 0.25},
    ),
    *(
        Case(
            "sequence_window",
            {"X": X, "Offsets": OFFSETS},
            lambda start=start, length=length: windows(start, length),
            {"start": start, "length": length},
        )
        for start, length in ((0, 2), (-2, 2), (1, 1), (-3, 5))
    ),
    *(
        Case(
            "sequence_window_padded",
            {"X": X, "Offsets": OFFSETS, "Padding": padding},
            lambda start=start, length=length, padding=padding: windows(start, length, padding),
            {"start": start, "length": length},
        )
        for start, length, padding in ((0, 2, Y[:1]), (-2, 3, Y[:2]), (-1, 4, Y[:3]))
    ),
    simple("slice", CUBE, CUBE[:, :, 1:3], axes=(2,), starts=(1,), ends=(3,)),
    simple("tile", COLUMN, np.tile(COLUMN, (1, 3)), times=(1, 3)),
    simple("top_k", X, np.sort(X, 1)[:, :0:-1], k=3),
    simple("transpose", X, X.T, axis=(1, 0)),
    Case("unpool", {"X": SMALL, "Places": PLACES}, put_back, {"size": (3, 5)}),
    simple("unsqueeze", X, X[None], axes=(0,)),
]

ATTRIBUTES_OTHERS = [
    Case("cast", {"X": LABEL}, lambda: LABEL.astype(np.float32), {"dtype": "float32"}),
    *(
        Case(
            "chunk_eval",
            CHUNKS,
            lambda ratio=ratio: np.array([ratio]),
            {"scheme": scheme, "types": types, "excluded": excluded},
        )
        for scheme, types, excluded, ratio in (
            ("IOB", 2, (), 3 / 5),
            ("IOB", 2, (1,), 1 / 2),
            ("IOB", 2, (0,), 2 / 3),
            ("IOE", 2, (), 5 / 7),
            ("IOBES", 2, (), 4 / 7),
            ("plain", 4, (), 4 / 6),
            ("plain", 4, (3,), 4 / 5),
            ("plain", 4, (0, 1), 2 / 3),
        )
    ),
    Case(
        "class_path",
        {"Label": LEAVES[:4]},
        lambda: np.array([[1, 0], [1, 0], [2, 0], [2, 0]]),
        {"num_classes": 4},
    ),
    simple("clip_by_value", X, np.clip(X, -0.1, 1.0), min=-0.1, max=1.0),
    Case(
        "detection_output",
        {"Loc": LOSS["Loc"], "Conf": FOUR_EACH, "Priors": LOSS["Priors"]},
        lambda: found(6, 0.3, 0.2, 8, FOUR_EACH, (0, 2, 3)),
        {
            **{"num_classes": 4, "background_id": 1, "nms_threshold": 0.3, "nms_top_k": 8},
            **{"keep_top_k": 6, "confidence_threshold": 0.2},
        },
    ),
    simple("fill_any_like", X, np.full_like(X, -1.5), value=-1.5),
    simple("fill_constant_batch_size_like", X, np.full((5, 2), 3), shape=(-1, 2), value=3, dtype="int64"),
    simple("one_hot", LABEL, np.eye(7)[LABEL], depth=7),
    Case(
        "prior_boxes",
        {},
        standing,
        {"grid": (3, 1), "image": (30, 10), "sizes": ((14, 6),), "variances": (0.2, 0.3, 0.4, 0.5)},
    ),
    Case(
        "sequence_enumerate",
        {"X": SAID, "Offsets": OFFSETS},
        distances,
        {"win_size": 3, "pad_value": 7},
    ),
    Case(
        "sequence_mask",
        {"X": np.array([[1], [0]]), "Places": np.arange(2)},
        lambda: np.array([[[1, 0]], [[0, 0]]]),
        {"dtype": "int64"},
    ),
    Case(
        "sparse_spread",
        SPARSE,
        lambda: np.array([[X[0, 1], 0, 0, 0, 0, X[0, 0] + X[0, 2], 0], [0] * 7, [0, 0, X[0, 3], 0, 0, 0, 0]]),
        {"width": 7},
    ),
]
