"""Rows of comparisons and logic, which are declared as bool, and of choices by them."""

from __future__ import annotations

import numpy as np

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import hosts, lowers
from paddle._program.ops.arithmetic import as_float, number, pair
from paddle._program.running.host import Host


@lowers(
    "less_than", "less_equal", "greater_than", "greater_equal", "equal", "not_equal", axis=-1, force_cpu=False
)
def _compared(low: Lowering, op: Operator) -> None:
    x, y = pair(low, op)
    low.give(op, "Out", low.op(op.type, X=x, Y=y), dtype=VarType.BOOL)


@lowers("logical_and", "logical_or", "logical_xor")
def _logical(low: Lowering, op: Operator) -> None:
    x, y = pair(low, op)
    low.give(op, "Out", low.op(op.type, X=x, Y=y), dtype=VarType.BOOL)


@lowers("logical_not")
def _logical_not(low: Lowering, op: Operator) -> None:
    low.give(op, "Out", low.op("logical_not", X=low.input(op, "X").variable), dtype=VarType.BOOL)


_OF_EACH = {"isfinite": "is_finite", "isinf": "is_infinite", "isnan": "is_nan"}


def _examined(low: Lowering, op: Operator) -> EngineVariable:
    x = as_float(low, low.input(op, "X").variable)
    return low.op(_OF_EACH[op.type.removesuffix("_v2")], X=x)


@lowers("isfinite")
def _all_finite(low: Lowering, op: Operator) -> None:
    low.give(op, "Out", low.op("reduce_prod", X=_examined(low, op)), (), dtype=VarType.BOOL)


@lowers("isinf", "isnan")
def _any(low: Lowering, op: Operator) -> None:
    count = low.op("reduce_sum", X=_examined(low, op))
    is_so = low.op("greater_than", X=count, Y=number(low, 0, count))
    low.give(op, "Out", is_so, (), dtype=VarType.BOOL)


@lowers("isfinite_v2", "isinf_v2", "isnan_v2")
def _each(low: Lowering, op: Operator) -> None:
    low.give(op, "Out", _examined(low, op), dtype=VarType.BOOL)


@lowers("equal_all")
def _equal_all(low: Lowering, op: Operator) -> None:
    x, y = pair(low, op)
    low.give(op, "Out", low.op("reduce_prod", X=low.op("equal", X=x, Y=y)), (), dtype=VarType.BOOL)


@lowers("where")
def _where(low: Lowering, op: Operator) -> None:
    x, y = pair(low, op)
    condition = low.input(op, "Condition").variable
    low.give(op, "Out", low.op("select", Condition=condition, X=x, Y=y))


def _open_places(op: Operator) -> None:
    out = op.block._var_recursive(op.output("Out")[0])
    rank = len(op.block._var_recursive(op.input("Condition")[0]).shape)
    out.shape, out.dtype = (-1, rank), VarType.INT64


@hosts("where_index", infer=_open_places)
def _where_index(host: Host, op: Operator) -> None:
    """Where a condition is so: as many rows as values say."""
    host.give(op, "Out", np.argwhere(np.asarray(host.input(op, "Condition"))).astype(np.int64))
