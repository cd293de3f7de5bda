"""Products of arrays: of matrices with something added, of every element with every other one, of the
channels of two images; and how far apart two arrays are.

It must never know an operator's block. Guarantee: where no power has a slope (at 0), the slope is 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.ops.formulas.formula import Attrs, Formula, Shape, broadcast, unbroadcast


def _matrix_shape(told: Attrs, added: Shape, x: Shape, y: Shape) -> Shape:
    if len(x) != 2 or len(y) != 2:
        raise ValueError(f"a product is of two matrices, not of {list(x)} and {list(y)}")
    if x[1] != y[0] and min(x[1], y[0]) >= 0:
        raise ValueError(f"{list(x)} has {x[1]} columns, and {list(y)} has {y[0]} rows")
    found = (x[0], y[1])
    if any(
        wide != size and min(wide, size) >= 0
        for wide, size in zip(broadcast(added, found), found, strict=True)
    ):
        raise ValueError(f"{list(added)} cannot be spread over the product, {list(found)}")
    return found


def _added(told: Attrs, added: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.asarray(told["Beta"] * added + told["Alpha"] * (x @ y))


def _added_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    added, x, y = arrays
    beside = told["Alpha"] * came
    return [unbroadcast(told["Beta"] * came, added.shape), beside @ y.T, x.T @ beside]


Formula("addmm", "Input X Y", "Out", _added, _added_back, _matrix_shape).register(Alpha=1.0, Beta=1.0)


def _padded(x: Shape, y: Shape) -> tuple[Shape, Shape]:
    rank = max(len(x), len(y))
    return (1,) * (rank - len(x)) + tuple(x), (1,) * (rank - len(y)) + tuple(y)


def _blocks_shape(told: Attrs, x: Shape, y: Shape) -> Shape:
    return tuple(-1 if min(a, b) < 0 else a * b for a, b in zip(*_padded(x, y), strict=True))


def _blocks_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x, y = arrays
    wide, block = _padded(x.shape, y.shape)
    rank = len(wide)
    parts = came.reshape([size for both in zip(wide, block, strict=True) for size in both])
    apart = parts.transpose([*range(0, 2 * rank, 2), *range(1, 2 * rank, 2)])
    of_x = np.tensordot(apart, y.reshape(block), rank)
    of_y = np.tensordot(x.reshape(wide), apart, rank)
    return [of_x.reshape(x.shape), of_y.reshape(y.shape)]


Formula("kron", "X Y", "Out", lambda told, x, y: np.kron(x, y), _blocks_back, _blocks_shape).register()


def _channels_shape(told: Attrs, x: Shape, y: Shape) -> Shape:
    if len(x) != 4 or len(y) != 4:
        raise ValueError(f"images are (n, channels, height, width), not {list(x)} and {list(y)}")
    if any(a != b and min(a, b) >= 0 for a, b in zip(x[2:], y[2:], strict=True)):
        raise ValueError(f"images of {list(x)} and {list(y)} are not of one height and width")
    return (x[0], x[1], y[1])


def _lined(x: np.ndarray) -> np.ndarray:
    return x.reshape(*x.shape[:2], -1)


def _channels(told: Attrs, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    lines = _lined(x)
    return np.asarray(lines @ _lined(y).transpose(0, 2, 1) / lines.shape[2])


def _channels_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x, y = arrays
    share = came / np.prod(x.shape[2:])
    return [(share @ _lined(y)).reshape(x.shape), (share.transpose(0, 2, 1) @ _lined(x)).reshape(y.shape)]


Formula("fsp", "X Y", "Out", _channels, _channels_back, _channels_shape).register()


def _apart(told: Attrs, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    size, p = np.abs(x.astype(np.float64) - y), float(told["p"])
    if p == 0:
        return np.array([np.count_nonzero(size)], np.float64)
    if np.isinf(p):
        return np.array([size.max() if p > 0 else size.min()])
    return np.array([np.sum(size**p) ** (1 / p)])


def _apart_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x, y = arrays
    way, p = x.astype(np.float64) - y, float(told["p"])
    size, whole = np.abs(way), float(_apart(told, x, y)[0])
    with np.errstate(all="ignore"):
        if p == 0:
            steep = np.zeros_like(size)
        elif np.isinf(p):
            steep = (size == whole).astype(np.float64)
        else:
            steep = np.where(size > 0, (size / whole) ** (p - 1), 0)
    slope = np.sign(way) * steep * came
    return [unbroadcast(slope, x.shape), unbroadcast(-slope, y.shape)]


def _one(told: Attrs, x: Shape, y: Shape) -> Shape:
    broadcast(x, y)
    return (1,)


Formula("dist", "X Y", "Out", _apart, _apart_back, _one).register(p=2.0)


def _alike(told: Attrs, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.array([np.allclose(x, y, float(told["rtol"]), float(told["atol"]), bool(told["equal_nan"]))])


Formula("allclose", "Input Other", "Out", _alike, shape=_one, dtypes={"Out": "bool"}).register(
    rtol=1e-5, atol=1e-8, equal_nan=False
)
