"""Variables of a program, saved from the scope and loaded into it: fluid's save_vars and load_vars families.

It must never know how a value came about. Guarantee: loading takes all that it was asked for or nothing; an
error names file, variable and shapes. The values are those of the scope that is current.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from paddle._engine.rows import TableRows
from paddle._program.description.dtypes import VarType
from paddle._program.description.guards import default_main_program
from paddle._program.description.program import Program
from paddle._program.description.variable import GRAD_SUFFIX, Parameter, Variable
from paddle._program.errors import BadArgument, BadFile, MissingFile, NotInitialized
from paddle._program.files import tables, tensors
from paddle._program.running.lod_tensor import LoDTensor
from paddle._program.running.open_table import table_of
from paddle._program.running.scope import Scope, global_scope

Predicate = Callable[[Variable], bool]
_NO_VALUES = frozenset({VarType.FEED_MINIBATCH, VarType.FETCH_LIST, VarType.READER, VarType.RAW})
_OF_ONE_RUN = (GRAD_SUFFIX, ".trainer_", ".block")


def is_parameter(variable: Variable) -> bool:
    """Whether optimizers move it."""
    return isinstance(variable, Parameter)


def is_persistable(variable: Variable) -> bool:
    """Whether it outlives a run and has a value that a file can hold."""
    return variable.persistable and variable.type not in _NO_VALUES


def is_checkpoint_variable(variable: Variable) -> bool:
    """Whether a checkpoint has it: gradients and slices of servers that a program declares are not in one."""
    return is_persistable(variable) and not any(part in variable.name for part in _OF_ONE_RUN)


def save_vars(
    executor: Any,
    dirname: str | None,
    main_program: Any = None,
    vars: Iterable[Variable | str] | None = None,
    predicate: Predicate | None = None,
    filename: str | None = None,
) -> bytes | None:
    """Write variables of a program, a file for each in a folder, or all in one file (``filename``) there.
    Without either nothing is written, and what the one file would hold is returned.

    ``vars``: which; else those that ``predicate`` says yes to, else all that outlive a run. A table without a
    height is a folder of its own in either case (tables.py).
    """
    program, scope = program_of(main_program), global_scope()
    open_ones, chosen = tables.parted(program, _chosen(program, vars, predicate))
    in_memory = dirname is None and filename is None and not open_ones
    folder = Path() if in_memory else _folder("save_vars", dirname)
    values = {variable.name: value_of(scope, variable) for variable in chosen}
    if in_memory:
        return tensors.bytes_of_several([values[name] for name in sorted(values)])
    save_tables(folder, program, scope, open_ones)
    if filename is None:
        for name, value in values.items():
            tensors.save_one(tensors.path_of(folder, name), value)
        folder.mkdir(parents=True, exist_ok=True)
    else:
        tensors.save_several(folder / filename, [values[name] for name in sorted(values)])
    return None


def load_vars(
    executor: Any,
    dirname: str | None,
    main_program: Any = None,
    vars: Iterable[Variable | str] | None = None,
    predicate: Predicate | None = None,
    filename: str | bytes | None = None,
) -> None:
    """Read into the scope what ``save_vars`` wrote, with the same arguments; or without a folder what it
    returned, as ``filename``. A server's program of a job keeps what it reads for the server: it begins with
    that (beginnings.py)."""
    program = program_of(main_program)
    if program._beginning is not None:
        _begin(program, dirname, vars, predicate or is_persistable, filename)
        return
    chosen = _chosen(program, vars, predicate)
    in_memory = dirname is None and isinstance(filename, bytes) and not tables.parted(program, chosen)[0]
    folder = Path() if in_memory else _folder("load_vars", dirname)
    keep_vars(global_scope(), folder, program, chosen, filename)


def keep_vars(
    scope: Scope, folder: Path, program: Program, chosen: Sequence[Variable], filename: str | bytes | None
) -> None:
    """Read these variables into a scope, of a folder, or of what its file would hold."""
    open_ones, chosen = tables.parted(program, chosen)
    rows = load_tables(folder, program, open_ones)
    wanted = {variable.name: tensors.shape_of(variable) for variable in chosen}
    if filename is None:
        found = {
            name: tensors.load_one(tensors.path_of(folder, name), name, shape)
            for name, shape in wanted.items()
        }
    elif isinstance(filename, bytes):
        found = tensors.load_bytes(filename, {name: wanted[name] for name in sorted(wanted)})
    else:
        found = tensors.load_several(folder / filename, {name: wanted[name] for name in sorted(wanted)})
    put(scope, found)
    for name, each in rows.items():
        tables.put(scope, name, each)


def save_params(
    executor: Any, dirname: str | None, main_program: Any = None, filename: str | None = None
) -> bytes | None:
    """Write all parameters; without a name of a folder or file their bytes are returned."""
    return save_vars(executor, dirname, main_program, None, is_parameter, filename)


def load_params(
    executor: Any, dirname: str | None, main_program: Any = None, filename: str | bytes | None = None
) -> None:
    """Read all parameters."""
    load_vars(executor, dirname, main_program, None, is_parameter, filename)


def save_persistables(
    executor: Any, dirname: str | None, main_program: Any = None, filename: str | None = None
) -> bytes | None:
    """Write all that outlives a run: parameters, what optimizers remember, counters; without a name of a
    folder or file their bytes are returned."""
    return save_vars(executor, dirname, main_program, None, is_persistable, filename)


def load_persistables(
    executor: Any, dirname: str | None, main_program: Any = None, filename: str | bytes | None = None
) -> None:
    """Read all that outlives a run."""
    load_vars(executor, dirname, main_program, None, is_persistable, filename)


def program_of(given: Any) -> Program:
    """The program that is meant: None is the default one; a compiled one is looked into."""
    found = default_main_program() if given is None else getattr(given, "_program", given)
    if not isinstance(found, Program):
        raise BadArgument(f"main_program is a Program, and not {given!r}")
    return found


def value_of(scope: Scope, variable: Variable) -> LoDTensor:
    """The value of a variable, with a shape that fits what the program says."""
    held = scope.find_var(variable.name)
    if held is None or not held.get_tensor()._is_initialized():
        raise NotInitialized(
            f"variable {variable.name!r} has no value in this scope and cannot be saved: run the startup "
            "program first, exe.run(default_startup_program()), or load it"
        )
    return held.get_tensor()


def put(scope: Scope, values: dict[str, LoDTensor]) -> None:
    """Set variables of a scope."""
    for name, value in values.items():
        tensor = scope.var(name).get_tensor()
        tensor.set(value.array())
        tensor.set_lod(value.lod())


def save_tables(folder: Path, program: Program, scope: Scope, names: Sequence[str]) -> None:
    """Write open tables, a folder each; none where one is not there."""
    for name in names:
        if table_of(scope, name) is None:
            raise NotInitialized(
                f"table {name!r} is not begun in this scope and cannot be saved: run the startup program "
                "first, exe.run(default_startup_program()), or load it"
            )
    for name in names:
        tables.save(folder, program, scope, name)


def load_tables(folder: Path, program: Program, names: Sequence[str]) -> dict[str, TableRows]:
    """The rows of open tables that such folders have."""
    folders = {name: tables.folder_of(folder, name) for name in names}
    for name, own in folders.items():
        if not own.is_dir():
            raise MissingFile(
                f"there is no folder {own}, from which the rows of table {name!r} would be read"
            )
    return {name: tables.load(own, program, name)[0] for name, own in folders.items()}


def _begin(
    program: Program,
    dirname: str | None,
    vars: Iterable[Variable | str] | None,
    predicate: Predicate,
    filename: str | bytes | None,
) -> None:
    if filename is not None:
        raise BadFile(
            "a parameter server begins with files of their own for each variable, as fluid.io."
            f"save_persistables(exe, dirname, program) writes them, and not with one file ({filename!r})"
        )
    several = [vars] if isinstance(vars, Variable | str) else vars
    names = None if several is None else frozenset(getattr(each, "name", each) for each in several)
    program._beginning.load(_folder("load_vars", dirname), program, names, predicate)


def _folder(who: str, dirname: Any) -> Path:
    if not isinstance(dirname, str | Path) or not str(dirname):
        raise BadFile(f"{who} needs the name of a folder, and dirname is {dirname!r}")
    return Path(dirname)


def _chosen(
    program: Program, vars: Iterable[Variable | str] | None, predicate: Predicate | None
) -> Sequence[Variable]:
    if vars is not None:
        several = [vars] if isinstance(vars, Variable | str) else list(vars)
        block = program.global_block()
        named = [block._var_recursive(each) if isinstance(each, str) else each for each in several]
        return list({each.name: each for each in named if each.type is not VarType.RAW}.values())
    chosen = filter(predicate or is_persistable, program.list_vars())
    return list({each.name: each for each in chosen if each.type not in _NO_VALUES}.values())
