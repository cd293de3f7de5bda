"""What a job leaves on disk: dense parameters a file each, as fluid has them; tables in files of the servers.

It must never know how values came about. Guarantee: what was saved before under a table's name is there until
the new one is whole.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from paddle._fleet import tables
from paddle._program.files.inference import save_inference_model as save_model
from paddle._program.files.variables import is_persistable, program_of, save_vars, value_of
from paddle._program.lowering import sparse_tables
from paddle._program.scope import global_scope


def save_persistables(executor: Any, dirname: str, main_program: Any, servers: int) -> None:
    """Write all that outlives a run. ``servers``: over how many a table is spread; 0: a file like others."""
    program = program_of(main_program)
    spread = sparse_tables(program) if servers else frozenset()
    save_vars(
        executor, dirname, program, predicate=lambda each: is_persistable(each) and each.name not in spread
    )
    _save_tables(dirname, program, spread, servers)


def save_inference_model(
    executor: Any, dirname: str, feeds: Any, targets: Any, main_program: Any, servers: int, **others: Any
) -> None:
    """Write a model that can be loaded anywhere, and its tables as servers load them."""
    save_model(dirname, feeds, targets, executor, main_program, **others)
    program = program_of(main_program)
    if servers:
        _save_tables(dirname, program, sparse_tables(program), servers)


def _save_tables(dirname: str, program: Any, spread: frozenset[str], servers: int) -> None:
    scope, block = global_scope(), program.global_block()
    for name in sorted(spread):
        rows = np.asarray(value_of(scope, block._var_recursive(name)).array())
        _replace(Path(dirname), name, rows, servers)


def _replace(folder: Path, name: str, rows: np.ndarray, servers: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    own = f"{name}_txt"
    with tempfile.TemporaryDirectory(prefix=".table-", dir=folder) as made:
        tables.write(made, name, rows, servers)
        if (folder / own).exists():
            (folder / own).rename(Path(made) / "before")
        shutil.move(Path(made) / own, folder / own)
