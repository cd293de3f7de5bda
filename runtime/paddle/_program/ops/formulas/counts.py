"""How often, and where in an order: tallies of whole numbers, of ranges, of what is most, or follows.

It must never know an operator's block. Guarantee: places and counts are whole numbers, and no gradient goes
through them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.description.dtypes import VarType, is_float
from paddle._program.ops.formulas.formula import Attrs, Formula, Shape, broadcast


def _search(told: Attrs, ordered: np.ndarray, values: np.ndarray) -> np.ndarray:
    side: Any = "right" if told["right"] else "left"
    if ordered.ndim == 1:
        return np.asarray(np.searchsorted(ordered, values, side))
    if ordered.shape[:-1] != values.shape[:-1]:
        raise ValueError(
            f"{list(ordered.shape)} and {list(values.shape)} differ in more than their last axes"
        )
    lines = ordered.reshape(-1, ordered.shape[-1]), values.reshape(-1, values.shape[-1])
    rows = [np.searchsorted(line, each, side) for line, each in zip(*lines, strict=True)]
    return np.array(rows, np.int64).reshape(values.shape)


Formula(
    "searchsorted",
    "SortedSequence Values",
    "Out",
    _search,
    shape=lambda told, ordered, values: values,
    dtypes={"Out": lambda op: VarType.INT32 if op.attr("out_int32") else VarType.INT64},
).register(out_int32=False, right=False)


def _tally(told: Attrs, x: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    if x.ndim != 1:
        raise ValueError(f"bincount counts a line of numbers, not {list(x.shape)}")
    return np.bincount(x.astype(np.int64), weights, int(told["minlength"]))


def _tally_dtype(op: Any) -> Any:
    """A count, or a sum of weights: in float64, where these are whole."""
    if not op.inputs.get("Weights"):
        return VarType.INT64
    weights = op.block._var_recursive(op.input("Weights")[0]).dtype
    return weights if is_float(weights) else VarType.FP64


Formula(
    "bincount",
    "X Weights?",
    "Out",
    _tally,
    shape=lambda told, x, weights: (-1,),
    dtypes={"Out": _tally_dtype},
).register(minlength=0)


def _ranges(told: Attrs, x: np.ndarray) -> np.ndarray:
    low, high = float(told["min"]), float(told["max"])
    if low == high == 0:
        low, high = (float(x.min()), float(x.max())) if x.size else (0.0, 0.0)
    if high < low:
        raise ValueError(f"max of histogram is not below min: {high} and {low}")
    if low == high:
        low, high = low - 1, high + 1
    return np.histogram(x, int(told["bins"]), (low, high))[0]


Formula(
    "histogram",
    "X",
    "Out",
    _ranges,
    shape=lambda told, x: (int(told["bins"]),),
    dtypes={"Out": VarType.INT64},
).register(bins=100, min=0, max=0)


def without(shape: Shape, axis: int, keep: bool) -> Shape:
    """A shape when ``axis`` is measured."""
    axis %= len(shape)
    return tuple(1 if at == axis else size for at, size in enumerate(shape) if keep or at != axis)


def _most(told: Attrs, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of several that occur as often the smallest; where it is last."""
    axis = told["axis"] % x.ndim
    lines = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis])
    values, places = np.empty(len(lines), x.dtype), np.empty(len(lines), np.int64)
    for at, line in enumerate(lines):
        different, counts = np.unique(line, return_counts=True)
        values[at] = different[np.argmax(counts)]
        places[at] = np.flatnonzero(line == values[at])[-1]
    shape = without(x.shape, axis, bool(told["keepdim"]))
    return values.reshape(shape), places.reshape(shape)


def _chosen_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x, axis = arrays[0], told["axis"] % arrays[0].ndim
    found = np.zeros_like(x)
    shape = without(x.shape, axis, keep=True)
    np.put_along_axis(found, np.asarray(outs[1], np.int64).reshape(shape), came.reshape(shape), axis)
    return [found]


Formula(
    "mode",
    "X",
    "Out Indices",
    _most,
    _chosen_back,
    lambda told, x: (without(x, told["axis"], bool(told["keepdim"])),) * 2,
    {"Indices": VarType.INT64},
).register(axis=-1, keepdim=False)


def _runs(told: Attrs, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    along = np.moveaxis(x, told["axis"][0], 0) if told["axis"] else x.reshape(-1)
    differs = np.ones(len(along), bool)
    differs[1:] = (along[1:] != along[:-1]).reshape(len(along) - 1, -1).any(1) if len(along) > 1 else True
    starts = np.flatnonzero(differs)
    kept = np.moveaxis(along[starts], 0, told["axis"][0]) if told["axis"] else along[starts]
    return kept, np.cumsum(differs) - 1, np.diff(np.append(starts, len(along)))


def _runs_shape(told: Attrs, x: Shape) -> tuple[Shape, Shape, Shape]:
    if not told["axis"]:
        size = -1 if any(each < 0 for each in x) else int(np.prod(x))
        return (-1,), (size,), (-1,)
    axis = told["axis"][0] % len(x)
    return (*x[:axis], -1, *x[axis + 1 :]), (x[axis],), (-1,)


Formula(
    "unique_consecutive",
    "X",
    "Out Index Counts",
    _runs,
    shape=_runs_shape,
    dtypes={"Index": lambda op: op.attr("dtype"), "Counts": lambda op: op.attr("dtype")},
).register(axis=(), return_inverse=False, return_counts=False, dtype=int(VarType.INT64))


def _repeated_shape(told: Attrs, x: Shape, repeats: Shape) -> Shape:
    axis = told["dim"] % len(x)
    return (*x[:axis], -1, *x[axis + 1 :])


def _repeated_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x, repeats = arrays
    found = np.zeros_like(np.moveaxis(x, told["dim"], 0))
    places = np.repeat(np.arange(len(found)), repeats.astype(np.int64))
    np.add.at(found, places, np.moveaxis(came, told["dim"], 0))
    return [np.moveaxis(found, 0, told["dim"]), None]


Formula(
    "repeat_interleave",
    "X RepeatsTensor",
    "Out",
    lambda told, x, repeats: np.repeat(x, repeats.astype(np.int64), told["dim"]),
    _repeated_back,
    _repeated_shape,
).register(dim=0, Repeats=0)


Formula(
    "gcd",
    "x y",
    "out",
    lambda told, x, y: np.gcd(x.astype(np.int64), y.astype(np.int64)),
    shape=lambda told, x, y: broadcast(x, y),
).register()
