"""Programs as text, and their operators by what they read and write. It must never run a program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from paddle._program.description.block import Block
from paddle._program.description.operator import Operator
from paddle._program.description.program import Program
from paddle._program.description.variable import Variable

__all__ = [
    "block_to_code",
    "delete_ops",
    "find_op_by_input_arg",
    "find_op_by_output_arg",
    "op_to_code",
    "program_to_code",
    "variable_to_code",
]


def program_to_code(prog: Program, fout: Any = None, skip_op_callstack: bool = True) -> None:
    """Print the blocks of a program, a line for each variable and operator, or write them into an open file.
    No operator has a call stack, whether it is to be left out or not."""
    for block in prog.blocks:
        block_to_code(block, block.idx, fout)


def block_to_code(block: Block, block_idx: int, fout: Any = None, skip_op_callstack: bool = False) -> None:
    """The same of one block; its number is its own, whatever is given."""
    print(str(block), file=fout, flush=True)


def op_to_code(op: Operator, skip_op_callstack: bool = True) -> str:
    """The line of an operator."""
    return str(op)


def variable_to_code(var: Variable) -> str:
    """The line of a variable."""
    return var._in_line()


def delete_ops(block: Block, ops: Iterable[Operator]) -> None:
    """Take operators out of a block."""
    for op in list(ops):
        block._remove_op(next(place for place, each in enumerate(block.ops) if each is op))


def find_op_by_input_arg(block: Block, arg_name: str) -> int:
    """The place of the first operator that reads a variable; -1 where there is none."""
    return next((place for place, op in enumerate(block.ops) if arg_name in op.input_arg_names), -1)


def find_op_by_output_arg(block: Block, arg_name: str, reverse: bool = False) -> int:
    """The place of the first operator that writes a variable, or of the last (``reverse``); -1 for none."""
    places = [place for place, op in enumerate(block.ops) if arg_name in op.output_arg_names]
    return (places[-1] if reverse else places[0]) if places else -1
