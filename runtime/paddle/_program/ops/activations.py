"""Rows of functions of one array, element by element, and of those over one axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log
from typing import Any

from paddle._engine.program import Variable as EngineVariable
from paddle._program.description.dtypes import VarType
from paddle._program.description.operator import Operator
from paddle._program.errors import BadProgram
from paddle._program.lowering.lowering import Lowering
from paddle._program.lowering.op_rows import lowers
from paddle._program.ops.arithmetic import as_float, number
from paddle._program.ops.layouts import is_last

_ENGINES: Mapping[str, Mapping[str, Any]] = {
    "abs": {},
    "acos": {},
    "asin": {},
    "atan": {},
    "brelu": {"t_min": 0.0, "t_max": 24.0},
    "ceil": {},
    "cos": {},
    "cosh": {},
    "elu": {"alpha": 1.0},
    "erf": {},
    "exp": {},
    "floor": {},
    "gelu": {"approximate": False},
    "hard_shrink": {"threshold": 0.5},
    "hard_sigmoid": {"slope": 0.2, "offset": 0.5},
    "hard_swish": {"threshold": 6.0, "scale": 6.0, "offset": 3.0},
    "leaky_relu": {"alpha": 0.02},
    "log": {},
    "log1p": {},
    "logsigmoid": {},
    "mish": {"threshold": 20.0},
    "pow": {"factor": 1.0},
    "reciprocal": {},
    "relu": {},
    "relu6": {"threshold": 6.0},
    "round": {},
    "rsqrt": {},
    "selu": {"scale": 1.0507009873554805, "alpha": 1.6732632423543772},
    "sigmoid": {},
    "sign": {},
    "sin": {},
    "sinh": {},
    "soft_relu": {"threshold": 40.0},
    "softshrink": {"lambda": 0.5},
    "softsign": {},
    "sqrt": {},
    "square": {},
    "stanh": {"scale_a": 0.67, "scale_b": 1.7159},
    "swish": {"beta": 1.0},
    "tan": {},
    "tanh": {},
    "tanh_shrink": {},
    "thresholded_relu": {"threshold": 1.0},
}
"""Operators that the engine has under the same name, and their attributes."""
_WHOLE = frozenset({"abs", "pow", "square"})
"""Those that compute with whole numbers. Others compute with floats, and of these ``exp`` and ``sign`` give
whole numbers of whole ones, without what is behind the point, as the original's do."""


def _same(attrs: Mapping[str, Any]) -> Callable[[Lowering, Operator], None]:
    def lower(low: Lowering, op: Operator) -> None:
        told, x = {name: op.attr(name) for name in attrs}, low.input(op, "X").variable
        is_whole = x.dtype == "int64" and low.described(op, "X").dtype != VarType.BOOL
        if low.has(op, "FactorTensor"):
            power = as_float(low, low.input(op, "FactorTensor").variable)
            out = low.op("elementwise_pow", X=as_float(low, x), Y=power)
            low.give(op, "Out", low.op("cast", {"dtype": "int64"}, X=out) if is_whole else out)
            return
        if is_whole and op.type == "pow":
            told["factor"] = int(told["factor"])
        if is_whole and op.type in _WHOLE and told.get("factor", 0) >= 0:
            low.give(op, "Out", low.op(op.type, told, X=x))
            return
        out = low.op(op.type, told, X=as_float(low, x))
        if is_whole and op.type in (*_WHOLE, "exp", "sign"):
            out = low.op("cast", {"dtype": "int64"}, X=out)
        low.give(op, "Out", out)

    return lower


for _type, _attrs in _ENGINES.items():
    lowers(_type, **_attrs)(_same(_attrs))


@lowers("silu")
def _silu(low: Lowering, op: Operator) -> None:
    low.give(op, "Out", low.op("swish", {"beta": 1.0}, X=low.input(op, "X").variable))


@lowers("softplus", beta=1.0, threshold=20.0)
def _softplus(low: Lowering, op: Operator) -> None:
    """log(1 + exp(beta * x)) / beta, and x where beta * x is above the threshold: from 20 on they are the
    same float32."""
    x, beta, threshold = as_float(low, low.input(op, "X").variable), op.attr("beta"), op.attr("threshold")
    inner = x if beta == 1 else low.op("scale", {"scale": float(beta)}, X=x)
    out = low.op("softplus", X=inner)
    if threshold < 20:
        is_far = low.op("greater_than", X=inner, Y=number(low, threshold, inner))
        share = as_float(low, is_far)
        lacking = low.op("elementwise_mul", X=low.op("elementwise_sub", X=inner, Y=out), Y=share)
        out = low.op("elementwise_add", X=out, Y=lacking)
    low.give(op, "Out", out if beta == 1 else low.op("scale", {"scale": 1 / beta}, X=out))


@lowers("log2", "log10")
def _log_of(low: Lowering, op: Operator) -> None:
    base = 2.0 if op.type == "log2" else 10.0
    found = low.op("log", X=as_float(low, low.input(op, "X").variable))
    low.give(op, "Out", low.op("scale", {"scale": 1 / log(base)}, X=found))


@lowers("softmax", "log_softmax", axis=-1, use_cudnn=False)
def _softmax(low: Lowering, op: Operator) -> None:
    x = low.input(op, "X").variable
    low.give(op, "Out", over_last(low, x, op.attr("axis"), lambda each: low.op(op.type, X=each)))


def over_last(
    low: Lowering, x: EngineVariable, axis: int, apply: Callable[[EngineVariable], EngineVariable]
) -> EngineVariable:
    """``apply``, which works along the last axis, along another one."""
    rank = len(x.shape)
    if not rank:  # one number has a line of its own
        return low.op("reshape", {"shape": ()}, X=apply(low.op("reshape", {"shape": (1,)}, X=x)))
    if axis % rank == rank - 1:
        return apply(x)
    order = [each for each in range(rank) if each != axis % rank] + [axis % rank]
    turned = apply(low.op("transpose", {"axis": tuple(order)}, X=x))
    return low.op("transpose", {"axis": tuple(order.index(each) for each in range(rank))}, X=turned)


@lowers("maxout", groups=1, axis=1)
def _maxout(low: Lowering, op: Operator) -> None:
    """The greatest of neighbours along the first axis behind the samples, or the last."""
    x, axis = low.input(op, "X").variable, int(op.attr("axis"))
    rank = len(x.shape)
    order = (0, axis % rank, *(each for each in range(1, rank) if each != axis % rank))
    turned = x if order == tuple(range(rank)) else low.op("transpose", {"axis": order}, X=x)
    out = low.op("maxout", {"groups": op.attr("groups")}, X=turned)
    if turned is not x:
        out = low.op("transpose", {"axis": tuple(order.index(each) for each in range(rank))}, X=out)
    low.give(op, "Out", out)


@lowers("prelu", mode="all", data_format="NCHW")
def _prelu(low: Lowering, op: Operator) -> None:
    """relu(x) - alpha * relu(-x); alpha is one number, or one of each channel or element."""
    x, alpha, mode = low.input(op, "X").variable, low.input(op, "Alpha").variable, op.attr("mode")
    if mode not in ("all", "channel", "element"):
        raise BadProgram(f"operator 'prelu': mode is 'all', 'channel' or 'element', not {mode!r}")
    if mode == "channel":
        last = is_last(op, "data_format")
        shape = (-1,) if last else (-1, *(1,) * (len(x.shape) - 2))
        alpha = low.op("reshape", {"shape": shape}, X=alpha)
    if mode == "element":
        alpha = low.op("reshape", {"shape": (1, *x.shape[1:])}, X=alpha)
    below = low.op("relu", X=low.op("scale", {"scale": -1.0}, X=x))
    bent = low.op("elementwise_mul", X=below, Y=alpha)
    low.give(op, "Out", low.op("elementwise_sub", X=low.op("relu", X=x), Y=bent))
