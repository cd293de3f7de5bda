"""What puts elements elsewhere in an array: at places along an axis, at rows, at points.

It must never know an operator's block. Guarantee: places that are beyond an axis are refused; one below 0
counts from the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.ops.formulas.formula import Attrs, Formula, unbroadcast


def _checked(places: np.ndarray, size: int) -> np.ndarray:
    whole = places.astype(np.int64)
    if whole.size and (whole.min() < -size or whole.max() >= size):
        raise IndexError(f"{int(whole.min())} to {int(whole.max())} are places of an axis of {size}")
    return np.where(whole < 0, whole + size, whole)


def grid(places: np.ndarray, axis: int, size: int) -> tuple[np.ndarray, ...]:
    """Indices of the elements that ``places`` name along ``axis``, each in its own line."""
    found = list(np.indices(places.shape, sparse=True))
    found[axis] = _checked(places, size)
    return tuple(found)


_SAME = {"assign": 0, "add": 0, "sum": 0, "mul": 1, "multiply": 1, "mean": 0, "amin": np.inf, "amax": -np.inf}


def _put(told: Attrs, x: np.ndarray, places: np.ndarray, values: np.ndarray) -> np.ndarray:
    how, at = told["Reduce"], grid(places, told["Axis"], x.shape[told["Axis"]])
    if how not in _SAME:
        raise ValueError(f"reduce of put_along_axis is one of {sorted(_SAME)}, not {how!r}")
    found = x.copy()
    given = np.broadcast_to(values, places.shape).astype(x.dtype)
    if how == "assign":
        found[at] = given
        return found
    if not told["Include_self"]:
        found[at] = _SAME[how]
    kinds = {"amin": np.minimum, "amax": np.maximum, "mul": np.multiply, "multiply": np.multiply}
    kinds.get(how, np.add).at(found, at, given)
    if how == "mean":
        counts = np.zeros(x.shape, np.int64)
        np.add.at(counts, at, 1)
        found = found / np.maximum(counts + (1 if told["Include_self"] else 0), 1)
    return found


def _shared_back(
    told: Attrs, x: np.ndarray, at: Any, given: np.ndarray, out: np.ndarray, came: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of a mean, and of the least and the greatest: those that are in it, or equal it, share its slope."""
    is_in_x, is_in = np.ones(x.shape, bool), np.ones(given.shape, bool)
    if told["Reduce"] != "mean":
        is_in_x[at], is_in = (x == out)[at], given.astype(x.dtype) == out[at]
    counts = (is_in_x if told["Include_self"] else np.zeros(x.shape)).astype(np.float64)
    np.add.at(counts, at, is_in)
    share = came / np.where(counts > 0, counts, 1)
    return np.where(is_in_x, share, 0), np.where(is_in, share[at], 0)


def _put_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    (x, places, values), how = arrays, told["Reduce"]
    at = grid(places, told["Axis"], x.shape[told["Axis"]])
    of_x, given = came.copy(), np.broadcast_to(values, places.shape)
    if how in ("add", "sum"):
        of_values = came[at]
    elif how == "assign":
        of_x[at] = 0
        last = np.full(x.shape, -1, np.int64)
        last[at] = np.arange(places.size).reshape(places.shape)
        of_values = np.where(last[at] == np.arange(places.size).reshape(places.shape), came[at], 0)
    elif how in ("mul", "multiply"):
        factor = np.ones(x.shape)
        np.multiply.at(factor, at, given)
        of_x = came * factor
        with np.errstate(all="ignore"):
            of_values = (came * outs[0])[at] / given
    else:
        of_x, of_values = _shared_back(told, x, at, given, outs[0], came)
    if how != "assign" and not told["Include_self"]:
        of_x[at] = 0
    return [of_x, None, unbroadcast(of_values, values.shape)]


Formula("put_along_axis", "Input Index Value", "Result", _put, _put_back).register(
    Axis=0, Reduce="assign", Include_self=True
)


def _add_rows(told: Attrs, x: np.ndarray, index: np.ndarray, added: np.ndarray) -> np.ndarray:
    axis = told["axis"]
    found = np.moveaxis(x.copy(), axis, 0)
    np.add.at(found, _checked(index, len(found)), np.moveaxis(added, axis, 0))
    return np.moveaxis(found, 0, axis)


def _add_rows_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    index = _checked(arrays[1], arrays[0].shape[told["axis"]])
    return [came, None, np.take(came, index, told["axis"])]


Formula("index_add", "X Index AddValue", "Out", _add_rows, _add_rows_back).register(axis=0)


def _points(x: np.ndarray, indices: list[np.ndarray]) -> tuple[np.ndarray, ...]:
    return tuple(
        each if each.dtype == bool else _checked(each, size)
        for each, size in zip(indices, x.shape, strict=False)
    )


def _put_points(told: Attrs, x: np.ndarray, indices: list[np.ndarray], value: np.ndarray) -> np.ndarray:
    found, at = x.copy(), _points(x, indices)
    if told["accumulate"]:
        np.add.at(found, at, value)
    else:
        found[at] = value
    return found


def _put_points_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x, indices, value = arrays
    at, of_x = _points(x, indices), came
    if not told["accumulate"]:
        of_x = came.copy()
        of_x[at] = 0
    return [of_x, None, unbroadcast(came[at], value.shape)]


Formula("index_put", "x indices* value", "out", _put_points, _put_points_back).register(accumulate=False)
