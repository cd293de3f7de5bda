"""Reader creators: readers over what is in memory, in a file, or handed out by a master.

They must never know what a sample means. Guarantee: nothing is opened before the reader is called.
"""

from __future__ import annotations

import glob
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddle._recordio.chunks import records_of
from paddle._recordio.samples import decode
from paddle.reader.decorator import buffered

__all__ = ["cloud_reader", "np_array", "recordio", "text_file"]

Reader = Callable[[], Iterator[Any]]

_PASS_ENDS = -2
_passes: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)
"""The passes that this process has not begun yet, by the master's address."""


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


def recordio(paths: str | Sequence[str], buf_size: int = 100) -> Reader:
    """Make a reader of the samples in RecordIO files, as ``paddle.dataset.common.convert`` writes them.

    ``paths``: paths with or without wildcards, in a list or separated by commas. ``buf_size`` samples are
    read ahead, in a thread. Files of the original are read too; what their records pickle is taken as data,
    and what is more than that raises NotPlain.
    """

    def reader() -> Iterator[Any]:
        for path in _files(paths):
            yield from map(decode, records_of(path))

    return buffered(reader, buf_size)


def cloud_reader(
    paths: str | Sequence[str],
    etcd_endpoints: str,
    timeout_sec: float = 5,
    buf_size: int = 64,
    *,
    wait_for_pending: bool = False,
) -> Reader:
    """Make a reader of the samples that the master at ``etcd_endpoints`` hands to this trainer.

    Each call of the reader is the next pass, the first is 0, and all readers of one master count on; a pass
    that the other trainers have finished already is empty. Arguments: those of ``paddle.v2.master.client``.
    Raises MasterError where the master cannot be reached or no file of the data set can be read.
    """
    found: list[Any] = []

    def reader() -> Iterator[Any]:
        from paddle.v2.master import client  # only who asks a master needs what talks to one

        if not found:
            found.append(client(etcd_endpoints, timeout_sec, buf_size, wait_for_pending))
        master = found[0]
        master.set_dataset(paths)
        master.paddle_start_get_records(next(_passes[etcd_endpoints]))
        try:
            while (taken := master.next_record())[1] == 0:
                yield decode(taken[0])
        except BaseException:
            master.release()  # so that what is not read whole is another trainer's at once
            raise
        if taken[1] != _PASS_ENDS:
            raise master.error

    return reader


def _files(paths: str | Sequence[str]) -> list[str]:
    """The files that match, in order of the patterns, then of their names."""
    patterns = paths.split(",") if isinstance(paths, str) else list(paths)
    files = [path for pattern in patterns for path in sorted(glob.glob(pattern))]  # noqa: PTH207 - it may be absolute
    if not files:
        raise FileNotFoundError(f"no RecordIO file matches {', '.join(patterns)}")
    return files
