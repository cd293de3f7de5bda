"""Models to compute with: a pruned program with ``feed`` and ``fetch`` operators, and its values.

A folder has ``__model__``, the program, and a file for each variable, or one for all.

It must never know a network. Guarantee: the original reads what is written here, and what it wrote is read;
the program has what the targets depend on and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from paddle._program.description import program_desc
from paddle._program.description.block import Block, reads_of
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


def model_of(
    feeds: Sequence[str], targets: Sequence[Variable], program: Program, whole: bool = False
) -> tuple[Program, list[str]]:
    """What computes ``targets`` from ``feeds``, or the ``whole`` of a program, with the operators that say in
    which order values come and go; and the names of what goes."""
    bare = program.clone(for_test=True) if whole else pruned(feeds, targets, program)
    block = bare.global_block()
    read = {name for op in block.ops for name in reads_of(op)} | {each.name for each in targets}
    for name in feeds:
        if name not in read:
            raise BadArgument(
                f"what the model gives, {_said(targets)}, does not depend on {name!r}: leave it out"
            )
    names = [_renamed(block, block._var_recursive(each.name), at) for at, each in enumerate(targets)]
    as_the_original_writes(bare)
    complete(bare)
    prepend_feed_ops(bare, feeds)
    append_fetch_ops(bare, names)
    return bare, names


def _said(targets: Sequence[Variable]) -> str:
    return ", ".join(repr(each.name) for each in targets) or "nothing"


def _renamed(block: Block, target: Variable, at: int) -> str:
    """The name by which who serves a model asks for what it computes: the original multiplies this by 1, and
    so gives it a name that no layer has."""
    if target.dtype == VarType.BOOL or target.type != VarType.LOD_TENSOR:
        return target.name
    names = (f"save_infer_model/scale_{at}.tmp_{number}" for number in count())
    name = next(each for each in names if each == target.name or not block.has_var(each))
    if name != target.name:
        shape = target.shape if target.has_shape else None
        traits = {"shape": shape, "dtype": target.dtype, "lod_level": target.lod_level}
        block.create_var(name, **traits)
        attrs = {"scale": 1.0, "bias": 0.0, "bias_after_scale": True}
        block.append_op("scale", {"X": [target.name]}, {"Out": [name]}, attrs)
    return name


def prepend_feed_ops(
    inference_program: Program, feed_target_names: Sequence[str], feed_holder_name: str = _FEED
) -> None:
    """Add the operators that say in which order values come. A run is told them by name, and passes over
    these."""
    block, holder = inference_program.global_block(), feed_holder_name
    block.create_var(name=holder, type=VarType.FEED_MINIBATCH, persistable=True)
    names = enumerate(feed_target_names)
    made = [Operator(block, _FEED, {"X": [holder]}, {"Out": [name]}, {"col": at}) for at, name in names]
    block.ops = [*made, *block.ops]
    inference_program._bump()


def append_fetch_ops(
    inference_program: Program, fetch_target_names: Sequence[str], fetch_holder_name: str = _FETCH
) -> None:
    """Add the operators that say in which order values go. A run is told them by name, and passes over
    these."""
    block, holder = inference_program.global_block(), fetch_holder_name
    block.create_var(name=holder, type=VarType.FETCH_LIST, persistable=True)
    names = enumerate(fetch_target_names)
    made = [Operator(block, _FETCH, {"X": [name]}, {"Out": [holder]}, {"col": at}) for at, name in names]
    block.ops = [*block.ops, *made]
    inference_program._bump()


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
    """Write what computes ``target_vars`` from ``feeded_var_names``, and the values that it needs. Without
    ``export_for_deployment`` the whole program and all that it keeps, the former as ``NAME.main_program``;
    there may be no ``target_vars`` then.

    Returns the names of the targets.
    """
    feeds = [feeded_var_names] if isinstance(feeded_var_names, str) else list(feeded_var_names or ())
    if not all(isinstance(name, str) for name in feeds):
        raise BadArgument("feeded_var_names are names of variables (str)")
    targets = [target_vars] if isinstance(target_vars, Variable) else list(target_vars or ())
    if not all(isinstance(each, Variable) for each in targets) or (export_for_deployment and not targets):
        raise BadArgument("target_vars are Variables, one or more")
    program, names, ending = program_of(main_program), [each.name for each in targets], ".main_program"
    if export_for_deployment:
        program, names = model_of(feeds, targets, program)
        ending = ""
    data = program_desc.serialized(program)
    if not program_only:
        save_vars(
            executor, dirname, program, None, is_persistable, params_filename and Path(params_filename).name
        )
    path = Path(dirname) / ((Path(model_filename).name if model_filename else MODEL) + ending)
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
