"""Sparse text: rows of a table by their ids, as the original's pservers save them with ``save_persistables``.

A folder ``NAME_txt`` has two files for each of n pservers: ``NAME.block<i>.txt``, a row in every line, of the
ids of which i is the remainder by n, and ``NAME.block<i>.meta``, what these lines are. A line is::

    id <tab> how often it was seen <tab> days since <tab> whether it entered <tab> v1,v2,...,

with the id as a number without a sign. (Paddle 2.0, common_sparse_table.cc.)

It must never know a table. Guarantee: a value that is read is the float32 that was written; lines that are no
rows of a table are a BadModelFile.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from paddle._engine.errors import BadModelFile

FOLDER = "{name}_txt"
_SEEN = "1\t0\t1"  # rows that are there have entered; how often each was seen nobody counts on


def write(
    parent: Path, name: str, width: int, blocks: int, pieces: Iterable[tuple[np.ndarray, np.ndarray]]
) -> None:
    """Write the rows of a table: ids int64 (k,) and values float32 (k, width), in ``pieces``."""
    folder = parent / FOLDER.format(name=name)
    folder.mkdir(parents=True)
    counts = [0] * blocks
    with ExitStack() as files:
        texts = [
            files.enter_context((folder / f"{name}.block{block}.txt").open("x")) for block in range(blocks)
        ]
        for ids, values in pieces:
            for block, lines in _by_block(ids, values, blocks):
                texts[block].writelines(lines)
                counts[block] += len(lines)
    for block, count in enumerate(counts):
        meta = f"param={name}\nshard_id={block}\nrow_names=Param\nrow_dims={width}\ncount={count}\n"
        (folder / f"{name}.block{block}.meta").write_text(meta)


def _by_block(ids: np.ndarray, values: np.ndarray, blocks: int) -> Iterator[tuple[int, list[str]]]:
    unsigned = ids.astype(np.uint64)
    line = f"%d\t{_SEEN}\t{'%.9g,' * values.shape[1]}\n"  # nine digits tell every float32 from the next
    for block in range(blocks):
        mine = np.flatnonzero(unsigned % np.uint64(blocks) == block)
        rows = zip(unsigned[mine].tolist(), values[mine].tolist(), strict=True)
        yield block, [line % (id, *row) for id, row in rows]


def read(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a folder ``NAME_txt``: ids int64 (k,), values float32 (k, width); of what a line has before
    its values, only the id. Raises BadModelFile."""
    ids, rows = [], []
    for path in sorted(folder.glob("*.block*.txt")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            try:
                id, *_, values = line.split("\t")
                ids.append(int(id))
                rows.append([float(value) for value in values.rstrip(",").split(",")])
            except (ValueError, OverflowError) as error:
                raise BadModelFile(f"{path}, line {number} is no row of a table: {line[:80]!r}") from error
    try:
        return np.array(ids, np.uint64).astype(np.int64), np.array(rows, np.float32)
    except (ValueError, OverflowError) as error:
        raise BadModelFile(f"rows in {folder} are not all of one width, or have ids that are none") from error
