"""numba's own dictionary in the place of the index, and compiled loops over an array of values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit, types
from numba.typed import Dict

from benchmarks.tables.data import BATCH, LEARNING_RATE, WIDTH, all_ids, by_id, gradient, work
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """A dictionary from id to row, and the rows."""
    index = Dict.empty(types.int64, types.int64)
    _insert(index, all_ids(settings["rows"]))
    values, out = np.zeros((settings["rows"], WIDTH), np.float32), np.empty((BATCH, WIDTH), np.float32)
    pushed, rate = gradient(), np.float32(LEARNING_RATE)

    def pull(ids: np.ndarray) -> np.ndarray:
        _take(index, values, ids, out)
        return out

    values[...] = 0
    batches = by_id(settings)
    return work(settings, batches, pull, lambda ids: _subtract(index, values, ids, pushed, rate))


@njit(nogil=True, error_model="numpy")
def _insert(index: Any, ids: np.ndarray) -> None:
    for i in range(ids.shape[0]):
        index[ids[i]] = i


@njit(nogil=True, error_model="numpy")
def _take(index: Any, values: np.ndarray, ids: np.ndarray, out: np.ndarray) -> None:
    for i in range(ids.shape[0]):
        row = index[ids[i]]
        for j in range(WIDTH):
            out[i, j] = values[row, j]


@njit(nogil=True, error_model="numpy", fastmath=True)
def _subtract(index: Any, values: np.ndarray, ids: np.ndarray, pushed: np.ndarray, rate: np.float32) -> None:
    for i in range(ids.shape[0]):
        row = index[ids[i]]
        for j in range(WIDTH):
            values[row, j] -= rate * pushed[i, j]
