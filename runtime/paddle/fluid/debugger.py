"""Fluid's debugger: programs as text and as graphs.

It must never change what it shows. Guarantee: every variable that an operator of the block names, and every
operator, is a node of the graph; what belongs to gradients is left out of text where nobody asked for it.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from paddle._program.description.block import Block
from paddle._program.description.dtypes import dtype_of
from paddle._program.description.operator import Operator
from paddle._program.description.program import Program
from paddle._program.description.variable import GRAD_SUFFIX, Variable
from paddle.fluid._listed import lacking

__all__ = [
    "draw_block_graphviz",
    "pprint_block_codes",
    "pprint_program_codes",
    "repr_data_type",
    "repr_op",
    "repr_var",
]


def pprint_program_codes(program: Program) -> str:
    """A line for each variable and operator of all blocks, those of gradients left out, for ``print``."""
    return "\n".join(pprint_block_codes(block) for block in program.blocks)


def pprint_block_codes(block: Block, show_backward: bool = False) -> str:
    """A line for each variable and operator of a block; ``show_backward``: of gradients too."""
    variables = [each for each in block.vars.values() if show_backward or GRAD_SUFFIX not in each.name]
    operators = [each for each in block.ops if show_backward or not _is_backward(each)]
    lines = [f"    {repr_var(each)}" for each in variables] + [f"    {repr_op(each)}" for each in operators]
    return "\n".join([f"{{ // block {block.idx}, in block {block.parent_idx}", *lines, "}"])


def _is_backward(op: Operator) -> bool:
    return any(GRAD_SUFFIX in name for name in (*op.input_arg_names, *op.output_arg_names))


def repr_var(var: Variable) -> str:
    """A variable in a line."""
    return var.to_string(with_details=True)


def repr_op(op: Operator) -> str:
    """An operator in a line."""
    return op.to_string()


def repr_data_type(type: int) -> str:
    """The name of a dtype, by its number or any of its names."""
    return dtype_of(type).name


def draw_block_graphviz(
    block: Block, highlights: Collection[str] | None = None, path: str = "./temp.dot"
) -> None:
    """Write a block as a graph in Graphviz's language: operators are boxes, variables ellipses."""
    names = dict.fromkeys(n for op in block.ops for n in (*op.input_arg_names, *op.output_arg_names))
    numbers = {name: f"var_{at}" for at, name in enumerate(names)}
    marked = set(highlights or ())
    lines = ["digraph G {", "  rankdir = TB;"]
    for name, node in numbers.items():
        colour = "orange" if name in marked else "lightyellow"
        lines.append(f'  {node} [label="{_quoted(name)}", shape=ellipse, style=filled, fillcolor={colour}];')
    for at, op in enumerate(block.ops):
        lines.append(f'  op_{at} [label="{_quoted(op.type)}", shape=box, style=filled, fillcolor=lightblue];')
        lines += [f"  {numbers[name]} -> op_{at};" for name in op.input_arg_names]
        lines += [f"  op_{at} -> {numbers[name]};" for name in op.output_arg_names]
    Path(path).write_text("\n".join([*lines, "}"]) + "\n")


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


__getattr__ = lacking(__name__)
