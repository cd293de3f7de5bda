"""Tables on disk, as servers of the original save and load them: of each a folder, of each server a file. In
it stand rows by their ids, and beside them what their optimizer remembers.

It must never know who keeps a table. Guarantee: what was saved before under a table's name is there until the
new one is whole; a table is read whole, by however many servers it was written.
"""

from __future__ import annotations

import errno
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

import numpy as np

from paddle._engine.checkpoint import sparse_text
from paddle._engine.errors import BadModelFile
from paddle._engine.rows import TableRows
from paddle._program.description.counted_tables import counted_tables
from paddle._program.description.open_tables import open_tables
from paddle._program.description.operator import Operator
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadFile, NotInitialized
from paddle._program.files import counted_columns
from paddle._program.files.exchange import exchange
from paddle._program.files.links import show_all
from paddle._program.lowering.updates import columns_of, moved_at, powers_of, steps_after
from paddle._program.running.open_table import OpenTable, table_of
from paddle._program.running.scope import Scope

_PIECE = 1 << 14
# What a system may say of a folder that cannot be put where something lies.
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EISDIR)


def folder_of(parent: Path, name: str) -> Path:
    """Where a table lies."""
    return parent / sparse_text.FOLDER.format(name=name)


def folders_in(parent: Path) -> list[Path]:
    """Those of tables that lie in a folder, at any depth, as names of tables may have."""
    return sorted(own for own in parent.rglob(folder_of(Path(), "*").name) if any(own.glob("*.meta")))


def save(
    parent: Path, program: Program, scope: Scope, name: str, blocks: int = 1, also: Path | None = None
) -> None:
    """Write a table, open or not, in so many files. ``also``: a folder in which they are shown, too."""
    if name in (counted := counted_tables(program)):
        widths, pieces = counted_columns.written(program, scope, name, counted[name])
        _replace(parent, name, widths, blocks, pieces, also)
        return
    op = _update(program, name)
    slots = {} if op is None else columns_of(op)
    table = table_of(scope, name) if name in open_tables(program) else None
    rows = _packed(program, scope, name, op) if table is None else table.pieces()
    width = int(program.global_block()._var_recursive(name).shape[1])
    powers = [] if op is None else [(slot, _power(scope, op, slot)) for slot in powers_of(op)]
    widths = {sparse_text.ROW: width, **dict.fromkeys(slots, width), **{slot: 1 for slot, _ in powers}}
    last = np.array([now for _, now in powers], np.float32)
    pieces = (_joined(each, width, list(slots.values()), last) for each in rows)
    _replace(parent, name, widths, blocks, pieces, also)


def load(
    folder: Path, program: Program, name: str, picks: sparse_text.Picks | None = None
) -> tuple[TableRows, int]:
    """The rows of a table that are wanted, and after how many steps they are."""
    op = _update(program, name)
    try:
        ids, columns = sparse_text.read(folder, picks)
    except BadModelFile as error:
        raise BadFile(str(error)) from error
    width = int(program.global_block()._var_recursive(name).shape[1])
    if name in (counted := counted_tables(program)):
        return counted_columns.read(folder, ids, columns, width, counted[name]), 0
    values = columns.get(sparse_text.ROW, np.empty((0, width), np.float32))
    slots = {} if op is None else columns_of(op)
    powers = {} if op is None else powers_of(op)
    for column in (values, *(columns[slot] for slot in slots if slot in columns)):
        if column.shape[1] != width:
            raise BadFile(
                f"rows in {folder} have {column.shape[1]} numbers, and those of table {name!r} in the "
                f"program {width}: they are of another model"
            )
    now = {slot: float(columns[slot].min()) for slot in powers if slot in columns and len(ids)}
    steps = max((steps_after(value, powers[slot]) for slot, value in now.items()), default=0)
    return TableRows(ids, values, {of: columns[slot] for slot, of in slots.items() if slot in columns}), steps


def put(scope: Scope, name: str, rows: TableRows) -> None:
    """Have an open table of a scope begin with these rows, or go on with them."""
    table = table_of(scope, name)
    if table is None:
        table = scope.var(name).value = OpenTable(rows.values.shape[1])
    table.given = rows
    scope._change()


def remembered(program: Program, names: Iterable[str]) -> frozenset[str]:
    """The variables that show what an optimizer remembers of rows of these tables: their files have it."""
    found: set[str] = set()
    for name in names:
        if (op := _update(program, name)) is not None:
            found.update(each for slot in columns_of(op) for each in op.input(slot))
    return frozenset(found)


def parted(program: Program, variables: Sequence[Variable]) -> tuple[list[str], list[Variable]]:
    """The open tables among ``variables``, and those that have a value of their own."""
    open_ones = open_tables(program)
    inside = remembered(program, open_ones)
    tables = [each.name for each in variables if each.name in open_ones]
    return tables, [each for each in variables if each.name not in open_ones and each.name not in inside]


def _update(program: Program, name: str) -> Operator | None:
    ops = (op for block in program.blocks for op in block.ops)
    moving = (each for op in ops for each in moved_at(op))
    return next((each for each in moving if each.input("Param") == [name]), None)


def _power(scope: Scope, op: Operator, slot: str) -> float:
    held = scope.find_var(op.input(slot)[0])
    return 0.0 if held is None or not held.is_initialized() else float(held.get_tensor().array().flat[0])


def _packed(program: Program, scope: Scope, name: str, op: Operator | None) -> Iterator[TableRows]:
    """Rows of a table of which there is an array, of which row i has id i."""
    rows = _array(scope, name)
    slots = (
        {} if op is None else {of: _array(scope, op.input(slot)[0]) for slot, of in columns_of(op).items()}
    )
    for at in range(0, len(rows), _PIECE):
        here = slice(at, at + _PIECE)
        ids = np.arange(at, at + len(rows[here]))
        yield TableRows(ids, rows[here], {of: slot[here] for of, slot in slots.items()})


def _array(scope: Scope, name: str) -> np.ndarray:
    held = scope.find_var(name)
    if held is None or not held.get_tensor()._is_initialized():
        raise NotInitialized(
            f"variable {name!r} has no value in this scope and cannot be saved: run the startup program first"
        )
    return held.get_tensor().array()


def _joined(
    rows: TableRows, width: int, slots: Sequence[str], powers: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of rows that are counted, where the program only reads them, the last columns."""
    none = np.zeros((len(rows.ids), width), np.float32)
    columns = [rows.values[:, -width:], *(rows.slots.get(slot, none) for slot in slots)]
    columns.append(np.broadcast_to(powers, (len(rows.ids), len(powers))))
    return rows.ids, np.concatenate(columns, axis=1)


def _replace(
    folder: Path,
    name: str,
    widths: dict[str, int],
    blocks: int,
    pieces: Iterator[tuple[np.ndarray, np.ndarray]],
    also: Path | None,
) -> None:
    own = folder_of(folder, name)
    own.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".table-", dir=own.parent) as made:
        sparse_text.write(
            Path(made), own.name.removesuffix(sparse_text.FOLDER.format(name="")), widths, blocks, pieces
        )
        if also is not None:  # of what nobody else replaces yet
            _show(Path(made) / own.name, folder_of(also, name))
        replace(Path(made) / own.name, own, Path(made))


def _show(whole: Path, there: Path) -> None:
    there.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".table-", dir=there.parent) as made:
        shown = Path(made) / there.name
        show_all(whole, shown)
        replace(shown, there, Path(made))


def replace(made: Path, own: Path, aside: Path) -> None:
    """Put a whole folder where another may lie, which goes to where that was made, or ``aside``: workers of
    one machine that save into the same folder at the same time replace each other's, and the last one's
    stays. Who is killed meanwhile has left one of the two, but for file systems that exchange no names."""
    for place in count():
        try:
            made.rename(own)
        except OSError as error:
            if error.errno not in _TAKEN:
                raise
        else:
            return
        with suppress(FileNotFoundError):  # somebody else has just put it aside
            if exchange(made, own):
                return
            own.rename(aside / f"before-{place}")
