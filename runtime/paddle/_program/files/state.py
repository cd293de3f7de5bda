"""State of a program: ``fluid.save`` and ``fluid.load``, and states as dictionaries of arrays.

``PATH.pdparams`` has the parameters, ``PATH.pdopt`` what else outlives a run, ``PATH.pdmodel`` the program.
Tables without a height, which are no arrays, are below ``PATH.pdtables``, a folder each (tables.py).

It must never know a network. Guarantee: loading sets all that a program has, or nothing; what a file says of
other variables is passed over with a warning that names them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from paddle._program.description import program_desc
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument, BadFile, MissingFile, check_known
from paddle._program.files import pickles, tables, tensors
from paddle._program.files.variables import (
    is_parameter,
    is_persistable,
    load_tables,
    put,
    save_tables,
    value_of,
)
from paddle._program.files.whole import write_whole
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.scope import Scope, global_scope

PARAMETERS, OTHERS, MODEL, TABLES = ".pdparams", ".pdopt", ".pdmodel", ".pdtables"


def save(program: Program, model_path: str, protocol: int = 2, **configs: Any) -> None:
    """Write ``model_path`` with three endings: parameters, what else outlives a run, and the program; with a
    fourth the tables without a height, if there are any."""
    check_known("save", configs, "pickle_protocol use_binary_format")
    path = _base(model_path)
    scope = global_scope()
    open_ones, kept = tables.parted(program, list(filter(is_persistable, program.list_vars())))
    save_tables(_with(path, TABLES), program, scope, open_ones)
    for ending, several in (
        (PARAMETERS, [each for each in kept if is_parameter(each)]),
        (OTHERS, [each for each in kept if not is_parameter(each)]),
    ):
        values = {each.name: np.asarray(value_of(scope, each)) for each in several}
        pickles.save(_with(path, ending), values, protocol)
    data = program_desc.serialized(program)
    write_whole(_with(path, MODEL), lambda file: file.write(data))


def load(
    program: Program, model_path: str, executor: Any = None, var_list: Sequence[Variable] | None = None
) -> None:
    """Set what a program keeps to what ``save`` wrote, or ``save_persistables`` in a folder of that name.
    ``var_list``: which variables are in the latter; of what ``save`` wrote all is set, as upstream."""
    path = _base(model_path)
    open_ones, kept = tables.parted(program, list(filter(is_persistable, program.list_vars())))
    has_state = _with(path, PARAMETERS).exists()
    var_list = None if has_state else var_list
    wanted = {each.name for each in var_list or (*kept, *map(program.global_block().var, open_ones))}
    folder, chosen = _with(path, TABLES) if has_state else path, [n for n in open_ones if n in wanted]
    rows = load_tables(folder, program, chosen)
    if has_state:
        set_program_state(program, _state_of(path, kept))
    else:
        put(global_scope(), _of_files(path, tables.parted(program, var_list or kept)[1]))
    for name, each in rows.items():
        tables.put(global_scope(), name, each)


def _state_of(path: Path, kept: Sequence[Variable]) -> dict[str, Any]:
    """All that ``save`` wrote of these variables."""
    parameters = [each for each in kept if is_parameter(each)]
    state = pickles.load(_with(path, PARAMETERS))
    _check_all(_with(path, PARAMETERS), parameters, state)
    others = [each for each in kept if not is_parameter(each)]
    if others:
        remembered = pickles.load(_with(path, OTHERS))
        _check_all(_with(path, OTHERS), others, remembered)
        state = {**state, **remembered}
    return state


def load_program_state(
    model_path: str, var_list: Iterable[Variable | str] | None = None
) -> dict[str, np.ndarray]:
    """Values by their names: what ``save`` wrote, a folder of files, or, with ``var_list``, one file. Tables
    without a height are no arrays, and passed over with a warning that names them."""
    path = _base(model_path)
    _tell_of_tables(_with(path, TABLES) if _with(path, PARAMETERS).exists() else path)
    if _with(path, PARAMETERS).exists():
        state = pickles.load(_with(path, PARAMETERS))
        if _with(path, OTHERS).exists():
            state |= pickles.load(_with(path, OTHERS))
        return state
    if path.is_dir():
        names = [_name(each) for each in var_list] if var_list else _files(path)
        found = {name: tensors.load_one(tensors.path_of(path, name), name) for name in names}
    elif path.is_file():
        if var_list is None:
            raise BadArgument(f"{path} is one file: var_list says which variables are in it")
        found = tensors.load_several(path, dict.fromkeys(sorted(_name(each) for each in var_list)))
    else:
        raise MissingFile(f"there is neither {_with(path, PARAMETERS)} nor a folder or file {path}")
    return {name: np.array(tensor) for name, tensor in found.items()}


def state_of_program(program: Program, mode: str = "all", scope: Scope | None = None) -> dict[str, LoDTensor]:
    """What a program keeps in a scope, by its names: ``mode``: all, param (parameters) or opt (the rest)."""
    if mode not in ("all", "param", "opt"):
        raise BadArgument(f"Program.state_dict: mode is 'all', 'param' or 'opt', not {mode!r}")
    held = global_scope() if scope is None else scope
    found = {}
    for each in filter(is_persistable, program.list_vars()):
        if mode == "all" or is_parameter(each) == (mode == "param"):
            found[each.name] = value_of(held, each)
    return found


def set_program_state(program: Program, state_dict: Mapping[str, Any], scope: Scope | None = None) -> None:
    """Set what a program keeps to values by their names. Raises BadFile where a shape does not fit."""
    scope = global_scope() if scope is None else scope
    kept = {variable.name: variable for variable in program.list_vars() if is_persistable(variable)}
    values: dict[str, LoDTensor] = {}
    for name, given in state_dict.items():
        if name not in kept:
            continue
        shape = tensors.shape_of(kept[name])
        array = tensors.with_axis(np.asarray(given), shape)
        if shape is not None and not tensors.fits(array.shape, shape):
            raise BadFile(
                f"variable {name!r} has the shape {list(shape)} in the program, and {list(array.shape)} in "
                "the state that is to be set"
            )
        held = scope.find_var(name)
        if held is not None and held.get_tensor()._is_initialized():
            array = array.astype(np.asarray(held.get_tensor()).dtype, copy=False)
        values[name] = LoDTensor(array)
    put(scope, values)
    unused = sorted(set(state_dict) - set(values))
    if unused:
        warnings.warn(f"variables {unused} of the state are not in the program, and not set", stacklevel=2)


def _of_files(path: Path, several: Sequence[Variable]) -> dict[str, LoDTensor]:
    wanted = {each.name: tensors.shape_of(each) for each in several}
    if path.is_dir():
        return {n: tensors.load_one(tensors.path_of(path, n), n, shape) for n, shape in wanted.items()}
    if path.is_file():
        return tensors.load_several(path, {name: wanted[name] for name in sorted(wanted)})
    raise MissingFile(f"there is neither {_with(path, PARAMETERS)} nor a folder or file {path}")


def _check_all(path: Path, several: Sequence[Variable], state: Mapping[str, Any]) -> None:
    missing = [each.name for each in several if each.name not in state]
    if missing:
        raise BadFile(f"{path} lacks {', '.join(map(repr, missing[:5]))}, which the program keeps")


def _base(model_path: Any) -> Path:
    path = Path(model_path)
    if not path.name:
        raise BadArgument(
            f"model_path ends in the first part of file names, and {str(model_path)!r} does not"
        )
    endings = (PARAMETERS, OTHERS, MODEL)
    return path.with_suffix("") if path.suffix in endings else path


def _with(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _name(given: Variable | str) -> str:
    return given if isinstance(given, str) else given.name


def _files(folder: Path) -> list[str]:
    inside = [file for own in tables.folders_in(folder) for file in own.iterdir()]
    found = sorted(path for path in folder.rglob("*") if path.is_file() and path not in inside)
    return [name for each in found if (name := each.relative_to(folder).as_posix()) != "__model__"]


def _tell_of_tables(folder: Path) -> None:
    if found := [own.name for own in tables.folders_in(folder)]:
        warnings.warn(
            f"{folder} has tables ({', '.join(found)}), whose rows are not arrays of a state: fluid.load and "
            "load_persistables take them into a program",
            stacklevel=3,
        )
