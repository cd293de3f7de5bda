"""Programs as they are written: Program, Block, Operator, Variable, and those that layers are appended to."""

from __future__ import annotations

from typing import Any

from paddle._program.block import Block
from paddle._program.dtypes import VarType, dtype_of
from paddle._program.guards import (
    default_main_program,
    default_startup_program,
    name_scope,
    program_guard,
    switch_main_program,
    switch_startup_program,
)
from paddle._program.operator import Operator
from paddle._program.program import Program
from paddle._program.variable import GRAD_SUFFIX, Parameter, Variable

__all__ = [
    "GRAD_SUFFIX",
    "Block",
    "Operator",
    "Parameter",
    "Program",
    "Variable",
    "convert_np_dtype_to_dtype_",
    "default_main_program",
    "default_startup_program",
    "get_var",
    "grad_var_name",
    "in_dygraph_mode",
    "name_scope",
    "program_guard",
    "switch_main_program",
    "switch_startup_program",
]


def convert_np_dtype_to_dtype_(np_dtype: Any) -> VarType:
    """The VarType of numpy's dtype."""
    return dtype_of(np_dtype)


def grad_var_name(var_name: str) -> str:
    """The name of a variable's gradient."""
    return var_name + GRAD_SUFFIX


def get_var(name: str, program: Program | None = None) -> Variable:
    """A variable of the program, the one being written by default."""
    return (program or default_main_program()).global_block().var(name)


def in_dygraph_mode() -> bool:
    """Whether operators run as they are written: never here."""
    return False
