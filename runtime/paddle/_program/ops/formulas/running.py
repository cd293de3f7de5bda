"""What runs along an axis: products and extremes of all up to each element, sums of exponentials.

It must never know an operator's block. Guarantee: of several extremes that are equal the last one counts, and
has the slope; a product's slope is right where elements are 0, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.description.dtypes import VarType
from paddle._program.ops.formulas.formula import Attrs, Formula, flat


def _reversed_sums(x: np.ndarray, axis: int) -> np.ndarray:
    return np.flip(np.cumsum(np.flip(x, axis), axis), axis)


def _products_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    """By each element's product of those before it, and what comes behind: no division, so 0 is no matter."""
    x, axis = np.moveaxis(arrays[0].astype(np.float64), told["dim"], 0), told["dim"]
    slope = np.moveaxis(came.astype(np.float64), axis, 0)
    before = np.ones_like(x)
    before[1:] = np.cumprod(x[:-1], 0)
    behind, found = np.zeros_like(x[0]), np.empty_like(x)
    for at in range(len(x) - 1, -1, -1):
        behind = slope[at] + (x[at + 1] * behind if at + 1 < len(x) else 0)
        found[at] = before[at] * behind
    return [np.moveaxis(found, 0, axis)]


Formula(
    "cumprod",
    "X",
    "Out",
    lambda told, x: np.cumprod(x, told["dim"]),
    _products_back,
).register(dim=0)


def _log_sums(told: Attrs, x: np.ndarray) -> np.ndarray:
    values, axis = (x.reshape(-1), 0) if told["flatten"] else (x, told["axis"])
    ordered = np.flip(values, axis) if told["reverse"] else values
    found = np.logaddexp.accumulate(ordered.astype(np.float64), axis)
    if told["exclusive"]:
        found = np.moveaxis(found, axis, 0)
        found = np.moveaxis(np.concatenate([np.full_like(found[:1], -np.inf), found[:-1]]), 0, axis)
    return np.flip(found, axis) if told["reverse"] else found


def _log_sums_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x, out, axis = arrays[0].astype(np.float64), outs[0].astype(np.float64), told["axis"]
    if told["flatten"]:
        x, axis = x.reshape(-1), 0
    slope = came.astype(np.float64).reshape(x.shape)
    x, out, slope = (np.moveaxis(each, axis, 0) for each in (x, out.reshape(x.shape), slope))
    if told["reverse"]:
        x, out, slope = x[::-1], out[::-1], slope[::-1]
    found = np.empty_like(x)
    for at in range(len(x)):
        first = at + 1 if told["exclusive"] else at
        found[at] = (slope[first:] * np.exp(x[at] - out[first:])).sum(0)
    found = np.moveaxis(found[::-1] if told["reverse"] else found, 0, axis)
    return [found.reshape(arrays[0].shape)]


Formula(
    "logcumsumexp",
    "X",
    "Out",
    _log_sums,
    _log_sums_back,
    lambda told, x: (flat(x),) if told["flatten"] else x,
).register(axis=-1, flatten=False, exclusive=False, reverse=False)


def _extremes(is_better: Any) -> Any:
    def value(told: Attrs, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        along = np.moveaxis(x, told["axis"], 0)
        places, best = np.zeros(along.shape, np.int64), along.copy()
        for at in range(1, len(along)):
            takes = is_better(along[at], best[at - 1]) | np.isnan(along[at])
            best[at] = np.where(takes, along[at], best[at - 1])
            places[at] = np.where(takes, at, places[at - 1])
        return np.moveaxis(best, 0, told["axis"]), np.moveaxis(places, 0, told["axis"])

    return value


def _extremes_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    found, places = np.zeros_like(arrays[0]), np.asarray(outs[1]).astype(np.int64)
    grid = list(np.indices(places.shape, sparse=True))
    grid[told["axis"]] = places
    np.add.at(found, tuple(grid), came)
    return [found]


for _type, _better in (("cummax", np.greater_equal), ("cummin", np.less_equal)):
    Formula(
        _type,
        "x",
        "out indices",
        _extremes(_better),
        _extremes_back,
        dtypes={"indices": lambda op: op.attr("dtype")},
    ).register(axis=-1, dtype=int(VarType.INT64))
