"""The rows as torch's data loader collates them by default; of columns, which it has no word for, as its
users write: one tensor of all, and offsets, as ``EmbeddingBag`` takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import torch
from torch.utils.data import default_collate

from benchmarks.input.data import batches, feeding
from benchmarks.worker import Work


def prepare(settings: Mapping[str, Any]) -> Work:
    """The function for the rows of ``settings``."""
    torch.set_num_threads(1)
    feed = _columns if settings["kind"] == "columns" else _collated
    return feeding(feed, batches(settings["kind"], settings["rows"]))


def _collated(rows: Sequence[Any]) -> list[np.ndarray]:
    return [_tensor(each).numpy() for each in default_collate(rows)]


def _tensor(collated: Any) -> torch.Tensor:
    """Of lists it makes a list of tensors, one for each place."""
    return torch.stack(collated, 1) if isinstance(collated, list) else collated


def _columns(rows: Sequence[Any]) -> list[np.ndarray]:
    numbers, named, labels = zip(*rows, strict=True)
    entries = torch.tensor(list(chain.from_iterable(named)))
    starts = torch.tensor([0, *map(len, named)]).cumsum(0)
    tensors = (torch.tensor(numbers), entries, starts, torch.tensor(labels))
    return [tensor.numpy() for tensor in tensors]
