"""numpy, spared the ids: it is given the numbers of the rows, and only takes and subtracts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.tables.data import BATCH, LEARNING_RATE, WIDTH, batches, gradient, work
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """An array of rows."""
    values, out = np.zeros((settings["rows"], WIDTH), np.float32), np.empty((BATCH, WIDTH), np.float32)
    pushed = gradient() * np.float32(LEARNING_RATE)

    def pull(rows: np.ndarray) -> np.ndarray:
        return np.take(values, rows, axis=0, out=out, mode="clip")  # its fastest way

    values[...] = 0
    return work(settings, batches(settings), pull, lambda rows: np.subtract.at(values, rows, pushed))
