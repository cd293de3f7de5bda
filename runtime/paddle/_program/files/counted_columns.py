"""Rows of counted tables as columns of a file: the row as the program has it, its counts, and what its rule
remembers.

It must never know where a file lies. Guarantee: what is read goes on as what was written. Where another rule
wrote it, one with Adam or one without, its state begins anew; of a file that has the rows alone, they are
there with all of their numbers, and nobody has been shown or has clicked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from paddle._engine.checkpoint import counted_text, sparse_text
from paddle._engine.rows import COUNTS, TableRows
from paddle._engine.rules import Counted
from paddle._program.description.program import Program
from paddle._program.errors import BadFile
from paddle._program.running.open_table import table_of
from paddle._program.running.scope import Scope

Pieces = Iterator[tuple[np.ndarray, np.ndarray]]


def written(
    program: Program, scope: Scope, name: str, told: Mapping[str, float]
) -> tuple[dict[str, int], Pieces]:
    """The columns of a table, by their widths, and its rows, in pieces: ids, and all of their numbers."""
    width, slots = int(program.global_block()._var_recursive(name).shape[1]), Counted(**told).slots
    table = table_of(scope, name)
    rows = iter(()) if table is None else table.pieces()
    return counted_text.widths(width, COUNTS, slots), (_joined(each, width, slots) for each in rows)


def read(
    folder: Path, ids: np.ndarray, columns: Mapping[str, np.ndarray], width: int, told: Mapping[str, float]
) -> TableRows:
    """The rows of a file's ``columns``. Raises BadFile where they are of another width."""
    rows = columns.get(sparse_text.ROW, np.zeros((0, width), np.float32))
    rule = Counted(**told)
    names = {slot: counted_text.column_of(slot) for slot in rule.slots}
    slots = {slot: columns[name] for slot, name in names.items() if name in columns}
    if rows.shape[1] != width or any(each.shape[1] != COUNTS + width for each in slots.values()):
        raise BadFile(
            f"rows in {folder} have {rows.shape[1]} numbers, and those of this table in the program {width}: "
            "they are of another model"
        )
    if counted_text.COUNTS not in columns:
        return rule.whole(TableRows(ids, rows), width)
    if "memory" in slots and columns.keys() - {sparse_text.ROW, counted_text.COUNTS} != set(names.values()):
        slots = rule.begun_anew(slots["memory"])  # moments are no sums of squares
    return TableRows(ids, np.concatenate([columns[counted_text.COUNTS], rows], axis=1), slots)


def _joined(rows: TableRows, width: int, slots: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Rows that nobody has trained since they were begun may have no counts yet."""
    values = rows.values
    if values.shape[1] == width:
        values = np.pad(values, ((0, 0), (COUNTS, 0)))
    return rows.ids, counted_text.joined(values, rows.slots, COUNTS, slots)
