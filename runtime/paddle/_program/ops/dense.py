"""Rows of the operators that a plain regression is made of."""

from __future__ import annotations

from math import prod

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.operator import Operator
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.sizes import in_shape


@lowers("mul", x_num_col_dims=1, y_num_col_dims=1)
def _mul(low: Lowering, op: Operator) -> None:
    x, y = low.input(op, "X"), low.input(op, "Y")
    rows, columns = op.attr("x_num_col_dims"), op.attr("y_num_col_dims")
    second = matrix(low, y.variable, columns, prod(y.variable.shape[columns:]))
    out = low.op("mul", X=matrix(low, x.variable, rows, second.shape[0]), Y=second)
    if rows != 1 or columns + 1 != len(y.variable.shape):
        shape = (*x.variable.shape[:rows], *y.variable.shape[columns:])
        out = in_shape(low, out, shape, x.variable)
    low.give(op, "Out", out)


def matrix(low: Lowering, variable: EngineVariable, rows: int, width: int) -> EngineVariable:
    """A variable as a matrix, whose rows are its first axes. ``width``: its columns, where its own sizes do
    not say how many these are."""
    if rows == 1 and len(variable.shape) == 2:
        return variable
    first, second = variable.shape[:rows], variable.shape[rows:]
    shape = (-1 if min(first) < 0 else prod(first), width if -1 in second else prod(second))
    return low.op("reshape", {"shape": shape}, X=variable)


@lowers("mean")
def _mean(low: Lowering, op: Operator) -> None:
    low.give(op, "Out", low.op("mean", X=low.input(op, "X").variable), ())


@lowers("sum")
def _sum(low: Lowering, op: Operator) -> None:
    parts = [each.variable for each in low.inputs(op, "X")]
    low.give(op, "Out", parts[0] if len(parts) == 1 else low.op("sum", X=parts))


@lowers("assign", "rnn_memory_helper")  # the latter: what a step of a StaticRNN gives, in models of 1.8
def _assign(low: Lowering, op: Operator) -> None:
    given = low.input(op, "X")
    low.give(op, "Out", given.variable, given.runs)
