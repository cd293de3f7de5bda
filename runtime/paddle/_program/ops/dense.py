"""Rows of the operators that a plain regression is made of."""

from __future__ import annotations

from math import prod

from paddle._engine.program import Variable as EngineVariable
from paddle._program.lowering import Lowering
from paddle._program.op_rows import lowers
from paddle._program.operator import Operator


@lowers("mul", x_num_col_dims=1, y_num_col_dims=1)
def _mul(low: Lowering, op: Operator) -> None:
    x, y = low.input(op, "X"), low.input(op, "Y")
    rows, columns = op.attr("x_num_col_dims"), op.attr("y_num_col_dims")
    out = low.op("mul", X=matrix(low, x.variable, rows), Y=matrix(low, y.variable, columns))
    if rows != 1 or columns + 1 != len(y.variable.shape):
        shape = (*x.variable.shape[:rows], *y.variable.shape[columns:])
        out = low.op("reshape", {"shape": tuple(-1 if size < 0 else size for size in shape)}, X=out)
    low.give(op, "Out", out)


def matrix(low: Lowering, variable: EngineVariable, rows: int) -> EngineVariable:
    """A variable as a matrix, whose rows are its first axes."""
    if rows == 1 and len(variable.shape) == 2:
        return variable
    first, second = variable.shape[:rows], variable.shape[rows:]
    shape = (-1 if min(first) < 0 else prod(first), prod(second))
    return low.op("reshape", {"shape": shape}, X=variable)


@lowers("elementwise_add", axis=-1)
def _elementwise_add(low: Lowering, op: Operator) -> None:
    x, y = low.input(op, "X").variable, low.input(op, "Y").variable
    low.give(op, "Out", low.op("elementwise_add", X=x, Y=beside(low, x, y, op.attr("axis"))))


def beside(low: Lowering, x: EngineVariable, y: EngineVariable, axis: int) -> EngineVariable:
    """``y`` shaped so that it is broadcast along ``x`` from ``axis`` on, as fluid does."""
    rank = len(x.shape)
    trailing = rank - (rank - len(y.shape) if axis == -1 else axis) - len(y.shape)
    if trailing <= 0:
        return y
    return low.op("reshape", {"shape": (*y.shape, *(1,) * trailing)}, X=y)


@lowers("mean")
def _mean(low: Lowering, op: Operator) -> None:
    low.give(op, "Out", low.op("mean", X=low.input(op, "X").variable), ())


@lowers("square_error_cost")
def _square_error_cost(low: Lowering, op: Operator) -> None:
    x, label = low.input(op, "X").variable, low.input(op, "Y").variable
    low.give(op, "Out", low.op("square_error_cost", {"per_sample": False}, X=x, Label=label))


@lowers("scale", scale=1.0, bias=0.0, bias_after_scale=True)
def _scale(low: Lowering, op: Operator) -> None:
    scale, bias = op.attr("scale"), op.attr("bias")
    attrs = {"scale": scale, "bias": bias if op.attr("bias_after_scale") else scale * bias}
    low.give(op, "Out", low.op("scale", attrs, X=low.input(op, "X").variable))


@lowers("sum")
def _sum(low: Lowering, op: Operator) -> None:
    parts = [each.variable for each in low.inputs(op, "X")]
    low.give(op, "Out", parts[0] if len(parts) == 1 else low.op("sum", X=parts))


@lowers("assign")
def _assign(low: Lowering, op: Operator) -> None:
    given = low.input(op, "X")
    low.give(op, "Out", given.variable, given.runs)
