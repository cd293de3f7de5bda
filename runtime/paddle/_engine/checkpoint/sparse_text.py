"""Sparse text: rows of a table by their ids, as the original's pservers save them with ``save_persistables``.

A folder ``NAME_txt`` has two files for each of n pservers: ``NAME.block<i>.txt``, a row in every line, of the
ids of which i is the remainder by n, and ``NAME.block<i>.meta``, what these lines are. A line is::

    id <tab> how often it was seen <tab> days since <tab> whether it entered <tab> v1,v2,...,

with the id as a number without a sign. The numbers are those of all columns, one after another, which
``meta`` names (``row_names``) with how many each has (``row_dims``): ``Param``, the row itself, and what an
optimizer remembers of it. (Paddle 2.0, common_sparse_table.cc.)

It must never know a table. Guarantee: a value that is read is the float32 that was written; lines that are no
rows of a table, and files that end before their rows do, are a BadModelFile. Neither way more than a portion
of a file lies in memory besides the rows that are wanted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from paddle._engine.checkpoint import row_lines
from paddle._engine.errors import BadModelFile

FOLDER = "{name}_txt"
ROW = "Param"
_SEEN = "\t1\t0\t1\t"  # rows that are there have entered; how often each was seen nobody counts on
_OF = "#blocks="  # a remark to the original, which does not say how many files a table has
_AT_ONCE = 1 << 23
_BLOCK = re.compile(r"\.block(\d+)\.(?:txt|meta)$")
_APART = "Each server of the original writes its own, on its machine: bring all of them here"
Columns = Mapping[str, np.ndarray]
Picks = Callable[[np.ndarray], np.ndarray]


def write(
    parent: Path,
    name: str,
    widths: Mapping[str, int],
    blocks: int,
    pieces: Iterable[tuple[np.ndarray, np.ndarray]],
) -> None:
    """Write the rows of a table: ids int64 (k,) and numbers float32 (k, the sum of ``widths``), in
    ``pieces``. ``widths``: of the columns, by name."""
    folder = parent / FOLDER.format(name=name)
    folder.mkdir(parents=True)
    counts = [0] * blocks
    with ExitStack() as files:
        texts = [
            files.enter_context((folder / f"{name}.block{block}.txt").open("xb")) for block in range(blocks)
        ]
        for ids, values in pieces:
            for block, lines, count in _by_block(ids, values, blocks):
                texts[block].write(lines)
                counts[block] += count
    said = f"row_names={','.join(widths)}\nrow_dims={','.join(map(str, widths.values()))}"
    for block, count in enumerate(counts):
        meta = f"param={name}\nshard_id={block}\n{said}\ncount={count}\n{_OF}{blocks}\n"
        (folder / f"{name}.block{block}.meta").write_text(meta)


def _by_block(ids: np.ndarray, values: np.ndarray, blocks: int) -> Iterator[tuple[int, bytes, int]]:
    unsigned = ids.astype(np.uint64)
    for block in range(blocks):
        mine = slice(None) if blocks == 1 else np.flatnonzero(unsigned % np.uint64(blocks) == block)
        own = unsigned[mine]
        yield block, row_lines.written(own, _SEEN, values[mine]), len(own)


def read(folder: Path, picks: Picks | None = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The rows of a folder ``NAME_txt``: ids int64 (k,), and their columns by name, float32 (k, as many
    numbers as it has). ``picks``: which ids are wanted, as a mask. Raises BadModelFile."""
    ids: list[np.ndarray] = [np.empty(0, np.int64)]
    columns: dict[str, list[np.ndarray]] = {}
    for path, block, blocks in _blocks(folder):
        for found, own in _file(path):
            if (found.astype(np.uint64) % np.uint64(blocks) != block).any():
                raise BadModelFile(
                    f"{path} has rows that lie in other files where there are {blocks} of them: the last are "
                    f"missing, from {_name(path, blocks)} on. {_APART}"
                )
            kept = slice(None) if picks is None else np.flatnonzero(picks(found))
            ids.append(found[kept])
            for name, column in own.items():
                columns.setdefault(name, []).append(np.array(column[kept]))
    try:
        joined = {name: np.concatenate(parts) for name, parts in columns.items()}
        if len({len(each) for each in joined.values()}) > 1:
            raise ValueError("columns")
    except ValueError as error:
        raise BadModelFile(f"rows in {folder} are not all of one width, or of other columns") from error
    return np.concatenate(ids), joined


def _blocks(folder: Path) -> list[tuple[Path, int, int]]:
    """The files of rows, the number of each, and how many there are. Raises BadModelFile where one lacks."""
    numbered = {int(found[1]): path for path in folder.iterdir() if (found := _BLOCK.search(path.name))}
    told = [path.read_text().rpartition(_OF)[2].strip() for path in folder.glob("*.block*.meta")]
    many = max([1, *(number + 1 for number in numbered), *(int(each) for each in told if each.isdigit())])
    one = next(iter(numbered.values()), folder / f"{folder.name.removesuffix('_txt')}.block0.txt")
    paths = [one.with_name(_name(one, block)) for block in range(many)]
    if lacking := [path.name for path in paths if not path.is_file()]:
        raise BadModelFile(
            f"{folder} has no {', '.join(lacking)}, and files of rows are numbered 0 to {many - 1}. {_APART}"
        )
    return [(path, block, many) for block, path in enumerate(paths)]


def _name(beside: Path, block: int) -> str:
    """Of the file of that number."""
    return _BLOCK.sub(f".block{block}.txt", beside.name)


def _file(path: Path) -> Iterator[tuple[np.ndarray, Columns]]:
    widths, count = _meta(path.with_suffix(".meta"))
    number = 0
    with path.open("rb") as file:
        while lines := file.readlines(_AT_ONCE):
            try:
                ids, values = row_lines.read(lines, str(path), number)
            except ValueError as error:
                raise BadModelFile(str(error)) from None
            number += len(lines)
            if widths is None:
                yield ids, {ROW: values}
                continue
            if sum(widths.values()) != values.shape[1]:
                raise BadModelFile(
                    f"rows in {path} have {values.shape[1]} numbers, and their .meta tells of "
                    f"{dict(widths)}: the two are not of one table"
                )
            ends = np.cumsum(list(widths.values())).tolist()
            yield ids, {n: values[:, e - w : e] for (n, w), e in zip(widths.items(), ends, strict=True)}
    if number < count:
        raise BadModelFile(f"{path} has {number} rows, and {count} were written: it is not whole")


def _meta(path: Path) -> tuple[dict[str, int] | None, int]:
    """The columns, by name, and how many rows there are; None and 0 where nothing says so."""
    try:
        told = dict(line.partition("=")[::2] for line in path.read_text().splitlines())
    except FileNotFoundError:
        return None, 0
    try:
        names, dims = told["row_names"].split(","), [int(each) for each in told["row_dims"].split(",")]
        found, count = dict(zip(names, dims, strict=True)), int(told.get("count", 0))
    except (KeyError, ValueError) as error:
        raise BadModelFile(f"{path} does not tell columns of rows (row_names, row_dims)") from error
    if ROW not in found or min(dims) < 1:
        raise BadModelFile(f"{path} tells of no column {ROW}, or of one without numbers")
    return found, count
