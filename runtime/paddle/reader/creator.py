"""Reader creators: readers over what is in memory or in a file.

They must never know what a sample means. Guarantee: nothing is opened before the reader is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from paddle._absent import absent

__all__ = ["cloud_reader", "np_array", "recordio", "text_file"]


def np_array(x: np.ndarray) -> Callable[[], Iterator[Any]]:
    """Make a reader of the elements of a vector, the rows of a matrix, or the one value of a 0-d array."""

    def reader() -> Iterator[Any]:
        yield from (x if x.ndim else [x])

    return reader


def text_file(path: str) -> Callable[[], Iterator[str]]:
    """Make a reader of the lines of a text file, without their newlines."""

    def reader() -> Iterator[str]:
        with Path(path).open() as lines:
            for line in lines:
                yield line.rstrip("\n")

    return reader


recordio = absent(
    "paddle.reader.creator.recordio",
    "RecordIO files come with the task queue. Split a data set with paddle.dataset.common.split and read "
    "its parts with paddle.dataset.common.cluster_files_reader",
)
cloud_reader = absent(
    "paddle.reader.creator.cloud_reader",
    "the task queue that hands out data comes later. Give every trainer its own files, as "
    "paddle.dataset.common.cluster_files_reader does",
)
