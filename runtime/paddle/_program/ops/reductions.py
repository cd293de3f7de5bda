"""Rows of sums, means, products and extremes over axes, and of norms."""

from __future__ import annotations

from typing import Any

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.arithmetic import as_float, number

_AXES: dict[str, Any] = {"dim": (0,), "keep_dim": False, "reduce_all": False}


def _told(op: Operator, x: EngineVariable) -> dict[str, Any]:
    """The engine's attributes: no axes mean all."""
    dim = op.attr("dim")
    dims = tuple(dim) if isinstance(dim, list | tuple) else (dim,)
    whole = op.attr("reduce_all") or not dims or len(dims) == len(x.shape)
    return {"dim": None if whole else dims, "keep_dim": bool(op.attr("keep_dim"))}


@lowers("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", **_AXES)
def _reduce(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    if op.type == "reduce_mean":
        x = as_float(low, x)
    _give(low, op, low.op(op.type, _told(op, x), X=x))


def _give(low: Lowering, op: Operator, out: EngineVariable, dtype: VarType | None = None) -> None:
    """What keeps the rows of its input keeps its sequences."""
    x = low.input(op, "X").variable
    low.give(op, "Out", out, () if _takes_rows(op, x) else None, dtype=dtype)


def _takes_rows(op: Operator, x: EngineVariable) -> bool:
    dims = _told(op, x)["dim"]
    return dims is None or any(each % len(x.shape) == 0 for each in dims)


@lowers("reduce_all", "reduce_any", **_AXES)
def _of_truths(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    truths, told = low.op("not_equal", X=x, Y=number(low, 0, x)), _told(op, x)
    if op.type == "reduce_all":  # of nothing it is true
        _give(low, op, low.op("reduce_prod", told, X=truths), VarType.BOOL)
        return
    count = low.op("reduce_sum", told, X=truths)
    _give(low, op, low.op("greater_than", X=count, Y=number(low, 0, count)), VarType.BOOL)


@lowers("logsumexp", axis=(0,), keepdim=False, reduce_all=False)
def _logsumexp(low: Lowering, op: Operator) -> None:
    x, axis = low.input(op, "X").variable, op.attr("axis")
    dims = tuple(axis) if isinstance(axis, list | tuple) else (axis,)
    dim = None if op.attr("reduce_all") or not dims else dims
    greatest = low.op("reduce_max", {"dim": dim, "keep_dim": True}, X=x)
    shares = low.op("exp", X=low.op("elementwise_sub", X=x, Y=greatest))
    logs = low.op("log", X=low.op("reduce_sum", {"dim": dim, "keep_dim": True}, X=shares))
    out = low.op("elementwise_add", X=logs, Y=greatest)
    if not op.attr("keepdim"):
        out = low.op("squeeze", {"axes": dims if dim else ()}, X=out)
    low.give(op, "Out", out, ())


@lowers("norm", axis=-1, epsilon=1e-10)
def _norm(low: Lowering, op: Operator) -> None:
    """Out has length 1 along an axis; Norm is the length it had."""
    x, axis = low.input(op, "X").variable, op.attr("axis")
    squares = low.op("reduce_sum", {"dim": axis, "keep_dim": True}, X=low.op("square", X=x))
    lengths = low.op("sqrt", X=low.op("scale", {"bias": float(op.attr("epsilon"))}, X=squares))
    low.give(op, "Norm", lengths)
    low.give(op, "Out", low.op("elementwise_div", X=x, Y=lengths))


@lowers("l1_norm")
def _l1_norm(low: Lowering, op: Operator) -> None:
    low.give(op, "Out", low.op("reduce_sum", X=low.op("abs", X=low.input(op, "X").variable)), ())


@lowers("frobenius_norm", **_AXES)
def _frobenius_norm(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    _give(low, op, low.op("sqrt", X=low.op("reduce_sum", _told(op, x), X=low.op("square", X=x))))


@lowers("p_norm", porder=2.0, axis=-1, epsilon=1e-12, keepdim=False, asvector=False)
def _p_norm(low: Lowering, op: Operator) -> None:
    x, order = low.input(op, "X").variable, float(op.attr("porder"))
    told = {"dim": None if op.attr("asvector") else op.attr("axis"), "keep_dim": bool(op.attr("keepdim"))}
    if order == 0:
        low.give(op, "Out", low.op("reduce_sum", told, X=_is_there(low, x)))
        return
    sizes = low.op("abs", X=x)
    if order in (float("inf"), float("-inf")):
        low.give(op, "Out", low.op("reduce_max" if order > 0 else "reduce_min", told, X=sizes))
        return
    total = low.op("reduce_sum", told, X=low.op("pow", {"factor": order}, X=sizes))
    low.give(op, "Out", low.op("pow", {"factor": 1 / order}, X=total))


def _is_there(low: Lowering, x: EngineVariable) -> EngineVariable:
    """1 where an element is not 0, of which NaN is one; its slope is 0."""
    ones = low.op("fill_any_like", {"value": 1.0}, X=x)
    signs = low.op("abs", X=low.op("sign", X=x))
    return low.op("select", Condition=low.op("is_nan", X=x), X=ones, Y=signs)


@lowers("squared_l2_distance")
def _squared_l2_distance(low: Lowering, op: Operator) -> None:
    x, y = low.input(op, "X").variable, low.input(op, "Y").variable
    apart = low.op("elementwise_sub", X=x, Y=y)
    low.give(op, "sub_result", apart)
    low.give(op, "Out", low.op("reduce_sum", {"dim": 1, "keep_dim": True}, X=low.op("square", X=apart)))
