"""Models to compute with: a pruned program with ``feed`` and ``fetch`` operators, and its values.

A folder has ``__model__``, the program, and a file for each variable, or one for all.

It must never know a network. Guarantee: the original reads what is written here, and what it wrote is read;
the program has what the targets depend on and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from paddle._program.description import program_desc
from paddle._program.description.block import reads_of
from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable
from paddle._program.errors import BadArgument, BadFile, MissingFile
from paddle._program.files.intermediates import complete
from paddle._program.files.original_ops import as_the_original_writes
from paddle._program.files.variables import is_persistable, load_vars, program_of, save_vars
from paddle._program.files.whole import write_whole

MODEL = "__model__"
_FEED, _FETCH = "feed", "fetch"


def pruned(feeds: Sequence[str], targets: Sequence[Variable], program: Program) -> Program:
    """What is needed to compute ``targets`` from ``feeds``, as it behaves when nothing is trained."""
    bare = program.clone(for_test=True)
    block = bare.global_block()
    block.ops = [op for op in block.ops if op.type not in (_FEED, _FETCH)]
    return bare._prune_with_input(list(feeds), list(targets))


def with_feeds_and_fetches(program: Program, feeds: Sequence[str], targets: Sequence[str]) -> Program:
    """Add the operators that say in which order values come and go."""
    block = program.global_block()
    read = {name for op in block.ops for name in reads_of(op)} | set(targets)
    for name in feeds:
        if name not in read:
            raise BadArgument(
                f"save_inference_model: target_vars do not depend on {name!r} of "
                "feeded_var_names: leave it out"
            )
    for name, kind in ((_FEED, VarType.FEED_MINIBATCH), (_FETCH, VarType.FETCH_LIST)):
        block.create_var(name=name, type=kind, persistable=True)
    as_the_original_writes(program)
    complete(program)
    begin = [
        Operator(block, _FEED, {"X": [_FEED]}, {"Out": [name]}, {"col": at}) for at, name in enumerate(feeds)
    ]
    end = [
        Operator(block, _FETCH, {"X": [name]}, {"Out": [_FETCH]}, {"col": at})
        for at, name in enumerate(targets)
    ]
    block.ops = [*begin, *block.ops, *end]
    program._bump()
    return program


def feeds_of(program: Program) -> list[str]:
    """The names that its ``feed`` operators give, in order."""
    return [name for op in _columns(program, _FEED) for name in op.output("Out")]


def targets_of(program: Program) -> list[Variable]:
    """The variables that its ``fetch`` operators ask for, in order."""
    block = program.global_block()
    return [block._var_recursive(name) for op in _columns(program, _FETCH) for name in op.input("X")]


def _columns(program: Program, type: str) -> list[Operator]:
    found = [op for op in program.global_block().ops if op.type == type]
    return sorted(found, key=lambda op: int(op.attrs.get("col", 0)))


def save_inference_model(
    dirname: str,
    feeded_var_names: Sequence[str] | str,
    target_vars: Sequence[Variable] | Variable,
    executor: Any,
    main_program: Any = None,
    model_filename: str | None = None,
    params_filename: str | None = None,
    export_for_deployment: bool = True,
    program_only: bool = False,
) -> list[str]:
    """Write what computes ``target_vars`` from ``feeded_var_names``, and the values that it needs.

    Returns the names of the targets.
    """
    feeds = [feeded_var_names] if isinstance(feeded_var_names, str) else list(feeded_var_names or ())
    if not all(isinstance(name, str) for name in feeds):
        raise BadArgument("feeded_var_names are names of variables (str)")
    targets = [target_vars] if isinstance(target_vars, Variable) else list(target_vars)
    if not targets or not all(isinstance(each, Variable) for each in targets):
        raise BadArgument("target_vars are Variables, one or more")
    program = pruned(feeds, targets, program_of(main_program))
    names = [each.name for each in targets]
    with_feeds_and_fetches(program, feeds, names)
    data = program_desc.serialized(program)
    if not program_only:
        save_vars(
            executor, dirname, program, None, is_persistable, params_filename and Path(params_filename).name
        )
    path = Path(dirname) / (Path(model_filename).name if model_filename else MODEL)
    write_whole(path, lambda file: file.write(data))
    return names


def load_inference_model(
    dirname: str | None,
    executor: Any,
    model_filename: str | bytes | None = None,
    params_filename: str | bytes | None = None,
    pserver_endpoints: Sequence[str] | None = None,
) -> list[Any]:
    """Read a model: ``[program, names of its feeds, its targets]``; its values are in the scope then. Without
    a folder the file names are what the files hold."""
    if dirname is None:
        program = _of_bytes(model_filename, params_filename)
        load_vars(executor, None, program, None, is_persistable, params_filename)
        return [program, feeds_of(program), targets_of(program)]
    if not Path(dirname).is_dir():
        raise MissingFile(f"there is no folder {dirname!r} with an inference model")
    model, values = _name_of_file("model", model_filename), _name_of_file("params", params_filename)
    program = read_program(Path(dirname) / (model or MODEL))
    load_vars(executor, dirname, program, None, is_persistable, values)
    return [program, feeds_of(program), targets_of(program)]


def _of_bytes(model: Any, values: Any) -> Program:
    if not isinstance(model, bytes) or not isinstance(values, bytes):
        raise BadArgument(
            "load_inference_model without a folder: model_filename and params_filename are what the two "
            f"files hold, as bytes, and they are {type(model).__name__} and {type(values).__name__}"
        )
    try:
        return program_desc.parsed(model)
    except ValueError as error:
        raise BadFile(f"model_filename, as bytes: {error}") from None


def _name_of_file(which: str, given: str | bytes | None) -> str | None:
    if isinstance(given, bytes):
        raise BadArgument(
            f"load_inference_model: {which}_filename holds bytes, which go with dirname=None; in a folder it "
            "is the name of a file"
        )
    return Path(given).name if given else None


def read_program(path: Path) -> Program:
    """The program of a file."""
    try:
        return program_desc.parsed(path.read_bytes())
    except FileNotFoundError:
        raise MissingFile(f"there is no {path}, from which a program would be read") from None
    except ValueError as error:
        raise BadFile(f"{path}: {error}") from None
