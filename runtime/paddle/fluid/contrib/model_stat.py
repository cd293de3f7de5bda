"""What a network costs, operator by operator: how many numbers it learns, and how often it multiplies or
compares for one sample.

It must never run a program. Guarantee: what is told apart is what 1.8.5 tells apart; all other operators are
left out.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from paddle._program.description.operator import Operator
from paddle._program.description.program import Program
from paddle._program.errors import BadArgument

__all__ = ["summary"]

Sizes = Callable[[str], tuple[int, ...]]
_HEADS = ("No.", "TYPE", "INPUT", "OUTPUT", "PARAMs", "FLOPs")


def summary(main_prog: Program) -> None:
    """Print a row for each convolution, fc, pooling, batch norm and activation, and their sums."""
    if not isinstance(main_prog, Program):
        raise BadArgument(f"summary takes a Program, and not {main_prog!r}")
    rows = []
    for block in main_prog.blocks:
        for op in block.ops:
            if (counts := _COUNTS.get(op.type)) and (found := counts(op, _of(op))):
                given, made, learned, flops = found
                rows.append((str(len(rows)), op.type, str(given[1:]), str(made[1:]), learned, flops))
    learned, flops = (sum(row[place] for row in rows) for place in (4, 5))
    print(_table([_HEADS, *(tuple(map(str, row)) for row in rows)]))
    print(f"Total PARAMs: {learned}({learned / 10**6:.4f}M)")
    print(f"Total FLOPs: {flops}({flops / 10**9:.2f}G)")
    print(f"Counted are {', '.join(_COUNTS)}; mul where it is of fc.")


def _of(op: Operator) -> Sizes:
    return lambda slot: tuple(op.block._var_recursive((op.inputs | op.outputs)[slot][0]).shape)


Counts = tuple[tuple[int, ...], tuple[int, ...], int, int]


def _convolution(op: Operator, sizes: Sizes) -> Counts:
    given, kernel, made = sizes("Input"), sizes("Filter"), sizes("Output")
    learned = prod(kernel) + (kernel[0] if op.input("Bias") else 0)
    return given, made, learned, 2 * prod(made[2:]) * learned


def _pooling(op: Operator, sizes: Sizes) -> Counts:
    made = sizes("Out")
    return sizes("X"), made, 0, prod(made[1:]) * prod(op.attr("ksize"))


def _product(op: Operator, sizes: Sizes) -> Counts | None:
    if "fc" not in op.output("Out")[0]:
        return None
    weights = prod(sizes("Y"))
    return sizes("X"), sizes("Out"), weights + 1, weights


def _activation(op: Operator, sizes: Sizes) -> Counts:
    given = sizes("X")
    return given, sizes("Out"), int(op.type == "prelu"), prod(given[1:])


def _norm(op: Operator, sizes: Sizes) -> Counts:
    given = sizes("X")
    return given, sizes("Y"), 2 * given[1], 2 * prod(given[1:])


_COUNTS: dict[str, Callable[[Operator, Sizes], Counts | None]] = {
    **dict.fromkeys(("conv2d", "depthwise_conv2d"), _convolution),
    "pool2d": _pooling,
    "mul": _product,
    "batch_norm": _norm,
    **dict.fromkeys(("sigmoid", "tanh", "relu", "leaky_relu", "prelu"), _activation),
}


def _table(rows: list[tuple[str, ...]]) -> str:
    """Rows under the first one, in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    line = "+".join(["", *("-" * (width + 2) for width in widths), ""])
    head, *rest = (
        "|".join(["", *(f" {text:>{width}} " for text, width in zip(row, widths, strict=True)), ""])
        for row in rows
    )
    return "\n".join([line, head, line, *rest, line])
