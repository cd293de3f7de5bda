"""What is summed along the edges of a graph, and over runs of rows: messages, and segments.

It must never know an operator's block. Guarantee: what nothing comes to is 0; of equal extremes each has the
slope.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paddle._program.description.dtypes import VarType
from paddle._program.ops.formulas.formula import Attrs, Formula, Shape, broadcast, unbroadcast

_EXTREMES = {"MAX": (np.maximum, -np.inf), "MIN": (np.minimum, np.inf)}


def gathered(rows: np.ndarray, places: np.ndarray, count: int, how: str) -> tuple[np.ndarray, np.ndarray]:
    """What comes of ``rows`` at each of ``count`` places, and how many of them come there."""
    counts = np.bincount(places, minlength=count)
    if how in _EXTREMES:
        better, none = _EXTREMES[how]
        found = np.full((count, *rows.shape[1:]), none, np.float64)
        better.at(found, places, rows)
        found[counts == 0] = 0
        return found, counts
    found = np.zeros((count, *rows.shape[1:]), np.float64)
    np.add.at(found, places, rows)
    if how == "MEAN":
        found /= np.maximum(counts, 1).reshape(-1, *[1] * (rows.ndim - 1))
    return found, counts


def spread(rows: np.ndarray, places: np.ndarray, found: np.ndarray, came: np.ndarray, how: str) -> np.ndarray:
    """The slope of each row, from those of what came of them."""
    slope = came[places]
    if how in _EXTREMES:
        return np.where(rows == found[places].astype(rows.dtype), slope, 0)
    if how == "MEAN":
        counts = np.bincount(places, minlength=len(came))
        slope = slope / counts[places].reshape(-1, *[1] * (rows.ndim - 1))
    return np.asarray(slope)


def _whole(places: np.ndarray) -> np.ndarray:
    found = places.reshape(-1).astype(np.int64)
    if found.size and found.min() < 0:
        raise ValueError("places of segments and nodes are 0 and above")
    return found


def _segments(told: Attrs, x: np.ndarray, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    places = _whole(ids)
    found, counts = gathered(x, places, int(places[-1]) + 1 if places.size else 0, told["pooltype"])
    return found, counts.reshape(-1, 1)


Formula(
    "segment_pool",
    "X SegmentIds",
    "Out SummedIds",
    _segments,
    lambda told, arrays, outs, came: [
        spread(arrays[0], _whole(arrays[1]), outs[0], came, told["pooltype"]),
        None,
    ],
    lambda told, x, ids: ((-1, *x[1:]), (-1, 1)),
).register(pooltype="SUM")


def _height(told: Attrs, size: Any, x: np.ndarray) -> int:
    given = int(np.asarray(size).reshape(-1)[0]) if size is not None else int((told["out_size"] or (0,))[0])
    return given if given > 0 else len(x)


def _received(told: Attrs, x: Any, source: Any, target: Any, size: Any) -> tuple[np.ndarray, np.ndarray]:
    return gathered(x[_whole(source)], _whole(target), _height(told, size, x), told["reduce_op"])


def _received_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x, source, target, _ = arrays
    rows = x[_whole(source)]
    found = np.zeros_like(x)
    np.add.at(found, _whole(source), spread(rows, _whole(target), outs[0], came, told["reduce_op"]))
    return [found, None, None, None]


def _received_shape(told: Attrs, x: Shape, *others: Any) -> tuple[Shape, Shape]:
    size = int((told["out_size"] or (0,))[0])
    return (size if size > 0 else -1, *x[1:]), (-1,)


Formula(
    "graph_send_recv",
    "X Src_index Dst_index Out_size?",
    "Out Dst_count",
    _received,
    _received_back,
    _received_shape,
    {"Dst_count": VarType.INT32},
).register(reduce_op="SUM", out_size=(0,))


def _message(told: Attrs, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.asarray(one * other if told["message_op"] == "MUL" else one + other)


def _message_back(told: Attrs, one: Any, other: Any, slope: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if told["message_op"] == "MUL":
        return unbroadcast(slope * other, one.shape), unbroadcast(slope * one, other.shape)
    return unbroadcast(slope, one.shape), unbroadcast(slope, other.shape)


def _edges(told: Attrs, x: Any, y: Any, source: Any, target: Any, size: Any) -> tuple[np.ndarray, np.ndarray]:
    rows = _message(told, x[_whole(source)], y)
    return gathered(rows, _whole(target), _height(told, size, x), told["reduce_op"])


def _edges_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x, y, source, target, _ = arrays
    at = x[_whole(source)]
    slope = spread(_message(told, at, y), _whole(target), outs[0], came, told["reduce_op"])
    of_rows, of_y = _message_back(told, at, y, slope)
    of_x = np.zeros_like(x)
    np.add.at(of_x, _whole(source), of_rows)
    return [of_x, of_y, None, None, None]


def _edges_shape(told: Attrs, x: Shape, y: Shape, *others: Any) -> tuple[Shape, Shape]:
    first, counts = _received_shape(told, x)
    return (first[0], *broadcast(x[1:], y[1:])), counts


Formula(
    "graph_send_ue_recv",
    "X Y Src_index Dst_index Out_size?",
    "Out Dst_count",
    _edges,
    _edges_back,
    _edges_shape,
    {"Dst_count": VarType.INT32},
).register(message_op="ADD", reduce_op="SUM", out_size=(0,))


def _pairs_back(told: Attrs, arrays: Any, outs: Any, came: np.ndarray) -> list[Any]:
    x, y, source, target = arrays
    slopes = _message_back(told, x[_whole(source)], y[_whole(target)], came)
    found = np.zeros_like(x), np.zeros_like(y)
    for put, slope, places in zip(found, slopes, (source, target), strict=True):
        np.add.at(put, _whole(places), slope)
    return [*found, None, None]


Formula(
    "graph_send_uv",
    "x y src_index dst_index",
    "out",
    lambda told, x, y, source, target: _message(told, x[_whole(source)], y[_whole(target)]),
    _pairs_back,
    lambda told, x, y, source, target: (source[0], *broadcast(x[1:], y[1:])),
).register(message_op="ADD")
