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

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from paddle._engine.errors import BadModelFile

FOLDER = "{name}_txt"
ROW = "Param"
_SEEN = "1\t0\t1"  # rows that are there have entered; how often each was seen nobody counts on
_AT_ONCE = 1 << 23
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
            files.enter_context((folder / f"{name}.block{block}.txt").open("x")) for block in range(blocks)
        ]
        for ids, values in pieces:
            for block, lines in _by_block(ids, values, blocks):
                texts[block].writelines(lines)
                counts[block] += len(lines)
    said = f"row_names={','.join(widths)}\nrow_dims={','.join(map(str, widths.values()))}"
    for block, count in enumerate(counts):
        meta = f"param={name}\nshard_id={block}\n{said}\ncount={count}\n"
        (folder / f"{name}.block{block}.meta").write_text(meta)


def _by_block(ids: np.ndarray, values: np.ndarray, blocks: int) -> Iterator[tuple[int, list[str]]]:
    unsigned = ids.astype(np.uint64)
    line = f"%d\t{_SEEN}\t{'%.9g,' * values.shape[1]}\n"  # nine digits tell every float32 from the next
    for block in range(blocks):
        mine = np.flatnonzero(unsigned % np.uint64(blocks) == block)
        rows = zip(unsigned[mine].tolist(), values[mine].tolist(), strict=True)
        yield block, [line % (id, *row) for id, row in rows]


def read(folder: Path, picks: Picks | None = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The rows of a folder ``NAME_txt``: ids int64 (k,), and their columns by name, float32 (k, as many
    numbers as it has). ``picks``: which ids are wanted, as a mask. Raises BadModelFile."""
    ids: list[np.ndarray] = [np.empty(0, np.int64)]
    columns: dict[str, list[np.ndarray]] = {}
    for path in sorted(folder.glob("*.block*.txt")):
        for found, own in _file(path):
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


def _file(path: Path) -> Iterator[tuple[np.ndarray, Columns]]:
    widths, count = _meta(path.with_suffix(".meta"))
    number = 0
    with path.open("rb") as file:
        while lines := file.readlines(_AT_ONCE):
            ids, values = _rows(path, number, lines)
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


def _rows(path: Path, before: int, lines: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """The ids and numbers of some lines, of which so many went before."""
    heads = [line[: line.find(b"\t")] for line in lines]
    tails = [line[line.rfind(b"\t") + 1 :].rstrip(b",\r\n") for line in lines]
    if not all(b"\t" in line for line in lines):
        raise BadModelFile(_wrong(path, before, lines))
    commas = {tail.count(b",") for tail in tails}
    if len(commas) > 1:
        raise BadModelFile(f"rows in {path} are not all of one width")
    width = commas.pop() + 1
    try:
        ids = np.array([int(head) for head in heads], np.uint64).astype(np.int64)
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # numbers that do not parse are one
            values = np.fromstring(b",".join(tails), np.float64, sep=",")
        return ids, values.reshape(len(lines), width).astype(np.float32)
    except (ValueError, OverflowError, DeprecationWarning):
        raise BadModelFile(_wrong(path, before, lines)) from None


def _wrong(path: Path, before: int, lines: list[bytes]) -> str:
    """Which line is to blame."""
    for number, line in enumerate(lines, before + 1):
        text = line.decode(errors="replace")
        id, *_, values = text.split("\t") if "\t" in text else (text, "")
        try:
            np.array([int(id)], np.uint64)
            [float(value) for value in values.strip().rstrip(",").split(",")]
        except (ValueError, OverflowError):
            return f"{path}, line {number} is no row of a table: {text[:80]!r}"
    return f"{path} has lines that are no rows of a table"
