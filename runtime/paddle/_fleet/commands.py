"""Jobs whose servers are commands, ``paddle pserver``, as ``python paddle.py`` starts them: no process of the
program is a server there, so what servers begin from worker 0 gives them.

It must never know a connection. Guarantee: what a folder has of a table or an array is in the scope, with
what is remembered of it, as if it had been learned there; rows that a file lacks keep their values.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from paddle._engine.rows import TableRows
from paddle._fleet.place import Place
from paddle._fleet.tables import Arrays
from paddle._launch.environ import shared_ports
from paddle._program import calls
from paddle._program.description.open_tables import open_tables
from paddle._program.files import tables
from paddle._program.lowering.updates import UPDATES, columns_of, powers_of
from paddle._program.running.scope import Scope


def are_commands(place: Place) -> bool:
    """Whether the servers of this process's job are."""
    return shared_ports(os.environ, place.servers) is not None


def give(
    scope: Scope,
    program: Any,
    rows: Mapping[str, tuple[TableRows, int]],
    arrays: Mapping[str, tuple[Arrays, int]],
) -> None:
    """Put them into a scope in which the startup program has run."""
    open_ones = open_tables(program)
    for op in (op for op in program.global_block().ops if op.type in UPDATES):
        (name,) = op.input("Param")
        shown = {"": name, **{of: op.input(slot)[0] for slot, of in columns_of(op).items()}}
        steps = 0
        if name in rows:
            found, steps = rows[name]
            if name in open_ones:
                tables.put(scope, name, found)
            else:
                columns = {"": found.values, **found.slots}
                _set(scope, {shown[kind]: each for kind, each in columns.items() if kind in shown}, found.ids)
        elif name in arrays:
            values, steps = arrays[name]
            _set(scope, {shown[kind]: each for kind, each in values.items() if kind in shown}, ...)
        powers = {op.input(slot)[0]: number for slot, number in powers_of(op).items()} if steps else {}
        _set(scope, {power: np.full(1, number ** (steps + 1)) for power, number in powers.items()}, ...)


def warn_of_servers_part() -> None:
    """Tell of a program that says what its servers begin from where no process of this job comes."""
    if found := calls.in_main("init_server", is_told=True):
        what, instead = "fleet.init_server(folder)", "call it"
    elif found := calls.loaded_by_servers():
        what, instead = "what its servers load", "call fleet.init_server(folder)"
    else:
        return
    warnings.warn(
        f"{found}: {what} is not run in this job, whose servers are `paddle pserver`s and no process of this "
        f"program. To begin from the folder, have workers {instead}, too, before fleet.init_worker(): worker "
        "0 gives the servers what it has",
        stacklevel=4,
    )


def _set(scope: Scope, values: Mapping[str, np.ndarray], where: Any) -> None:
    for name, each in values.items():
        held = scope.find_var(name)
        if held is not None and held.is_initialized():
            array = held.get_tensor().array().copy()
            array[where] = each.reshape(array[where].shape)
            held.get_tensor().set(array)
