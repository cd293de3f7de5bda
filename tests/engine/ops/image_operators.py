"""Cases of operators of images whose zeros are told for each side, or by name; with twins."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..passes.case import Case
from .box_operators import BOXES

RNG = np.random.default_rng(29)
IMAGES, FILTERS = RNG.normal(size=(2, 2, 5, 6)), RNG.normal(size=(3, 2, 3, 2))
KERNELS = RNG.normal(size=(2, 3, 3, 2))
SIDES = ((1, 2), (0, 1))
SAME = ((1, 1), (0, 1))  # of a window 3 x 2, and steps of 2 and 1, over 5 x 6
TOLD = {"strides": (2, 1), "paddings": (1, 2, 0, 1)}
NAMED = {"strides": (2, 1), "paddings": "SAME"}
ROW = RNG.normal(size=(5, 4))


def framed(around: tuple[tuple[int, int], ...], fill: float = 0.0) -> np.ndarray:
    return np.pad(IMAGES, ((0, 0), (0, 0), *around), constant_values=fill)


def convolved(around: tuple[tuple[int, int], ...]) -> np.ndarray:
    image = framed(around)
    tall, wide = (image.shape[2] - 3) // 2 + 1, image.shape[3] - 1
    out = np.empty((2, 3, tall, wide))
    for i, j in np.ndindex(tall, wide):
        out[:, :, i, j] = np.einsum("ncyx,fcyx->nf", image[:, :, 2 * i : 2 * i + 3, j : j + 2], FILTERS)
    return out


def transposed(around: tuple[tuple[int, int], ...]) -> np.ndarray:
    whole = np.zeros((2, 3, 11, 7))
    for i, j in np.ndindex(5, 6):
        whole[:, :, 2 * i : 2 * i + 3, j : j + 2] += np.einsum("nc,cfyx->nfyx", IMAGES[:, :, i, j], KERNELS)
    (above, below), (left, right) = around
    return whole[:, :, above : 11 - below, left : 7 - right]


def pooled(around: tuple[tuple[int, int], ...], of: Any, fill: float) -> np.ndarray:
    image = framed(around, fill)
    tall, wide = (image.shape[2] - 3) // 2 + 1, image.shape[3] - 1
    out = np.empty((2, 2, tall, wide))
    for i, j in np.ndindex(tall, wide):
        out[:, :, i, j] = of(image[:, :, 2 * i : 2 * i + 3, j : j + 2], axis=(2, 3))
    return out


def parts(tall: int, wide: int) -> np.ndarray:
    out = np.empty((2, 2, tall, wide))
    for i, j in np.ndindex(tall, wide):
        y, bottom = i * 5 // tall, int(np.ceil((i + 1) * 5 / tall))
        x, right = j * 6 // wide, int(np.ceil((j + 1) * 6 / wide))
        out[:, :, i, j] = IMAGES[:, :, y:bottom, x:right].max((2, 3))
    return out


def summed(around: tuple[tuple[int, int], ...]) -> np.ndarray:
    return pooled(around, np.mean, 0.0)


def beyond(of: Any, fill: float) -> np.ndarray:
    """The last row of windows, and the last two columns, see nothing."""
    found = pooled(FAR, of, fill)
    found[:, :, 3], found[..., 6:] = 0, 0
    return found


def one_place() -> np.ndarray:
    """What filters larger than the image, by less than a step, see of it."""
    return np.einsum("ncyx,fcyx->nf", IMAGES[:, :, :2, :1], FILTERS[:, :, :2, :1])[..., None, None]


def mean_seen(window: np.ndarray, axis: tuple[int, int]) -> np.ndarray:
    mean: np.ndarray = np.nansum(window, axis) / np.maximum((~np.isnan(window)).sum(axis), 1)
    return mean


POOL = {"ksize": (3, 2)}
FAR = ((0, 4), (0, 3))
APART = {"strides": (2, 2)}
LARGER = {"ksize": (6, 8), "strides": (3, 3)}
STICKS_OUT = {"ksize": (6, 8), "strides": (2, 2), "ceil_mode": True}
BEYOND = {"strides": (2, 1), "paddings": (0, 4, 0, 3)}
PICTURES = [
    *BOXES,
    Case("conv2d", {"X": IMAGES, "Filter": FILTERS}, lambda: convolved(SIDES), TOLD),
    Case("conv2d", {"X": IMAGES, "Filter": FILTERS}, lambda: convolved(SAME), NAMED),
    Case("conv2d_transpose", {"X": IMAGES, "Filter": KERNELS}, lambda: transposed(SIDES), TOLD),
    Case("conv2d_transpose", {"X": IMAGES, "Filter": KERNELS}, lambda: transposed(SAME), NAMED),
    Case("max_pool2d", {"X": IMAGES}, lambda: pooled(SIDES, np.max, -9), {**POOL, **TOLD}),
    Case("max_pool2d", {"X": IMAGES}, lambda: pooled(SAME, np.max, -9), {**POOL, **NAMED}),
    Case("average_pool2d", {"X": IMAGES}, lambda: pooled(SIDES, np.nanmean, np.nan), {**POOL, **TOLD}),
    Case("average_pool2d", {"X": IMAGES}, lambda: summed(SAME), {**POOL, **NAMED, "exclusive": False}),
    Case("max_pool2d", {"X": IMAGES}, lambda: beyond(np.max, -9), {**POOL, **BEYOND}),
    Case("average_pool2d", {"X": IMAGES}, lambda: beyond(mean_seen, np.nan), {**POOL, **BEYOND}),
    Case("conv2d", {"X": IMAGES[:, :, :2, :1], "Filter": FILTERS}, one_place, APART),
    Case("max_pool2d", {"X": IMAGES}, lambda: parts(1, 1), LARGER),
    Case("average_pool2d", {"X": IMAGES}, lambda: IMAGES.mean((2, 3), keepdims=True), LARGER),
    Case("max_pool2d", {"X": IMAGES}, lambda: parts(1, 1), STICKS_OUT),
    Case("adaptive_max_pool2d", {"X": IMAGES}, lambda: parts(2, 4), {"size": (2, 4)}),
    Case("adaptive_max_pool2d", {"X": IMAGES}, lambda: parts(7, 3), {"size": (7, 3)}),
    Case("squared_l2_norm", {"X": ROW}, lambda: np.array([(ROW**2).sum()])),
    Case("clip_by_norm", {"X": ROW, "Squares": np.array([16.0])}, lambda: ROW / 2, {"max_norm": 2.0}),
    Case("clip_by_norm", {"X": ROW, "Squares": np.array([4.0])}, lambda: ROW, {"max_norm": 3.0}),
]
PICTURES_WRONG = [
    ("conv2d", {"X": IMAGES[:, :, :1], "Filter": FILTERS}, {"paddings": (0, 1, 0, 0)}, "does not fit"),
    ("max_pool2d", {"X": IMAGES}, {"ksize": (7, 2), "strides": (2, 1)}, "7 by steps of 2 does not fit 5"),
    ("max_pool2d", {"X": IMAGES}, {**STICKS_OUT, "ksize": (6, 10)}, "10 by steps of 2 does not fit 6"),
    ("adaptive_max_pool2d", {"X": IMAGES}, {"size": (0, 2)}, "one part or more"),
]
