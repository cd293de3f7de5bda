"""What a job leaves on disk: dense parameters a file each, as fluid has them; tables in files of the servers.

It must never know how values came about. Guarantee: as tables.py of the programs' files.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from paddle._program.files import links, tables
from paddle._program.files.inference import MODEL
from paddle._program.files.inference import save_inference_model as save_model
from paddle._program.files.variables import is_persistable, program_of, save_vars
from paddle._program.lowering.lowering import sparse_tables
from paddle._program.running.scope import global_scope, scope_guard

_PLUGIN = "dnn_plugin"


def save_persistables(executor: Any, dirname: str, main_program: Any, servers: int) -> None:
    """Write all that outlives a run. ``servers``: over how many a table is spread; 0: a file like others."""
    program = program_of(main_program)
    spread = sparse_tables(program) if servers else frozenset()
    apart = spread | tables.remembered(program, spread)
    save_vars(
        executor, dirname, program, predicate=lambda each: is_persistable(each) and each.name not in apart
    )
    _save_tables(dirname, program, spread, servers)


def save_inference_model(
    executor: Any, dirname: str, feeds: Any, targets: Any, main_program: Any, servers: int, **others: Any
) -> None:
    """Write a model that can be loaded anywhere, and its tables as servers load them. From 2.2 on programs
    look for the former in a folder of its own, ``dnn_plugin``, before that in ``dirname``: it is in both."""
    save_model(dirname, feeds, targets, executor, main_program, **others)
    program = program_of(main_program)
    if servers:
        plugin = Path(dirname) / _PLUGIN
        _save_tables(dirname, program, sparse_tables(program), servers, plugin)
        _show_in(plugin, {MODEL, *(each.name for each in program.list_vars())})


def _show_in(folder: Path, names: Iterable[str]) -> None:
    """Have the files of these names that lie beside a folder in it, too."""
    for name in names:
        if (own := folder.parent / name).is_file():
            links.show(own, folder / name)


def _save_tables(
    dirname: str, program: Any, spread: frozenset[str], servers: int, also: Path | None = None
) -> None:
    for name in sorted(spread):
        tables.save(Path(dirname), program, global_scope(), name, servers, also)


def save_one(dirname: str, program: Any, table: str | None, servers: int) -> None:
    """Write one table, as ``save_persistables`` does; None: all dense parameters."""
    if table is None:
        dense = _dense(program)
        save_vars(None, dirname, program, predicate=lambda each: each.name in dense)
    elif servers:
        _save_tables(dirname, program, frozenset({table}), servers)
    else:
        save_vars(None, dirname, program, predicate=lambda each: each.name == table)


def save_dense(executor: Any, path: str, scope: Any, program: Any, names: Any) -> None:
    """Write dense parameters, all or those of ``names``, into one file."""
    dense = _dense(program) if names is None else {getattr(each, "name", each) for each in names}
    own = Path(path)
    with scope_guard(global_scope() if scope is None else scope):
        save_vars(
            executor, str(own.parent), program, predicate=lambda each: each.name in dense, filename=own.name
        )


def warn_of_nothing_loaded(what: str, dirname: str | None) -> None:
    """Tell who loads for a cluster, and is alone."""
    if dirname:
        warnings.warn(
            f"fleet.{what}({str(dirname)!r}): there is no cluster, so nothing is loaded by it. One "
            "process loads all by paddle.static.load_vars or fluid.io.load_persistables",
            stacklevel=4,
        )


def warn_of_all(what: str, mode: int, level: int) -> None:
    """Tell who asked for a part of the rows."""
    warnings.warn(
        f"fleet.{what}: mode={mode} is as mode=0 here, of all rows. The original's leaves out such as have "
        "not changed or are seldom seen",
        stacklevel=level,
    )


def warn_of_nobody_served() -> None:
    """Tell who would serve, and is alone: it goes on, as upstream's does."""
    warnings.warn(
        "fleet.run_server(): there is no cluster, so this process is a worker (fleet.is_server()) and serves "
        "nobody. A server is told by TRAINING_ROLE=PSERVER and PADDLE_PSERVERS_IP_PORT_LIST, or by fleetrun",
        stacklevel=3,
    )


def _dense(program: Any) -> set[str]:
    return {each.name for each in program.all_parameters()} - sparse_tables(program)
