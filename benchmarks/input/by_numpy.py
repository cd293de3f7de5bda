"""The contender that one writes by hand: each slot by a call of numpy, without a look at the values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from benchmarks.input.data import batches, feeding
from benchmarks.worker import Work

Arrays = list[np.ndarray]


def prepare(settings: Mapping[str, Any]) -> Work:
    """The function for the rows of ``settings``."""
    return feeding(_FEEDS[settings["kind"]], batches(settings["kind"], settings["rows"]))


def _words(rows: Sequence[Any]) -> Arrays:
    table = np.array(rows)
    return [np.ascontiguousarray(table[:, place : place + 1]) for place in range(table.shape[1])]


def _dense_first(rows: Sequence[Any]) -> Arrays:
    numbers, *ids = zip(*rows, strict=True)
    return [np.array(numbers, np.float32), *(np.array(each).reshape(-1, 1) for each in ids)]


def _columns(rows: Sequence[Any]) -> Arrays:
    numbers, named, labels = zip(*rows, strict=True)
    starts = np.cumsum([0, *map(len, named)])
    entries = np.array(list(chain.from_iterable(named)))
    return [np.array(numbers, np.float32), entries, starts, np.array(labels).reshape(-1, 1)]


_FEEDS: dict[str, Callable[[Sequence[Any]], Arrays]] = {
    "words": _words,
    "arrays": _dense_first,
    "lists": _dense_first,
    "ids": _dense_first,
    "columns": _columns,
}
