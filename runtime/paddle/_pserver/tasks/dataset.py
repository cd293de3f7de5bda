"""Dataset: from globs to tasks.

It must never know a record. Guarantee: every chunk of every file that matches is in exactly one task; files
stand in order of their names, chunks in that of the file.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path

from paddle._pserver.tasks.errors import BadDataset
from paddle._pserver.tasks.messages import Dataset, Spot
from paddle._recordio.chunks import chunks_of
from paddle._recordio.errors import RecordIOError


def index(globs: Sequence[str], chunks_per_task: int) -> Dataset:
    """Make tasks of what matches. Raises BadDataset, naming what does not match or is no RecordIO file."""
    files = sorted({path for pattern in globs for path in _matching(pattern)})
    if not files:
        raise BadDataset(
            f"no file matches {', '.join(globs)} on the machine of the master: files have to lie where the "
            "master and all trainers see them under the same path"
        )
    try:
        spots = [Spot(number, chunk.offset) for number, path in enumerate(files) for chunk in chunks_of(path)]
    except (RecordIOError, OSError) as error:
        raise BadDataset(f"the data set cannot be used: {error}") from None
    if not spots:
        raise BadDataset(f"the {len(files)} files that match {', '.join(globs)} hold no record")
    return Dataset(globs=tuple(globs), files=tuple(files), tasks=_tasks(spots, chunks_per_task))


def _matching(pattern: str) -> list[str]:
    return [path for path in glob.glob(pattern) if Path(path).is_file()]  # noqa: PTH207 - it may be absolute


def _tasks(spots: Sequence[Spot], size: int) -> tuple[tuple[Spot, ...], ...]:
    return tuple(tuple(spots[at : at + size]) for at in range(0, len(spots), size))
