"""Fluid's debugger: programs as text and as graphs.

It must never change what it shows. Guarantee: every variable that an operator of the block names, and every
operator, is a node of the graph.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from paddle._program.description.block import Block
from paddle._program.description.program import Program

__all__ = ["draw_block_graphviz", "pprint_block_codes", "pprint_program_codes"]


def pprint_program_codes(program: Program) -> str:
    """Print a line for each variable and operator of all blocks."""
    return "\n".join(pprint_block_codes(block) for block in program.blocks)


def pprint_block_codes(block: Block, show_backward: bool = False) -> str:
    """Print a line for each variable and operator of a block."""
    text = block.to_string(True, True)
    print(text)
    return text


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
