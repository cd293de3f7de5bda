"""The limit to come near to: find, prefetch and copy or subtract, in as few lines as it takes.

Open addressing with an empty marker and no more than 60 % in use; it makes no rows, merges nothing, keeps no
state and knows one rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from benchmarks.tables.data import BATCH, LEARNING_RATE, WIDTH, all_ids, by_id, gradient, work
from benchmarks.worker import Work
from paddle._engine.kernels.prefetch import AHEAD, prefetch

_EMPTY = -(1 << 63)
_GOLDEN, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


def prepare(settings: Mapping[str, Any]) -> Work:
    """Values in an ordinary array."""
    return on(np.zeros((settings["rows"], WIDTH), np.float32), settings)


def on(values: np.ndarray, settings: Mapping[str, Any]) -> Work:
    """The kernels on ``values`` (rows, width)."""
    cells = 1 << (int(settings["rows"] / 0.6) - 1).bit_length()
    keys, rows = np.full(cells, _EMPTY, np.int64), np.zeros(cells, np.int64)
    _insert(keys, rows, all_ids(settings["rows"]))
    found, out = np.empty(BATCH, np.int64), np.empty((BATCH, WIDTH), np.float32)
    pushed, rate = gradient(), np.float32(LEARNING_RATE)

    def pull(ids: np.ndarray) -> np.ndarray:
        _find(keys, rows, ids, found)
        _take(values, found, out)
        return out

    def push(ids: np.ndarray) -> None:
        _find(keys, rows, ids, found)
        _subtract(values, found, pushed, rate)

    values[...] = 0  # so that no page is touched for the first time while it is measured
    return work(settings, by_id(settings), pull, push)


@njit(nogil=True, error_model="numpy")
def _home(id: int, last: np.uint64) -> np.int64:
    x = np.uint64(id) * _GOLDEN
    return np.int64((x ^ (x >> _HALF)) & last)


@njit(nogil=True, error_model="numpy")
def _insert(keys: np.ndarray, rows: np.ndarray, ids: np.ndarray) -> None:
    last = np.uint64(keys.shape[0] - 1)
    for i in range(ids.shape[0]):
        cell = _home(ids[i], last)
        while keys[cell] != _EMPTY:
            cell = (cell + 1) & np.int64(last)
        keys[cell], rows[cell] = ids[i], i


@njit(nogil=True, error_model="numpy")
def _find(keys: np.ndarray, rows: np.ndarray, ids: np.ndarray, found: np.ndarray) -> None:
    last = np.uint64(keys.shape[0] - 1)
    for i in range(ids.shape[0]):
        if i + AHEAD < ids.shape[0]:
            prefetch(keys, _home(ids[i + AHEAD], last))
        cell = _home(ids[i], last)
        while keys[cell] != ids[i]:
            cell = (cell + 1) & np.int64(last)
        found[i] = rows[cell]


@njit(nogil=True, error_model="numpy", fastmath=True)
def _take(values: np.ndarray, found: np.ndarray, out: np.ndarray) -> None:
    for i in range(found.shape[0]):
        if i + AHEAD < found.shape[0]:
            prefetch(values, found[i + AHEAD] * WIDTH)
        for j in range(WIDTH):
            out[i, j] = values[found[i], j]


@njit(nogil=True, error_model="numpy", fastmath=True)
def _subtract(values: np.ndarray, found: np.ndarray, pushed: np.ndarray, rate: np.float32) -> None:
    for i in range(found.shape[0]):
        if i + AHEAD < found.shape[0]:
            prefetch(values, found[i + AHEAD] * WIDTH)
        for j in range(WIDTH):
            values[found[i], j] -= rate * pushed[i, j]
