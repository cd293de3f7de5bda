"""Fluid's files: values and programs, in the original's layouts; and the readers that ``fluid.io`` also has.

It must never write a file itself (``_program.files`` does). Guarantee: each name is the very object of the
module that it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from paddle import reader
from paddle._program.description.program import Program
from paddle._program.description.variable import Parameter, Variable
from paddle._program.files.checkpoints import (
    clean_checkpoint,
    get_latest_checkpoint_serial,
    load_checkpoint,
    load_persist_vars_without_grad,
    load_trainer_args,
    save_checkpoint,
    save_persist_vars_without_grad,
)
from paddle._program.files.inference import (
    append_fetch_ops,
    load_inference_model,
    prepend_feed_ops,
    pruned,
    save_inference_model,
)
from paddle._program.files.state import load, load_program_state, save, set_program_state
from paddle._program.files.variables import (
    is_parameter,
    is_persistable,
    load_params,
    load_persistables,
    load_vars,
    program_of,
    save_params,
    save_persistables,
    save_vars,
    value_of,
)
from paddle._program.running.scope import global_scope
from paddle.batch import batch

buffered, cache, chain, compose = reader.buffered, reader.cache, reader.chain, reader.compose
firstn, map_readers, shuffle, xmap_readers = (
    reader.firstn,
    reader.map_readers,
    reader.shuffle,
    reader.xmap_readers,
)
multiprocess_reader, ComposeNotAligned = reader.multiprocess_reader, reader.ComposeNotAligned

_OF_READER = frozenset({"DataLoader", "PyReader", "default_collate_fn", "default_convert_fn"})

__all__ = [
    "ComposeNotAligned",
    "append_fetch_ops",
    "batch",
    "buffered",
    "cache",
    "chain",
    "clean_checkpoint",
    "compose",
    "firstn",
    "get_inference_program",
    "get_latest_checkpoint_serial",
    "get_parameter_value",
    "get_parameter_value_by_name",
    "get_program_parameter",
    "get_program_persistable_vars",
    "is_belong_to_optimizer",
    "is_parameter",
    "is_persistable",
    "load",
    "load_checkpoint",
    "load_inference_model",
    "load_params",
    "load_persist_vars_without_grad",
    "load_persistables",
    "load_program_state",
    "load_trainer_args",
    "load_vars",
    "map_readers",
    "multiprocess_reader",
    "prepend_feed_ops",
    "save",
    "save_checkpoint",
    "save_inference_model",
    "save_params",
    "save_persist_vars_without_grad",
    "save_persistables",
    "save_vars",
    "set_program_state",
    "shuffle",
    "xmap_readers",
]


def get_inference_program(target_vars: Any, main_program: Program | None = None) -> Program:
    """What is needed to compute variables, as it behaves when nothing is trained.

    An evaluator stands for its measures and what they are computed from.
    """
    several = target_vars if isinstance(target_vars, list | tuple) else [target_vars]
    found: list[Variable] = []
    for each in several:
        found += [*each.states, *each.metrics] if hasattr(each, "metrics") else [each]
    return pruned([], found, program_of(main_program))


def get_parameter_value(para: Variable, executor: Any) -> Any:
    """The value of a parameter, as an array of its own."""
    return value_of(global_scope(), para).array().copy()


def get_parameter_value_by_name(name: str, executor: Any, program: Program | None = None) -> Any:
    """The same, by its name in a program."""
    return get_parameter_value(program_of(program).global_block().var(name), executor)


def get_program_parameter(program: Program) -> list[Variable]:
    """Its parameters."""
    return [variable for variable in program.list_vars() if is_parameter(variable)]


def get_program_persistable_vars(program: Program) -> Sequence[Variable]:
    """What outlives a run of it."""
    return [variable for variable in program.list_vars() if is_persistable(variable)]


def is_belong_to_optimizer(var: Variable) -> bool:
    """Whether a variable outlives a run and is no parameter, as what optimizers remember."""
    return not (isinstance(var, Parameter) or var.need_check_feed) and is_persistable(var)


def __getattr__(name: str) -> Any:
    if name in _OF_READER:
        return getattr(import_module("paddle.fluid").reader, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
