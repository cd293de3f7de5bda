"""Tables of a folder, as servers begin from them.

It must never know who trains. Guarantee: a table is read by however many servers it was written; a server has
in memory the rows that live there, and no others. Rows that a file lacks keep the values that they have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from paddle._engine.rows import TableRows
from paddle._fleet.errors import FleetError
from paddle._program.files import beginnings, tables
from paddle._program.lowering.lowering import sparse_tables
from paddle._program.lowering.updates import UPDATES

Tables = Mapping[str, tuple[TableRows, int]]
Arrays = Mapping[str, np.ndarray]
Lives = Callable[[str, np.ndarray], np.ndarray]
_ENDING = tables.folder_of(Path(), "").name


def read(dirname: str, names: Any, program: Any, lives: Lives) -> Tables:
    """All tables of a folder that ``program`` has, or those of ``names``: of each the rows that live here,
    and after how many steps they are. ``lives``: says of a table and ids which do."""
    folder = Path(dirname)
    if not folder.is_dir():
        raise FleetError(
            f"fleet was to begin from {dirname!r}: there is no such folder here. Give one that "
            "fleet.save_persistables wrote, on this machine."
        )
    found = {
        path.name.removesuffix(_ENDING): path for path in sorted(folder.glob(f"*{_ENDING}")) if path.is_dir()
    }
    has = program.global_block().has_var
    wanted = (
        list(filter(has, found))
        if names is None
        else [getattr(name, "name", name) for name in _listed(names)]
    )
    for name in wanted:
        if name not in found:
            raise FleetError(
                f"fleet was to begin from {dirname!r}: there is no table {name!r} in it; there are "
                f"{', '.join(found) or 'none'}."
            )
        if not has(name):
            raise FleetError(f"fleet was to begin from {dirname!r}: the program has no table {name!r}.")
    return {name: tables.load(found[name], program, name, partial(lives, name)) for name in wanted}


def read_arrays(
    dirname: str, program: Any, known: Mapping[str, Any], lives: Lives
) -> tuple[dict[str, tuple[Arrays, int]], dict[str, tuple[TableRows, int]]]:
    """What a folder has of a program's parameters in files of their own, and after how many steps it is: of
    those that are arrays, and the rows that live here of those that are tables. ``known``: those that need
    not be there."""
    folder, block, sparse = Path(dirname), program.global_block(), sparse_tables(program)
    arrays: dict[str, tuple[Arrays, int]] = {}
    rows: dict[str, tuple[TableRows, int]] = {}
    for op in (op for op in block.ops if op.type in UPDATES):
        name = op.input("Param")[0]
        if name in known:
            continue
        values, steps = beginnings.arrays_of(folder, op)
        if not values:
            raise FleetError(
                f"fleet was to begin from {dirname!r}: there is no parameter {name!r} in it. Give a folder "
                "that fleet.save_persistables or fluid.io.save_persistables of this program wrote, on this "
                "machine"
            )
        if name in sparse:
            rows[name] = beginnings.rows_of(name, values, lives), steps
        else:
            arrays[name] = values, steps
    return arrays, rows


def _listed(names: Any) -> Sequence[Any]:
    return list(names) if isinstance(names, list | tuple | set | frozenset) else [names]
