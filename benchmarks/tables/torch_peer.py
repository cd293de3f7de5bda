"""PyTorch, spared the ids: it is given the numbers of the rows, and only selects and adds them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from benchmarks.tables.data import BATCH, LEARNING_RATE, WIDTH, batches, gradient, work
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """A tensor of rows."""
    torch.set_num_threads(1)
    values, out = torch.zeros(settings["rows"], WIDTH), torch.empty(BATCH, WIDTH)
    pushed = torch.from_numpy(gradient())
    values.fill_(0)

    def pull(rows: np.ndarray) -> np.ndarray:
        torch.index_select(values, 0, torch.from_numpy(rows), out=out)
        return out.numpy()

    def push(rows: np.ndarray) -> None:
        values.index_add_(0, torch.from_numpy(rows), pushed, alpha=-LEARNING_RATE)

    return work(settings, batches(settings), pull, push)
