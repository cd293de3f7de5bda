"""Weights that stand in a relation to others: over the greatest stretch that they give, and beside the
centres of classes.

It must never know an operator's block. Guarantee: the stretch is that of the vectors which so many steps
give, and these count as constants where a gradient goes back.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.ops.formulas.formula import Attrs, Formula, Shape


def _as_matrix(told: Attrs, weight: np.ndarray) -> np.ndarray:
    turned = np.moveaxis(weight, int(told["dim"]), 0)
    return turned.reshape(len(turned), -1).astype(np.float64)


def _stretch(
    told: Attrs, weight: np.ndarray, u: np.ndarray, v: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """How far a matrix stretches at most, and the two vectors that say so after so many steps."""
    matrix, eps = _as_matrix(told, weight), float(told["eps"])
    left, right = u.reshape(-1).astype(np.float64), v.reshape(-1).astype(np.float64)
    for _ in range(int(told["power_iters"])):
        right = matrix.T @ left
        right /= np.linalg.norm(right) + eps
        left = matrix @ right
        left /= np.linalg.norm(left) + eps
    return float(left @ matrix @ right), left, right


def _stretched(told: Attrs, weight: np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.asarray(weight / _stretch(told, weight, u, v)[0])


def _stretched_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    weight = arrays[0]
    most, left, right = _stretch(told, *arrays)
    share = float(np.sum(came * weight, dtype=np.float64)) / most**2
    turned = np.moveaxis(weight, int(told["dim"]), 0)
    along = np.moveaxis(np.outer(left, right).reshape(turned.shape), 0, int(told["dim"]))
    return [came / most - share * along, None, None]


def _stretched_shape(told: Attrs, weight: Shape, u: Shape, v: Shape) -> Shape:
    if not 2 <= len(weight) <= 5 or told["dim"] not in (0, 1):
        raise ValueError(
            f"spectral_norm is of a weight of 2 to 5 axes along its axis 0 or 1, not of {list(weight)} along "
            f"{told['dim']}"
        )
    return weight


Formula("spectral_norm", "Weight U V", "Out", _stretched, _stretched_back, _stretched_shape).register(
    dim=0, power_iters=1, eps=1e-12
)


def _beside_centers(
    told: Attrs, x: np.ndarray, label: np.ndarray, centers: np.ndarray, rate: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Half of the squares, how far each sample is from its centre, and the centres, moved towards theirs."""
    chosen = label.reshape(-1).astype(np.int64)
    if chosen.size and not 0 <= int(chosen.min()) <= int(chosen.max()) < len(centers):
        raise ValueError(
            f"labels {int(chosen.min())} to {int(chosen.max())} are not of {len(centers)} classes"
        )
    away, moved = x - centers[chosen], centers
    if told["need_update"]:
        pulls, counts = np.zeros_like(centers), np.ones((len(centers), 1), centers.dtype)
        np.add.at(pulls, chosen, away)
        np.add.at(counts, chosen, 1)
        moved = centers + float(rate.reshape(-1)[0]) * pulls / counts
    return np.square(away).sum(1, keepdims=True) / 2, away, moved


def _beside_centers_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    return [outs[1] * came, None, None, None]


def _beside_centers_shape(told: Attrs, x: Shape, label: Shape, centers: Shape, rate: Shape) -> Any:
    if len(x) != 2 or (x[1] != centers[1] and x[1] >= 0):
        raise ValueError(f"samples of {list(x)} are not beside centres of {list(centers)}")
    return (x[0], 1), x, centers


Formula(
    "center_loss",
    "X Label Centers CenterUpdateRate",
    "Loss SampleCenterDiff CentersOut",
    _beside_centers,
    _beside_centers_back,
    _beside_centers_shape,
).register(cluster_num=1, need_update=True)
