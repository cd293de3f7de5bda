"""Beginnings: what parameter servers begin with in place of first values, of folders that trainers saved.

It must never know who trains. Guarantee: servers of one job that load the same folder in the same way begin
with the same parameters, and the whole of each, whatever their programs show of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from paddle._engine.rows import TableRows
from paddle._program.description.open_tables import open_tables
from paddle._program.description.operator import Operator
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadFile, MissingFile
from paddle._program.files import tables, tensors
from paddle._program.lowering.lowering import sparse_tables
from paddle._program.lowering.updates import columns_of, powers_of, steps_after

Arrays = dict[str, np.ndarray]
Lives = Callable[[str, np.ndarray], np.ndarray]
"""Which rows of a table live on a server."""


def arrays_of(folder: Path, op: Operator) -> tuple[Arrays, int]:
    """What a folder has of the parameter that ``op`` moves, under "", and of what its rule remembers; and
    after how many steps that is. Empty where the parameter has no file."""
    name = op.input("Param")[0]
    if not tensors.path_of(folder, name).is_file():
        return {}, 0
    kinds = {"": name, **{of: op.input(slot)[0] for slot, of in columns_of(op).items()}}
    found = {kind: _array(folder, each) for kind, each in kinds.items()}
    powers = ((_array(folder, op.input(slot)[0]), number) for slot, number in powers_of(op).items())
    steps = [steps_after(float(now.flat[0]), number) for now, number in powers if now is not None]
    return {kind: array for kind, array in found.items() if array is not None}, max(steps, default=0)


def rows_of(name: str, values: Arrays, lives: Lives) -> TableRows:
    """The rows of a table of which row i has id i, as far as they live here."""
    ids = np.flatnonzero(lives(name, np.arange(len(values[""]))))
    return TableRows(ids, values[""][ids], {kind: array[ids] for kind, array in values.items() if kind})


def _array(folder: Path, name: str) -> np.ndarray | None:
    """A variable's values, None where the folder has none."""
    path = tensors.path_of(folder, name)
    return np.asarray(tensors.load_one(path, name)).astype(np.float32, copy=False) if path.is_file() else None


class Beginning:
    """What one server begins with. ``program``: what its trainers train; ``updates``: what moves its
    parameters; ``shown``: of each parameter the names under which programs of servers have it."""

    def __init__(
        self, program: Program, updates: Iterable[Operator], shown: Mapping[str, Sequence[str]], lives: Lives
    ) -> None:
        self._program, self._updates, self._lives = program, list(updates), lives
        self._shown = {name: _stand_ins(names) for name, names in shown.items()}
        self.arrays: dict[str, tuple[Arrays, int]] = {}
        self.tables: dict[str, tuple[TableRows, int]] = {}

    def load(
        self, folder: Path, has: Program, names: frozenset[str] | None, predicate: Callable[[Variable], bool]
    ) -> None:
        """Take what ``load_vars`` of a server's program asks for: ``names`` of variables, or those that
        ``predicate`` says yes to. ``has``: that program. A parameter that it does not show is another
        server's there, whose part of it may live here: it is taken by name where the folder has it."""
        for op in self._updates:
            name = op.input("Param")[0]
            shown = self._shown[name]
            is_wanted = any(predicate(each) if names is None else each.name in names for each in shown)
            is_elsewhere = not any(has.global_block().has_var(each.name) for each in shown)
            if not is_wanted and (names is None or not is_elsewhere):
                continue
            if not self._found(folder, op, name) and is_wanted:
                raise MissingFile(
                    f"there is no {tensors.path_of(folder, name)}, from which servers would read parameter "
                    f"{name!r}: give a folder of this machine that fluid.io.save_persistables of what "
                    "trainers train wrote, with a file for each variable"
                )

    def _found(self, folder: Path, op: Operator, name: str) -> bool:
        """Whether the folder has a parameter; it is kept then."""
        if name in open_tables(self._program):
            own = tables.folder_of(folder, name)
            if own.is_dir():
                self.tables[name] = tables.load(own, self._program, name, partial(self._lives, name))
            return own.is_dir()
        values, steps = arrays_of(folder, op)
        if values and name in sparse_tables(self._program):
            self.tables[name] = rows_of(name, self._checked(name, values, folder), self._lives), steps
        elif values:
            self.arrays[name] = self._checked(name, values, folder), steps
        return bool(values)

    def _checked(self, name: str, values: Arrays, folder: Path) -> Arrays:
        wanted = tuple(self._program.global_block().var(name).shape)
        if values[""].shape != wanted:
            raise BadFile(
                f"{tensors.path_of(folder, name)} holds a shape of {list(values[''].shape)}, and parameter "
                f"{name!r} of the program is {list(wanted)}: it is of another model"
            )
        return values


def _stand_ins(names: Iterable[str]) -> list[Variable]:
    """Variables that a predicate may look at."""
    block = Program().global_block()
    return [block.create_var(name, persistable=True) for name in names]
