"""Rows of arithmetic: of two arrays that are broadcast, of matrices, running sums, bounds."""

from __future__ import annotations

import numpy as np

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.dtypes import VarType, numpy_dtype
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.dense import matrix
from paddle._program.ops.sizes import in_shape

_OF_TWO = ("add", "sub", "mul", "div", "max", "min", "pow", "mod", "floordiv")


@lowers(*(f"elementwise_{name}" for name in _OF_TWO), axis=-1)
def _elementwise(low: Lowering, op: Operator) -> None:
    x, y = pair(low, op)
    if x.kind == "rows" and op.type == "elementwise_mul":  # of a table, by one number
        low.give(op, "Out", low.op("scale_by", X=x, Y=y))
        return
    low.give(op, "Out", low.op(op.type, X=x, Y=y))


@lowers("minus")
def _minus(low: Lowering, op: Operator) -> None:
    x, y = pair(low, op)
    low.give(op, "Out", low.op("elementwise_sub", X=x, Y=y))


def pair(low: Lowering, op: Operator) -> tuple[EngineVariable, EngineVariable]:
    """X and Y, of one dtype, Y shaped so that it is broadcast along X from attribute ``axis`` on."""
    x, y = low.input(op, "X").variable, low.input(op, "Y").variable
    if x.dtype != y.dtype:
        x, y = (as_float(low, each) for each in (x, y))
    return x, beside(low, x, y, op.attrs.get("axis", -1))


def beside(low: Lowering, x: EngineVariable, y: EngineVariable, axis: int) -> EngineVariable:
    """``y`` with axes of size 1 behind, so that it lies along ``x`` from ``axis`` on."""
    trailing = 0 if axis == -1 else len(x.shape) - axis - len(y.shape)
    if trailing <= 0:
        return y
    rank = len(y.shape)
    return low.op("unsqueeze", {"axes": tuple(range(rank, rank + trailing))}, X=y)


def as_float(low: Lowering, x: EngineVariable) -> EngineVariable:
    """An array of floating numbers."""
    return x if x.dtype == "float32" else low.op("cast", {"dtype": "float32"}, X=x)


def number(low: Lowering, value: float, like: EngineVariable) -> EngineVariable:
    """One number, of the dtype of another array, which keeps its shape beside it."""
    told = value if like.dtype == "float32" else int(value)
    return low.op("fill_constant", {"shape": (1,) if like.shape else (), "value": told, "dtype": like.dtype})


def along(low: Lowering, x: EngineVariable, scale: float, bias: float = 0.0) -> EngineVariable:
    """scale * x + bias, of integers too."""
    if x.dtype == "float32":
        return low.op("scale", {"scale": float(scale), "bias": float(bias)}, X=x)
    if int(scale) != 1:
        x = low.op("elementwise_mul", X=x, Y=number(low, scale, x))
    return low.op("elementwise_add", X=x, Y=number(low, bias, x)) if int(bias) else x


@lowers("scale", scale=1.0, bias=0.0, bias_after_scale=True)
def _scale(low: Lowering, op: Operator) -> None:
    x, scale, bias = low.input(op, "X").variable, op.attr("scale"), op.attr("bias")
    if low.has(op, "ScaleTensor"):
        factor, after = low.input(op, "ScaleTensor").variable, op.attr("bias_after_scale")
        x = x if after else along(low, x, 1.0, bias)
        factor = low.op("cast", {"dtype": x.dtype}, X=factor) if factor.dtype != x.dtype else factor
        times = low.op("elementwise_mul", X=x, Y=factor)
        low.give(op, "Out", along(low, times, 1.0, bias) if after else times)
        return
    shifted = bias if op.attr("bias_after_scale") else scale * bias
    low.give(op, "Out", along(low, x, scale, shifted))


@lowers("increment", step=1.0)
def _increment(low: Lowering, op: Operator) -> None:
    low.give(op, "Out", along(low, low.input(op, "X").variable, 1.0, op.attr("step")))


@lowers("matmul", transpose_X=False, transpose_Y=False, alpha=1.0)
def _matmul(low: Lowering, op: Operator) -> None:
    low.give(op, "Out", product(low, op, op.attr("transpose_X"), op.attr("transpose_Y"), op.attr("alpha")))


@lowers("matmul_v2", trans_x=False, trans_y=False)
def _matmul_v2(low: Lowering, op: Operator) -> None:
    low.give(op, "Out", product(low, op, op.attr("trans_x"), op.attr("trans_y"), 1.0))


@lowers("bmm", "mm")
def _bmm(low: Lowering, op: Operator) -> None:
    low.give(op, "Out", product(low, op, False, False, 1.0))


def product(low: Lowering, op: Operator, turn_x: bool, turn_y: bool, alpha: float) -> EngineVariable:
    """The product of matrices; a vector before is a row, and one behind a column."""
    x, y = low.input(op, "X").variable, low.input(op, "Y").variable
    dropped = []
    if len(x.shape) == 1:
        x, turn_x = low.op("unsqueeze", {"axes": (0,)}, X=x), False
        dropped.append(-2)
    if len(y.shape) == 1:
        y, turn_y = low.op("unsqueeze", {"axes": (1,)}, X=y), False
        dropped.append(-1)
    attrs = {"transpose_X": bool(turn_x), "transpose_Y": bool(turn_y), "alpha": float(alpha)}
    whole = x
    if len(x.shape) > len(y.shape) == 2 and not turn_x:  # one product is faster than one for each of x's
        x = matrix(low, x, len(x.shape) - 1, y.shape[turn_y])
    plain = len(x.shape) == len(y.shape) == 2 and not turn_x and not turn_y and alpha == 1.0
    out = low.op("mul", X=x, Y=y) if plain else low.op("matmul", attrs, X=x, Y=y)
    if x is not whole:
        out = in_shape(low, out, (*whole.shape[:-1], out.shape[1]), whole)
    return low.op("squeeze", {"axes": tuple(dropped)}, X=out) if dropped else out


@lowers("bilinear_tensor_product")
def _bilinear(low: Lowering, op: Operator) -> None:
    """Of each row and each k: x W_k y, and a bias."""
    x, y, weight = (low.input(op, slot).variable for slot in ("X", "Y", "Weight"))
    count, height, width = weight.shape
    pairs = low.op("flatten", {"start": 1, "stop": 3}, X=low.op("outer_product", X=x, Y=y))
    flat = low.op("reshape", {"shape": (count, height * width)}, X=weight)
    out = low.op("matmul", {"transpose_Y": True}, X=pairs, Y=flat)
    if low.has(op, "Bias"):
        out = low.op("elementwise_add", X=out, Y=low.input(op, "Bias").variable)
    low.give(op, "Out", out)


@lowers("get_tensor_from_selected_rows", "merge_selected_rows")
def _as_it_is(low: Lowering, op: Operator) -> None:
    """Rows of gradients are added up by who reads them."""
    low.give(op, "Out", low.input(op, "X").variable)


@lowers("size")
def _size(low: Lowering, op: Operator) -> None:
    sizes = low.op("shape", X=low.input(op, "Input").variable)
    low.give(op, "Out", low.op("reduce_prod", X=sizes), (), dtype=VarType.INT64)


@lowers("dot")
def _dot(low: Lowering, op: Operator) -> None:
    x, y = pair(low, op)
    both = low.op("elementwise_mul", X=x, Y=y)
    low.give(op, "Out", low.op("reduce_sum", {"dim": -1, "keep_dim": len(both.shape) > 1}, X=both))


@lowers("cumsum", axis=-1, exclusive=False, reverse=False, flatten=False)
def _cumsum(low: Lowering, op: Operator) -> None:
    x, axis = low.input(op, "X").variable, op.attr("axis")
    if op.attr("flatten"):
        x, axis = low.op("reshape", {"shape": (-1,)}, X=x), 0
    attrs = {"axis": axis, "exclusive": bool(op.attr("exclusive")), "reverse": bool(op.attr("reverse"))}
    low.give(op, "Out", low.op("cumsum", attrs, X=x))


_UNBOUNDED = {"min": float("-inf"), "max": float("inf")}


@lowers("clip", min=float("-inf"), max=float("inf"))
def _clip(low: Lowering, op: Operator) -> None:
    x, bounds = low.input(op, "X").variable, {"min": float(op.attr("min")), "max": float(op.attr("max"))}
    place, dtype = f"operator 'clip' (written at {op.where})", low.described(op, "X").dtype
    if dtype == VarType.BOOL:
        raise BadProgram(f"{place} takes numbers, and {op.input('X')[0]!r} is bool: cast it to int32 first")
    for slot, side, type in (("Min", "min", "elementwise_max"), ("Max", "max", "elementwise_min")):
        if low.has(op, slot):  # it is computed, and counts in the number's place
            x, bounds[side] = low.op(type, X=x, Y=low.input(op, slot).variable), _UNBOUNDED[side]
    if bounds == _UNBOUNDED:
        low.give(op, "Out", x)
        return
    if bounds["min"] > bounds["max"]:
        raise BadProgram(f"{place}: min {bounds['min']:g} is above max {bounds['max']:g}")
    if x.dtype == "float32":
        low.give(op, "Out", low.op("clip" if x.kind == "dense" else "clip_by_value", bounds, X=x))
        return
    limits = np.iinfo(numpy_dtype(dtype))
    for type, bound in (("elementwise_max", bounds["min"]), ("elementwise_min", bounds["max"])):
        if abs(bound) != float("inf"):  # in float32 an id above 2**24 would be another one
            x = low.op(type, X=x, Y=number(low, min(max(int(bound), limits.min), limits.max), x))
    low.give(op, "Out", x)


@lowers("clip_by_norm", max_norm=1.0)
def _clip_by_norm(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    squares = low.op("squared_l2_norm", X=x)
    low.give(
        op, "Out", low.op("clip_by_norm", {"max_norm": float(op.attr("max_norm"))}, X=x, Squares=squares)
    )


@lowers("squared_l2_norm")
def _squared_l2_norm(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    if x.kind == "rows":
        low.give(op, "Out", low.op("squared_l2_norm", X=x), ())
        return
    low.give(op, "Out", low.op("reduce_sum", X=low.op("square", X=x)), ())
